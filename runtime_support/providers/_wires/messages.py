"""The API `messages`: Anthropic's Messages API, as a `Wire` (`_wires`).

    render(request, form)                       ("messages", {"model": ..., "messages": [...]})
    MessagesReader(request, form, None).read(b'{"content": ...}')   Reply("...")

Thinking arrives in signed blocks, next to the blocks of text and calls. All blocks of a reply are
sent back unchanged and in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from runtime_support._core.messages import Message, Origin, Reply, Request, ToolErrorMessage
from runtime_support._values.kinds import is_list, is_object
from runtime_support.errors import ConfigError, ProviderError
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

# The API requires `max_tokens`; this is the default.
_MOST_TOKENS = 16_384
# Values of `reasoning_effort` that the API lacks, each with the nearest value that it has.
_NEAREST_EFFORT = {"minimal": "low"}
_CACHED: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)

_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


def render(request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
    """Returns the path and the JSON body of a request."""
    options = form.options(request, _MOST_TOKENS)
    extra: dict[str, Any] = options.pop("extra_body", {})
    effort: str | None = options.pop("reasoning_effort", None)
    if effort in _NEAREST_EFFORT:
        raise ConfigError(
            f"the API `messages` has no effort `{effort}`",
            setting="reasoning_effort",
            hint=f'the nearest is "{_NEAREST_EFFORT[effort]}"',
        )
    if "stop" in options:
        stop = options.pop("stop")
        options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    system, messages = split_system(sendable(request.messages))
    tools = list(map(_tool, request.tools))
    # The cache includes all that precedes a mark, and tools precede the system message.
    if tools and not system:
        tools[-1] |= _CACHED
    sent = _merged(_messages(messages, form.origin))
    # The first request has no mark: it would pay for a cache entry that may never be read.
    if any(message["role"] == "assistant" for message in sent) and sent[-1]["content"]:
        sent[-1]["content"][-1] = {**sent[-1]["content"][-1], **_CACHED}
    body: dict[str, Any] = {
        "model": form.origin.model,
        "max_tokens": options.pop("max_tokens"),
        **options,
    }
    if tools:
        body["tools"] = tools
        if request.must_answer:
            body["tool_choice"] = {"type": "none"}
    if system:
        body["system"] = [{"type": "text", "text": system, **_CACHED}]
    body["messages"] = sent
    if effort == "none":
        body["thinking"] = {"type": "disabled"}
    elif effort is not None:
        if form.thoughts:
            body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": effort}
    is_expressible = request.is_strict or request.enforce_schema == "on"
    if form.enforced and request.schema is not None and is_expressible:
        format_ = {"type": "json_schema", "schema": wrap_schema(in_dialect(request.schema))}
        body["output_config"] = {**body.get("output_config", {}), "format": format_}
    if form.streamed:
        body["stream"] = True
    # Addresses end with the version or before it, as in the `anthropic` package.
    has_version = form.origin.address.rstrip("/").endswith("/v1")
    return "messages" if has_version else "v1/messages", with_extra(body, extra)


# Descriptions in place of keywords that the API does not support.
_WORDS = {
    **{"minimum": ">= {}", "exclusiveMinimum": "> {}", "maximum": "<= {}"},
    **{"exclusiveMaximum": "< {}", "multipleOf": "a multiple of {}"},
    **{"minItems": "at least {} items", "maxItems": "at most {} items"},
}


def in_dialect(schema: Any) -> Any:
    """Returns the schema in a form that the API supports.

    The API supports `minItems` up to 1. All other limits on numbers and lists are moved into
    descriptions, for the model to read. A list of types is replaced by `anyOf`.
    """
    if is_list(schema):
        return list(map(in_dialect, schema))
    if not is_object(schema):
        return schema
    if is_object(schema.get("type", {})):  # maps field or definition names to schemas; or a union
        return {name: in_dialect(part) for name, part in schema.items()}
    if is_list(kinds := schema.get("type")):
        return in_dialect(_one_type_each(schema, kinds))
    kept = {name: part for name, part in schema.items() if name not in _WORDS}
    if schema.get("minItems") in (0, 1):
        kept["minItems"] = schema["minItems"]
    words = [
        _WORDS[name].format(schema[name]) for name in _WORDS if name in schema and name not in kept
    ]
    if words:
        kept["description"] = "; ".join([*filter(None, [kept.get("description")]), *words])
    inner = ("properties", "items", "prefixItems", "anyOf", "$defs", "additionalProperties")
    return {name: in_dialect(part) if name in inner else part for name, part in kept.items()}


def _one_type_each(schema: dict[str, Any], kinds: list[Any]) -> dict[str, Any]:
    rest = {name: part for name, part in schema.items() if name != "type"}
    return rest if "enum" in rest else {"anyOf": [{"type": one} for one in kinds], **rest}


def _tool(described: dict[str, Any]) -> dict[str, Any]:
    function = dict(described["function"])
    return {"input_schema": function.pop("parameters"), **function}


def _merged(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the messages, with successive messages of the same role merged."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1]["content"] += message["content"]
        else:
            merged.append(message)
    return merged


def _messages(messages: Iterable[Message], origin: Origin) -> Iterator[dict[str, Any]]:
    """Yields each message as an object with a role and content blocks.

    Replies that this server gave are sent back with their original blocks.
    """
    for message, reply in with_replies(messages, origin):
        if message["role"] == "tool":
            yield {"role": "user", "content": [_result(message)]}
            continue
        own = own_parts(reply, "content")
        blocks = list(_blocks(message)) if own is None else _own_blocks(own)
        # Servers reject a message without blocks. An empty user message is sent for the server to
        # report.
        if blocks or message["role"] != "assistant":
            yield {"role": message["role"], "content": blocks}


def _own_blocks(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a reply's blocks in a form that servers accept.

    Empty texts and trailing thinking are left out, and tool names are made valid.
    """
    kept = [one for one in blocks if one.get("type") != "text" or str(one.get("text")).strip()]
    named = [
        {**one, "name": sendable_name(one.get("name"))} if one.get("type") == "tool_use" else one
        for one in kept
    ]
    return without_last_thoughts(named, ("thinking", "redacted_thinking"))


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    """Yields the content blocks of a message, which may be from any server."""
    content = message["content"]
    if is_list(content):
        yield from map(_block, content)
    elif content and (content.strip() or message["role"] == "user"):
        yield {"type": "text", "text": content}
    for call in message.get("tool_calls", ()):
        function = call["function"]
        input_ = json.loads(function["arguments"])
        yield {"type": "tool_use", "id": call["id"], "name": function["name"], "input": input_}


def _block(part: dict[str, Any]) -> dict[str, Any]:
    match part["type"]:
        case "image_url":
            return {"type": "image", "source": _source(part["image_url"]["url"])}
        case "file" if "file_data" in part["file"]:
            file = part["file"]
            block = {"type": "document", "source": _source(file["file_data"])}
            return {**block, "title": file["filename"]} if "filename" in file else block
        case "input_audio":
            raise ProviderError(
                "the API `messages` has no field for a sound", hint="send what is said in it"
            )
        case _:  # a text, or a part that was already given in the form of this API
            return part


def _source(url: str) -> dict[str, Any]:
    data = _DATA_URL.fullmatch(url)
    if data is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": data[1], "data": data[2]}


def _result(message: Message) -> dict[str, Any]:
    identity, text = message["tool_call_id"], message["content"]
    result = {"type": "tool_result", "tool_use_id": identity, "content": text}
    return {**result, "is_error": True} if isinstance(message, ToolErrorMessage) else result


class MessagesReader(ReplyReader):
    """Reads a message."""

    meant = ("a message", 'a server that does not speak this API takes `api = "chat"`')

    def _is_meant(self, body: dict[str, Any]) -> bool:
        return is_list(body.get("content"))

    def reply_of(self, body: dict[str, Any]) -> Reply:
        """Converts the body of a response to a reply."""
        blocks = list(filter(is_object, body["content"]))
        used = [one for one in blocks if one.get("type") == "tool_use"]
        calls = tuple(call_of(one, one.get("input"), one.get("id")) for one in used)
        texts = (one.get("text") for one in blocks if one.get("type") == "text")
        text = "".join(one for one in texts if isinstance(one, str))
        reason = str(body.get("stop_reason") or ("tool_use" if calls else "end_turn"))
        if reason == "pause_turn":
            hint = "leave out the tools of the server that take this long"
            said = "the model has paused its turn, so the reply is not whole"
            raise ProviderError(said, hint=hint)
        if reason == "refusal" and not text:
            text = str(object_at(body, "stop_details").get("explanation") or "")
        is_sound = all(is_object(one.get("input")) for one in used)
        opaque = opaque_parts("content", body["content"] if is_sound else [], calls)
        finish, usage = _FINISHES.get(reason, reason), _tokens(object_at(body, "usage"))
        return self._made(body, text, calls, finish, opaque, usage)


def _tokens(usage: dict[str, Any]) -> dict[str, Any]:
    """Returns the token counts as fields of a `Reply`.

    The input includes cached tokens, which the API's `input_tokens` leaves out.
    """
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = (usage.get(name) for name in parts)
    sent = sum(one for one in counts if type(one) is int and one > 0)
    return tokens({**usage, "input_tokens": sent}, "input", "output")


WIRE = Wire("messages", ("seed", "temperature", "top_p"), render, MessagesReader)
