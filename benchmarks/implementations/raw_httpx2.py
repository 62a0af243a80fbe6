"""Bare HTTP: what no client can be faster than. Nothing is validated or retried."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import httpx2
from worker import serve

URL = sys.argv[1]
limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
client = httpx2.Client(timeout=120, limits=limits)
awaiting: httpx2.AsyncClient | None = None
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


async def awaited() -> object:
    global awaiting
    awaiting = awaiting or httpx2.AsyncClient(timeout=120, limits=limits)
    response = await awaiting.post(
        f"{URL}/late/v1/chat/completions",
        json={"model": "fake", "messages": ASKED},
        headers=HEADERS,
    )
    return response.json()["choices"][0]["message"]["content"]


def streamed(path: str) -> Iterator[str]:
    url = f"{URL}/{path}/v1/chat/completions"
    asked = {"model": "fake", "messages": ASKED, "stream": True}
    with client.stream("POST", url, json=asked, headers=HEADERS) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                piece = json.loads(line[6:])["choices"][0]["delta"].get("content")
                if piece:
                    yield piece


def stream() -> float:
    lag = None
    for piece in streamed("stream"):
        lag = lag or (time.monotonic_ns() - int(piece)) / 1e9
    return lag


def pieces() -> int:
    return sum(1 for _ in streamed("pieces"))


assert pieces() == 1000
assert text() == tools() == "Oslo is cold and bright."
assert object_()["age"] == 36
cases = {"text": text, "object": object_, "tools": tools, "late": late, "result": result}
serve({**cases, "stream": stream, "pieces": pieces, "awaited": awaited})
