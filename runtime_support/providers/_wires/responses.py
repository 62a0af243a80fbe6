"""The API `responses`: OpenAI's Responses API, as a `Wire` (`_wires`).

    render(request, form)                       ("responses", {"model": ..., "input": [...]})
    ResponsesReader(request, form, None).read(b'{"output": ...}')    Reply("...")

The server is told to store nothing. Reasoning arrives in encrypted items, next to the items of
messages and calls. All items of a reply are sent back unchanged and in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from runtime_support._core.messages import Message, Origin, Reply, Request
from runtime_support._values.kinds import brief, is_list, is_object
from runtime_support.errors import ConfigError
from runtime_support.providers._wires import RequestForm, Wire
from runtime_support.providers._wires.bodies import (
    ReplyReader,
    call_of,
    object_at,
    opaque_parts,
    tokens,
    with_extra,
    wrap_schema,
)
from runtime_support.providers._wires.history import (
    own_parts,
    sendable,
    sendable_name,
    split_system,
    with_replies,
    without_last_thoughts,
)

_LACKS = ("seed", "stop")

# Fields of chat completions that the Responses API lacks.
OF_CHAT = frozenset(
    (
        *("audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs"),
        *("max_completion_tokens", "max_tokens", "messages", "modalities", "n", "prediction"),
        *("presence_penalty", "reasoning_effort", "response_format", "seed", "stop"),
        *("verbosity", "web_search_options"),
    )
)
# OpenAI's models without reasoning. They reject requests for reasoning.
_WITHOUT_THOUGHTS = re.compile(r"(ft:)?(gpt-4|gpt-3\.5|chatgpt-4|gpt-5(\.\d+)?-chat)")

# Finish reasons: from the server's word to ours.
_CUT = {"max_output_tokens": "length", "max_messages": "length"}


def render(request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
    """Returns the path and the JSON body of a request."""
    options = form.options(request)
    extra: dict[str, Any] = options.pop("extra_body", {})
    for name, own in (("max_tokens", "max_output_tokens"), ("reasoning_effort", "reasoning")):
        if name in options:
            value = options.pop(name)
            options[own] = {"effort": value} if name == "reasoning_effort" else value
    instructions, messages = split_system(sendable(request.messages))
    body: dict[str, Any] = {"model": form.origin.model}
    if instructions:
        body["instructions"] = instructions
    body |= {"input": list(_input(messages, form.origin)), **options}
    if request.tools:
        body["tools"] = list(map(_tool, request.tools))
        if request.must_answer:
            body["tool_choice"] = "none"
    if form.enforced and request.schema is not None:
        schema, is_strict = wrap_schema(request.schema), request.is_strict
        format_ = {"type": "json_schema", "name": "reply", "schema": schema, "strict": is_strict}
        body["text"] = {"format": format_}
    body["store"] = False
    if form.thoughts and not (form.is_openai and _WITHOUT_THOUGHTS.match(form.origin.model)):
        body["include"] = ["reasoning.encrypted_content"]
    if form.cache_key:
        body["prompt_cache_key"] = form.cache_key
    if form.streamed:
        body["stream"] = True
    whole = with_extra(body, extra)
    if "include" in extra and is_list(extra["include"]):
        whole["include"] = [*dict.fromkeys([*body.get("include", ()), *extra["include"]])]
    return "responses", whole


def is_for_chat(request: Request) -> bool:
    """True if the request needs a field that only the chat completions API has."""
    extra: dict[str, Any] = request.options.get("extra_body", {})
    contents = (message["content"] for message in request.messages)
    return (
        any(name in request.options for name in _LACKS)
        or any(name in OF_CHAT for name in extra)
        or any(part["type"] == "input_audio" for one in contents if is_list(one) for part in one)
    )


def _tool(described: dict[str, Any]) -> dict[str, Any]:
    # By default, the server treats tools as strict.
    return {"type": "function", **described["function"], "strict": False}


def _input(messages: Iterable[Message], origin: Origin) -> Iterator[dict[str, Any]]:
    """Yields the messages as input items.

    Items of this server's own replies are sent back unchanged, without trailing reasoning.
    """
    for message, reply in with_replies(messages, origin):
        own = own_parts(reply, "output")
        if own is not None:
            yield from without_last_thoughts(list(map(_readable_call, own)), ("reasoning",))
        elif message["role"] == "tool":
            identity, text = message["tool_call_id"], message["content"]
            yield {"type": "function_call_output", "call_id": identity, "output": text}
        else:
            yield from _items(message)


def _readable_call(item: dict[str, Any]) -> dict[str, Any]:
    """Returns an item of a reply in a form that any server accepts.

    If the item is a call, invalid names and arguments are replaced.
    """
    if item.get("type") != "function_call":
        return item
    name, arguments = sendable_name(item.get("name")), _sendable_arguments(item.get("arguments"))
    return {**item, "name": name, "arguments": arguments}


def _sendable_arguments(text: object) -> str:
    """Returns a call's arguments as JSON text, or `{}` if the text is not a JSON object."""
    try:
        is_read = isinstance(text, str) and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        is_read = False
    return str(text) if is_read else "{}"


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """Yields a message as input items, whatever server it is from."""
    content = message["content"]
    if content or "tool_calls" not in message:
        parts = [_part(one) for one in content] if is_list(content) else content or ""
        yield {"role": message["role"], "content": parts}
    for call in message.get("tool_calls", ()):
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    match part["type"]:
        case "text":
            return {"type": "input_text", "text": part["text"]}
        case "image_url":
            image = part["image_url"]
            detail = image.get("detail", "auto")
            return {"type": "input_image", "image_url": image["url"], "detail": detail}
        case "file":
            return {"type": "input_file", **part["file"]}
        case "input_audio":
            raise ConfigError(
                "the API `responses` takes no sounds", setting="api", hint='set `api` to "chat"'
            )
        case _:  # a part that was already given in the form of this API
            return part


class ResponsesReader(ReplyReader):
    """Reads a response."""

    meant = ("a response", 'a server that does not speak this API takes `api = "chat"`')

    def _is_meant(self, body: dict[str, Any]) -> bool:
        return is_list(body.get("output"))

    def reply_of(self, body: dict[str, Any]) -> Reply:
        """Converts the body of a response to a reply."""
        items = list(filter(is_object, body["output"]))
        messages = [one for one in items if one.get("type") == "message"]
        called = [one for one in items if one.get("type") == "function_call"]
        calls = tuple(call_of(one, one.get("arguments"), one.get("call_id")) for one in called)
        refusal = _joined(messages, "refusal", "refusal")
        answers = [one for one in messages if not is_aside(one)]
        text = refusal or _joined(answers or messages, "output_text", "text")
        text = text or str(body.get("output_text") or "")
        finish = "refusal" if refusal else _finish(body, bool(calls))
        opaque = opaque_parts("output", body["output"], calls)
        usage = tokens(object_at(body, "usage"), "input", "output")
        return self._made(body, text, calls, finish, opaque, usage)


def _finish(body: dict[str, Any], has_calls: bool) -> str:
    """Returns the finish reason of a reply. Raises ValueError if the reply has failed."""
    status = body.get("status")
    if status not in (None, "completed", "incomplete"):
        raise ValueError(f"its status is {brief(status)}")
    if status == "incomplete":
        reason = str(object_at(body, "incomplete_details").get("reason") or "length")
        return _CUT.get(reason, reason)
    return "tool_calls" if has_calls else "stop"


def is_aside(item: Any) -> bool:
    """True if the item is commentary before the answer."""
    return is_object(item) and item.get("phase") == "commentary"


def _joined(messages: list[dict[str, Any]], kind: str, name: str) -> str:
    """Joins the texts in the field `name` of all message parts whose type is `kind`."""
    contents = (message.get("content") for message in messages)
    parts = (part for content in contents if is_list(content) for part in content)
    texts = (one.get(name) for one in parts if is_object(one) and one.get("type") == kind)
    return "".join(text for text in texts if isinstance(text, str))


WIRE = Wire("responses", _LACKS, render, ResponsesReader)
