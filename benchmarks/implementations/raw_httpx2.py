"""Bare HTTP: what no client can be faster than. Nothing is validated or retried."""

from __future__ import annotations

import json
import sys

import httpx2
from worker import serve

URL = sys.argv[1]
limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
client = httpx2.Client(timeout=120, limits=limits)
HEADERS = {"authorization": "Bearer none"}
ASKED = [{"role": "user", "content": 'Describe "Oslo".'}]
TOOL = {"type": "function", "function": {"name": "temperature", "parameters": {"type": "object"}}}


def post(path: str, messages: list[dict[str, object]], **more: object) -> dict[str, object]:
    response = client.post(
        f"{URL}/{path}/v1/chat/completions",
        json={"model": "fake", "messages": messages, **more},
        headers=HEADERS,
    )
    return response.json()["choices"][0]["message"]


def text() -> object:
    return post("text", ASKED)["content"]


def result() -> dict[str, object]:
    return post("object", [{"role": "user", "content": "Describe Ada."}])


def object_() -> object:
    return json.loads(result()["content"])


def tools() -> object:
    messages = [{"role": "user", "content": "How is Oslo? Use temperature."}]
    while True:
        message = post("tools", messages, tools=[TOOL])
        if not message.get("tool_calls"):
            return message["content"]
        messages.append(message)
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "3.5"})


def late() -> object:
    return post("late", ASKED)["content"]


assert text() == tools() == "Oslo is cold and bright."
assert object_()["age"] == 36
serve({"text": text, "object": object_, "tools": tools, "late": late, "result": result})
