"""The API `chat`: OpenAI's chat completions, as a `Wire` (`_wires`).

render(request, form)                       ("chat/completions", {"model": ...})
ChatReader(request, form, None).read(b'{"choices": ...}')               Reply("...")
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from runtime_support._core.messages import Message, Origin, Reply, Request, ToolRequest
from runtime_support._values.predicates import is_list, is_object
from runtime_support.providers._wires import RequestForm, Wire
from runtime_support.providers._wires.bodies import (
    ReplyReader,
    call_of,
    object_at,
    sendable_parts,
    tokens,
    with_extra,
    wrap_schema,
)

# Fields of replies and calls that are sent back. Others are not, as strict servers reject them.
_OF_REPLIES = ("reasoning_details",)
OF_REPLIES_WITH_CALLS = ("reasoning_details", "reasoning_content", "reasoning")
OF_CALLS = ("extra_content",)


def render(request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
    """Returns the path and the JSON body of a request."""
    options = form.options(request)
    extra: dict[str, Any] = options.pop("extra_body", {})
    if form.has_new_limit and "max_tokens" in options:
        options["max_completion_tokens"] = options.pop("max_tokens")
    messages = list(request.messages)
    if any(message["role"] == "assistant" for message in messages):
        messages = list(_with_opaque_parts(messages, form.origin))
    body: dict[str, Any] = {"model": form.origin.model, "messages": messages, **options}
    if request.tools:
        body["tools"] = list(request.tools)
        if request.must_answer:
            body["tool_choice"] = "none"
    if form.cache_key:
        body["prompt_cache_key"] = form.cache_key
    if form.streamed:
        body["stream"] = True
        if form.counted:
            body["stream_options"] = {"include_usage": True}
    if form.enforced and request.schema is not None:
        schema = {
            "name": "reply",
            "schema": wrap_schema(request.schema),
            "strict": request.is_strict,
        }
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return "chat/completions", with_extra(body, extra)


def _with_opaque_parts(messages: list[Message], origin: Origin) -> Iterator[Message]:
    """Yields the messages of a conversation as the server receives them.

    Replies from this server are sent back with their opaque parts, which only this server
    understands.
    """
    from runtime_support.providers._wires.history import sendable, with_replies

    for message, reply in with_replies(sendable(messages), origin):
        if reply is None:
            yield message
            continue
        calls = [
            {**call, **(asked.opaque or {})}
            for call, asked in zip(message.get("tool_calls", ()), reply.tool_calls, strict=True)
        ]
        yield {**message, **(reply.opaque or {}), **({"tool_calls": calls} if calls else {})}


class ChatReader(ReplyReader):
    """Reads a chat completion."""

    meant = ("a chat completion", None)

    def _is_meant(self, body: dict[str, Any]) -> bool:
        choice = first_choice(body)
        if not choice and "choices" in body:
            raise ValueError("it has no choice")
        return is_object(choice.get("message"))

    def reply_of(self, body: dict[str, Any]) -> Reply:
        """Converts the body of a response to a reply."""
        choice = first_choice(body)
        if is_object(choice.get("error")):
            raise self.reported(choice["error"])
        if choice.get("finish_reason") == "error":
            raise ValueError("the server stopped in the middle of it")
        message, finish = choice["message"], str(choice.get("finish_reason") or "stop")
        refusal, text = message.get("refusal"), text_of(message.get("content"))
        if refusal:
            finish, text = "refusal", str(refusal)
        calls = _tool_requests(message)
        opaque = sendable_parts(parts_of(message, OF_REPLIES_WITH_CALLS if calls else _OF_REPLIES))
        usage = tokens(object_at(body, "usage"), "prompt", "completion")
        return self._made(body, text, calls, finish, opaque, usage)


def first_choice(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the first choice of a completion or a chunk, or an empty object."""
    choices = body.get("choices")
    return choices[0] if is_list(choices) and choices and is_object(choices[0]) else {}


def parts_of(data: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the fields with these names that are not null. Empty values are included."""
    return {name: data[name] for name in names if data.get(name) is not None}


def text_of(content: Any) -> str:
    """Returns the content of a message as text.

    Some servers send a list of parts, or JSON data, in place of text.
    """
    if isinstance(content, str):
        return content
    if is_object(content) or isinstance(content, int | float):
        return json.dumps(content, ensure_ascii=False)
    if is_list(content):
        parts = [part.get("text", "") for part in content if is_object(part)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tool_requests(message: dict[str, Any]) -> tuple[ToolRequest, ...]:
    calls = message.get("tool_calls")
    functions = [
        (object_at(call, "function"), call)
        for call in (calls if is_list(calls) else ())
        if is_object(call) and is_object(call.get("function"))
    ]
    return tuple(
        call_of(
            function,
            function.get("arguments"),
            call.get("id"),
            sendable_parts(parts_of(call, OF_CALLS)),
        )
        for function, call in functions
    )


WIRE = Wire("chat", (), render, ChatReader)
