"""Chat completions as a server speaks them that signs calls, as Gemini does, and hides thoughts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.support.fake_server import Answer, event, events, raw

NAME = "chat"
PATH = "/v1/chat/completions"

_OF_MESSAGES = ("content", "reasoning_details", "tool_calls")
_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def document(say: Any, number: int) -> dict[str, Any]:
    """The reply that says this."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    finish = "length" if say.is_cut else "stop"
    if say.is_refusal:
        message = {"role": "assistant", "content": None, "refusal": say.text}
    # They look like keys.
    thought = {"type": "reasoning.encrypted", "data": f"sk-proj-Abc123dEf456Ghi789jKl{number}"}
    message["reasoning_details"] = [thought]
    if say.calls:
        finish = "tool_calls"
        message["tool_calls"] = [
            {
                "id": f"own-{number}-{place}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
                "extra_content": {"google": {"thought_signature": f"S{number}+{place}=="}},
            }
            for place, (name, arguments) in enumerate(say.calls)
        ]
    choice = {"index": 0, "finish_reason": finish, "message": message}
    made = ChatCompletion.model_validate(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "fake-1",
            "choices": [choice],
            "usage": _USAGE,
        }
    )
    return made.model_dump(mode="json", exclude_unset=True)


def answer(document: dict[str, Any]) -> Answer:
    """The response with a reply."""
    return raw(json.dumps(document).encode())


def streamed(document: dict[str, Any]) -> Answer:
    """The same in pieces: words one by one, then all others, then why it ends."""
    (choice,) = document["choices"]
    message = dict(choice["message"])
    pieces = (message.pop("content") or "").split(" ")
    words = [piece if not place else f" {piece}" for place, piece in enumerate(pieces)]
    deltas: list[dict[str, Any]] = [{"content": word} for word in words if word]
    if "tool_calls" in message:
        calls = enumerate(message["tool_calls"])
        message["tool_calls"] = [{"index": place, **call} for place, call in calls]
    parts = [*map(_chunk, deltas), _chunk(message), _chunk({}, choice["finish_reason"])]
    usage = event({**json.loads(parts[-1][6:]), "choices": [], "usage": document["usage"]})
    return events([*parts, usage, b"data: [DONE]\n\n"])


def heard(body: dict[str, Any], document: Callable[[int], dict[str, Any]]) -> tuple[int, str]:
    """How many replies came back, and what is wrong with them."""
    number, ids = 0, list[str]()
    for one in body["messages"]:
        if one["role"] == "tool":
            if ids[:1] != [one["tool_call_id"]]:
                return number, f"No tool call found for {one['tool_call_id']}"
            ids = ids[1:]
            continue
        if ids:
            return number, f"No tool output found for {ids}"
        if one["role"] == "assistant":
            said = document(number)["choices"][0]["message"]
            wanted = {name: said[name] for name in _OF_MESSAGES if name in said}
            if one["content"] == _unwrapped(wanted["content"]):
                wanted["content"] = one["content"]
            if {name: part for name, part in one.items() if name != "role"} != wanted:
                return number, f"Function call is missing a thought_signature: {one}, not {wanted}"
            ids = [call["id"] for call in one.get("tool_calls", ())]
            number += 1
    return number, f"No tool output found for {ids}" if ids else ""


def opaque(document: dict[str, Any]) -> list[str]:
    """The signatures, ids and encrypted thoughts in a reply."""
    message = document["choices"][0]["message"]
    calls = message.get("tool_calls", ())
    signatures = [call["extra_content"]["google"]["thought_signature"] for call in calls]
    thoughts = [one["data"] for one in message["reasoning_details"]]
    return [*(call["id"] for call in calls), *signatures, *thoughts]


def effort(body: dict[str, Any]) -> str | None:
    """How much the model is to think."""
    return body.get("reasoning_effort")


def _unwrapped(text: str | None) -> str | None:
    """What stands in `{"value": ...}`: a value comes back without it."""
    try:
        return json.dumps(json.loads(text or "")["value"], ensure_ascii=False)
    except (ValueError, KeyError, TypeError):
        return text


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    made = ChatCompletionChunk.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "fake-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
    )
    return event(made.model_dump(mode="json", exclude_unset=True))
