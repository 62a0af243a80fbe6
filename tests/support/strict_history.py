"""What the real servers refuse of a conversation that comes back to them, by wire.

    refused_history({"messages": [...]}, wire="chat")      "an assistant message has neither ..."

The rules are those of the APIs' documents and of their error messages, which the packages' types do
not have: names of tools, empty messages, results, thoughts alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_THOUGHTS = ("thinking", "redacted_thinking")


def refused_history(body: dict[str, Any], wire: str) -> list[str]:
    """All that is refused of the messages of a request."""
    rules = {"chat": _of_chat, "responses": _of_responses, "messages": _of_messages}
    return list(rules[wire](body))


def _of_call(name: Any, arguments: Any) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"no tool can have the name {name!r}"
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except ValueError:
        is_object = False
    if not is_object:
        yield f"the arguments of a call are no object: {arguments!r}"


def _of_chat(body: dict[str, Any]) -> Iterator[str]:
    open_: list[str] = []
    for message in body.get("messages", ()):
        content, calls = message.get("content"), message.get("tool_calls") or ()
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_:
                yield f"a result without its call: {message['tool_call_id']}"
            else:
                open_.remove(message["tool_call_id"])
            if not content:
                yield "the result of a tool is empty"
            continue
        if open_:
            yield f"calls without results: {open_}"
        if message["role"] == "assistant":
            if not calls and not (isinstance(content, str) and content.strip()):
                yield "an assistant message has neither text nor calls"
            if content is not None and not content.strip():
                yield "an assistant message has a blank text"
        elif not content:
            yield f"a {message['role']} message is empty"
        open_ = [call["id"] for call in calls]
        for call in calls:
            yield from _of_call(call["function"]["name"], call["function"]["arguments"])
    if open_:
        yield f"calls without results: {open_}"


def _of_responses(body: dict[str, Any]) -> Iterator[str]:
    given = body.get("input")
    items: list[dict[str, Any]] = given if isinstance(given, list) else []
    called: list[str] = []
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "reasoning":
            rest = [one for one in items[number + 1 :] if one.get("type") != "reasoning"]
            after = rest[0] if rest else {"role": "user"}
            if after.get("role") in ("user", "system", "developer") or "output" in after:
                yield f"the item {item.get('id')} of type 'reasoning' lacks its following item"
        elif kind == "function_call":
            called.append(item["call_id"])
            yield from _of_call(item["name"], item["arguments"])
        elif kind == "function_call_output":
            if item["call_id"] not in called:
                yield f"a result without its call: {item['call_id']}"
            else:
                called.remove(item["call_id"])
            if not item["output"]:
                yield "the result of a tool is empty"
        elif not item.get("content"):
            yield "a message is empty"
    if called:
        yield f"calls without results: {called}"


def _of_messages(body: dict[str, Any]) -> Iterator[str]:
    open_: set[str] = set()
    role = None
    for message in body.get("messages", ()):
        if message["role"] == role:
            yield f"two messages of the {role} in a row"
        role = message["role"]
        blocks = message["content"]
        if not blocks:
            yield "a message is empty"
            continue
        results = {one["tool_use_id"] for one in blocks if one["type"] == "tool_result"}
        if open_ != results:
            yield f"calls and results differ: {open_}, {results}"
        open_ = {one["id"] for one in blocks if one["type"] == "tool_use"}
        if role == "assistant" and blocks[-1]["type"] in _THOUGHTS:
            yield "the final block of an assistant message is thinking"
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                yield "a text block is blank"
            if block["type"] == "tool_result" and not block["content"]:
                yield "the result of a tool is empty"
            if block["type"] == "tool_use":
                yield from _of_call(block["name"], json.dumps(block["input"]))
    if open_:
        yield f"calls without results: {open_}"
