"""OpenAI's Responses as the server speaks them when it keeps nothing: with encrypted thoughts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.support.fake_server import Answer, events, raw

NAME = "responses"
PATH = "/v1/responses"

_USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 18,
}
_EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def document(say: Any, number: int) -> dict[str, Any]:
    """The reply that says this: what it has thought, and then a message, or calls of tools."""
    thought: dict[str, Any] = {
        "id": f"rs_{number}",
        "type": "reasoning",
        "summary": [],
        # They look like keys.
        "encrypted_content": f"sk-proj-Abc123dEf456Ghi789jKl{number}",
    }
    output: list[dict[str, Any]] = [thought]
    if say.text is not None:
        about: dict[str, Any] = {"annotations": [], "logprobs": []}
        part = {"type": "output_text", "text": say.text, **about}
        if say.is_refusal:
            part = {"type": "refusal", "refusal": say.text}
        output.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "incomplete" if say.is_cut else "completed",
                "phase": "final_answer",
                "content": [part],
            }
        )
    for place, (name, arguments) in enumerate(say.calls):
        output.append(
            {
                "id": f"fc_{number}_{place}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{number}_{place}",
                "name": name,
                "arguments": json.dumps(arguments),
            }
        )
    ending: dict[str, Any] = {"status": "completed", "incomplete_details": None}
    if say.is_cut:
        ending = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    made = Response.model_validate(
        {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "model": "fake-1",
            "error": None,
            **ending,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": _USAGE,
        }
    )
    return made.model_dump(mode="json", exclude_unset=True, by_alias=True)


def answer(document: dict[str, Any]) -> Answer:
    """The response with a reply."""
    return raw(json.dumps(document).encode())


def streamed(document: dict[str, Any]) -> Answer:
    """The same in events; the thoughts are whole only when their item is done."""
    return events([_sent(number, one) for number, one in enumerate(_events(document))])


def heard(body: dict[str, Any], document: Callable[[int], dict[str, Any]]) -> tuple[int, str]:
    """How many replies came back, and what is wrong with them."""
    number, open_ = 0, list[str]()
    items: list[dict[str, Any]] = list(body["input"])
    while items:
        item = items[0]
        kind = item.get("type", "message")
        if kind == "function_call_output":
            if item["call_id"] not in open_:
                return number, f"No tool call found for {item['call_id']}."
            open_.remove(item["call_id"])
            del items[0]
        elif open_:
            return number, f"No tool output found for function call {open_[0]}."
        elif kind == "message" and item["role"] != "assistant":
            del items[0]
        else:
            output = document(number)["output"]
            if items[: len(output)] != output:
                return number, f"The encrypted content could not be verified: {item}, not {output}"
            open_ = [one["call_id"] for one in output if one["type"] == "function_call"]
            del items[: len(output)]
            number += 1
    return number, f"No tool output found for function call {open_[0]}." if open_ else ""


def opaque(document: dict[str, Any]) -> list[str]:
    """The ids and encrypted thoughts in a reply."""
    names = ("id", "call_id", "encrypted_content")
    return [item[name] for item in document["output"] for name in names if name in item]


def effort(body: dict[str, Any]) -> str | None:
    """How much the model is to think."""
    return body.get("reasoning", {}).get("effort")


def _events(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun: dict[str, Any] = {**document, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(document["output"]):
        at = {"output_index": place}
        part = {"item_id": item["id"], "content_index": 0, **at}
        first: dict[str, Any] = {"content": [], "arguments": "", "encrypted_content": "begun"}
        added = {name: first.get(name, value) for name, value in item.items()}
        yield {"type": "response.output_item.added", "item": added, **at}
        if item["type"] == "function_call":
            for piece in _pieces(item["arguments"]):
                yield {
                    "type": "response.function_call_arguments.delta",
                    "item_id": item["id"],
                    "delta": piece,
                    **at,
                }
        for content in item.get("content", ()):
            is_text = content["type"] == "output_text"
            kind = "output_text" if is_text else "refusal"
            logprobs: dict[str, Any] = {"logprobs": []} if is_text else {}
            for piece in _pieces(content["text" if is_text else "refusal"]):
                yield {"type": f"response.{kind}.delta", "delta": piece, **logprobs, **part}
        yield {"type": "response.output_item.done", "item": item, **at}
    yield {"type": f"response.{document['status']}", "response": document}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if not place else f" {word}" for place, word in enumerate(words)]


def _sent(number: int, one: dict[str, Any]) -> bytes:
    made = _EVENTS.validate_python({**one, "sequence_number": number})
    data = made.model_dump(mode="json", exclude_unset=True, by_alias=True)
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
