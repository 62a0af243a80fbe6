"""Anthropic's Messages as the server speaks them to a model that thinks: with signatures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from tests.support.fake_server import Answer, events, raw

NAME = "messages"
PATH = "/v1/messages"

_USAGE = {"input_tokens": 11, "output_tokens": 7}
_EVENTS: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
# The part of a block that grows, and the event by which it does.
_GROWING = {
    "text": ("text", "text_delta", "text"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
    "tool_use": ("input", "input_json_delta", "partial_json"),
}


def document(say: Any, number: int) -> dict[str, Any]:
    """The reply that says this: what it has thought, and then a text, or calls of tools."""
    signature = f"sk-ant-Abc123dEf456Ghi789{number}=="
    content: list[dict[str, Any]] = [
        # They look like keys.
        {"type": "thinking", "thinking": "Let me see.", "signature": signature},
        {"type": "redacted_thinking", "data": f"sk-proj-Abc123dEf456Ghi789jKl{number}"},
    ]
    if say.text is not None:
        content.append({"type": "text", "text": say.text, "citations": None})
    for place, (name, arguments) in enumerate(say.calls):
        identity = f"toolu_{number}_{place}"
        caller = {"type": "direct"}
        block = {"type": "tool_use", "id": identity, "name": name, "input": arguments}
        content.append({**block, "caller": caller})
    reason = "tool_use" if say.calls else "end_turn"
    if say.is_cut or say.is_refusal:
        reason = "max_tokens" if say.is_cut else "refusal"
    made = Message.model_validate(
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "fake-1",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": _USAGE,
        }
    )
    return made.model_dump(mode="json", exclude_unset=True, by_alias=True)


def answer(document: dict[str, Any]) -> Answer:
    """The response with a reply."""
    return raw(json.dumps(document).encode())


def streamed(document: dict[str, Any]) -> Answer:
    """The same in events; a signature comes at the end of its block."""
    return events(list(map(sent, _events(document))))


def heard(body: dict[str, Any], document: Callable[[int], dict[str, Any]]) -> tuple[int, str]:
    """How many replies came back, and what is wrong with them."""
    number, open_ = 0, list[str]()
    for place, message in enumerate(body["messages"]):
        content: list[dict[str, Any]] = message["content"]
        if not content:
            return number, f"messages.{place}: all messages must have non-empty content"
        if any(one["type"] == "text" and not one["text"].strip() for one in content):
            return number, f"messages.{place}: text content blocks must be non-empty"
        results = [one["tool_use_id"] for one in content if one["type"] == "tool_result"]
        first = [one.get("tool_use_id") for one in content[: len(results)]]
        if sorted(results) != sorted(open_) or first != results:
            said = "`tool_use` ids were found without `tool_result` blocks immediately after"
            return number, f"messages.{place}: {said}: {open_}, {results}"
        open_ = []
        if message["role"] == "assistant":
            said = document(number)["content"]
            if content != said:
                return number, f"Invalid `signature` in `thinking` block: {content}, not {said}"
            open_ = [one["id"] for one in said if one["type"] == "tool_use"]
            number += 1
    if body["messages"][-1]["role"] != "user":
        return number, "This model does not support assistant message prefill."
    return number, ""


def opaque(document: dict[str, Any]) -> list[str]:
    """The signatures, ids and encrypted thoughts in a reply."""
    names = ("id", "signature", "data")
    return [block[name] for block in document["content"] for name in names if name in block]


def effort(body: dict[str, Any]) -> str | None:
    """How much the model is to think."""
    assert body["thinking"] == {"type": "adaptive"}
    return body.get("output_config", {}).get("effort")


def _events(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = {**document["usage"], "output_tokens": 1}
    begun: dict[str, Any] = {**document, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": begun}
    for place, block in enumerate(document["content"]):
        at = {"index": place}
        first: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
        started = {name: first.get(name, value) for name, value in block.items()}
        yield {"type": "content_block_start", "content_block": started, **at}
        if block["type"] in _GROWING:
            name, kind, field = _GROWING[block["type"]]
            grown = json.dumps(block[name]) if name == "input" else block[name]
            for piece in _pieces(grown):
                yield {"type": "content_block_delta", "delta": {"type": kind, field: piece}, **at}
        if "signature" in block:
            delta = {"type": "signature_delta", "signature": block["signature"]}
            yield {"type": "content_block_delta", "delta": delta, **at}
        yield {"type": "content_block_stop", **at}
    ending = {"stop_reason": document["stop_reason"], "stop_sequence": None}
    counts = {"output_tokens": document["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": ending, "usage": counts}
    yield {"type": "message_stop"}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if not place else f" {word}" for place, word in enumerate(words)]


def sent(one: dict[str, Any]) -> bytes:
    """An event as it is sent, made by the package's model; a ping may stand before any."""
    made = _EVENTS.validate_python(one).model_dump(mode="json", exclude_unset=True, by_alias=True)
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    return ping + f"event: {made['type']}\ndata: {json.dumps(made)}\n\n".encode()
