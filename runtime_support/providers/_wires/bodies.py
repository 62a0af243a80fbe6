"""Reads and writes the parts of JSON bodies that all APIs share.

wrap_schema({"type": "integer"})            {"type": "object", "properties": {"value": ...}, ...}
unwrapped('{"value": 3}')                   "3"
ReplyReader                                 reads the body of a reply; a subclass per wire
of_server()                                 turns errors from malformed data into a ValueError
tokens(usage, "prompt", "completion")       the token counts, as fields of a `Reply`
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from runtime_support._core.messages import Reply, Request, ToolRequest
from runtime_support._values.predicates import holds_halves, is_object, without_halves
from runtime_support.errors import ProviderError, SaftError
from runtime_support.providers._wires import RequestForm


def object_at(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns the object at a key of the body, or an empty object if there is none."""
    value = body.get(key)
    return value if is_object(value) else {}


def call_of(
    data: dict[str, Any], arguments: Any, identity: Any, opaque: dict[str, Any] | None = None
) -> ToolRequest:
    """Builds a tool call of a reply. Arguments that are not text are encoded as JSON."""
    if not isinstance(arguments, str):  # some servers send them parsed
        arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
    if not isinstance(identity, str) or holds_halves(identity):
        identity = ""
    name = without_halves(str(data.get("name") or ""))
    return ToolRequest(name, arguments, identity, opaque)


def sendable_parts(parts: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the opaque parts of a reply, which only its server understands.

    Returns None if there are no parts, or if JSON cannot encode them.
    """
    try:
        json.dumps(parts, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return parts or None


def opaque_parts(
    name: str, parts: list[Any], calls: tuple[ToolRequest, ...]
) -> dict[str, Any] | None:
    """Returns a reply's opaque parts under `name`, which only its server understands.

    Returns None if the parts cannot be sent back, or if a call in them has no usable id.
    """
    is_sound = all(call.id for call in sound_calls(calls)) and all(map(is_object, parts))
    return sendable_parts({name: parts}) if parts and is_sound else None


def sound_calls(calls: tuple[ToolRequest, ...]) -> tuple[ToolRequest, ...]:
    """Returns the calls with the server's ids.

    If an id is missing or used twice, results cannot refer to the calls: then none has an id.
    """
    ids = {call.id for call in calls}
    if "" not in ids and len(ids) == len(calls):
        return calls
    return tuple(replace(call, id="") for call in calls)


def with_extra(body: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Returns the body with the extra fields, which replace fields of the same names.

    If both values of a field are objects, the objects are merged.
    """
    merged = {
        name: {**body[name], **own} if is_object(body.get(name)) and is_object(own) else own
        for name, own in extra.items()
    }
    return {**body, **merged}


def wrap_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema of an object, as servers require.

    A schema of anything else becomes the schema of the object's only field, `value`.
    """
    if _is_object_root(schema):
        return schema
    inner = {name: part for name, part in schema.items() if name != "$defs"}
    document: dict[str, Any] = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
    }
    return document if "$defs" not in schema else {**document, "$defs": schema["$defs"]}


def unwrapped(text: str) -> str:
    """Returns the value in `{"value": ...}` as JSON text; returns any other text unchanged."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if is_object(body) and set(body) == {"value"}:
        return json.dumps(body["value"], ensure_ascii=False)
    return text


def _is_object_root(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "anyOf" not in schema


class ReplyReader(ABC):
    """Reads the reply in the body of a response.

    If a server returns data of another kind, the error says that the server did not return
    `meant[0]`, and has the hint `meant[1]`.
    """

    meant: tuple[str, str | None]

    def __init__(self, request: Request, form: RequestForm, request_id: str | None) -> None:
        self._request = request
        self._form = form
        self._request_id = request_id
        # Whether the value is in `{"value": ...}`, as its schema is not that of an object.
        schema = request.schema if form.enforced else None
        self.is_wrapped = schema is not None and not _is_object_root(schema)

    def read(self, content: bytes) -> Reply:
        """Returns the reply in a response's body.

        Raises ProviderError or ValueError if the body has no reply.
        """
        if not content.strip():
            raise ValueError("it is empty")
        body = self.parsed(content, "check `base_url`: an address often ends with /v1")
        if not self._is_meant(self.checked(body)):
            raise self._unexpected(body)
        return self.reply_of(body)

    def parsed(self, content: bytes, hint: str | None = None) -> Any:
        """Returns the value of a JSON text of the server; raises ProviderError if it is no JSON."""
        try:
            return json.loads(content)
        except ValueError:
            raise self._unreadable("the server's answer is not JSON", content, hint) from None

    @abstractmethod
    def _is_meant(self, body: dict[str, Any]) -> bool:
        """True if the body of a response is a reply of this API."""

    @abstractmethod
    def reply_of(self, body: dict[str, Any]) -> Reply:
        """Converts the body of a response to a reply."""

    def _made(
        self,
        body: dict[str, Any],
        text: str,
        calls: tuple[ToolRequest, ...],
        finish: str,
        opaque: dict[str, Any] | None,
        usage: dict[str, Any],
    ) -> Reply:
        """Builds the reply. Records the server if the reply has parts that only it understands."""
        calls = sound_calls(calls)
        has_own = opaque or any(call.id or call.opaque for call in calls)
        return Reply(
            text=unwrapped(text) if self.is_wrapped else text,
            tool_calls=calls,
            finish=without_halves(finish),
            model=without_halves(str(body.get("model") or self._form.origin.model)),
            opaque=opaque,
            origin=self._form.origin if has_own else None,
            **usage,
        )

    def checked(self, data: Any) -> dict[str, Any]:
        """Returns the data if it is an object without an error.

        Raises ProviderError if it is no object. If it reports an error, raises this error.
        """
        if not is_object(data):
            raise self._unexpected(data)
        if data.get("error"):
            raise self.reported(data["error"], data.get("request_id"))
        return data

    def reported(self, error: Any, request_id: Any = None) -> Exception:
        """Returns the error for an error object that the server sent."""
        from runtime_support.providers._refusals import reported_error

        return reported_error(error, request_id or self._request_id)

    def _unexpected(self, data: Any) -> ProviderError:
        what, hint = self.meant
        content = json.dumps(data).encode()
        return self._unreadable(f"the server did not return {what}", content, hint)

    def _unreadable(self, said: str, content: bytes, hint: str | None = None) -> ProviderError:
        """Returns the error for data that is not a reply. A reply may come at the next attempt."""
        from runtime_support.providers._refusals import excerpt

        error = ProviderError(f"{said}: {excerpt(content)}", request_id=self._request_id, hint=hint)
        error.another_try = "broken"
        return error


@contextmanager
def of_server() -> Generator[None]:
    """Turns unexpected errors in the block into a ValueError.

    Malformed data of the server is taken as the cause. So only code that reads such data may be in
    the block; errors of other code would be hidden.
    """
    try:
        yield
    except (SaftError, ValueError):
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


# Names of input tokens read from or written to a cache, in `usage` or in its details. They are of
# OpenAI, xAI and OpenRouter; DeepSeek; Moonshot; Anthropic, LiteLLM and Qwen.
_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")

# Larger token counts are ignored as wrong.
_MOST_TOKENS = 10**12

# Names of reasoning tokens, which are a part of the output: OpenAI's; Anthropic's.
_THOUGHT = ("reasoning_tokens", "thinking_tokens")


def tokens(usage: dict[str, Any], sent_name: str, answered_name: str) -> dict[str, Any]:
    """Returns the token counts in `usage`, as a dictionary of fields of a `Reply`.

    `sent_name` and `answered_name` are the API's prefixes for counts of input and of output. Some
    servers leave cached tokens out of the input (Anthropic), or reasoning tokens out of the output
    (xAI, Gemini). Such counts are corrected if the total differs from their sum, or if a part is
    larger than the whole.
    """
    of_input = object_at(usage, f"{sent_name}_tokens_details")
    of_output = object_at(usage, f"{answered_name}_tokens_details")
    sent, answered = _count(usage, f"{sent_name}_tokens"), _count(usage, f"{answered_name}_tokens")
    cached = _count(of_input, *_CACHED) or _count(usage, *_CACHED)
    written = _count(of_input, *_WRITTEN) or _count(usage, *_WRITTEN)
    reasoning = _count(of_output, *_THOUGHT) or _count(usage, *_THOUGHT)
    total = _count(usage, "total_tokens")
    untold = total - sent - answered
    of_cache = cached + written
    if of_cache > sent or (of_cache and untold in (of_cache, of_cache + reasoning)):
        sent += of_cache
        untold -= of_cache
    if untold > 0:
        answered += untold
    elif not total and reasoning > answered:
        answered += reasoning
    return {
        "input_tokens": sent,
        "output_tokens": answered,
        "cached_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": min(reasoning, answered),
    }


def _count(data: dict[str, Any], *names: str) -> int:
    """Returns the first positive count under these names, or 0."""
    values = (data.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 < value < _MOST_TOKENS), 0)
