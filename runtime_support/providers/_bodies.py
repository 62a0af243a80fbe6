"""Parts of bodies that several wires have in common: schemas, texts in pieces, numbers of tokens.

wrap_schema({"type": "integer"})              {"type": "object", "properties": {"value": ...}, ...}
unwrapped('{"value": 3}')                     3, as text
ChunkedText(is_wrapped=True).add('{"val')     what a piece adds to the text that is shown
ReplyReader                                   reads a reply, whole or in events; each wire has one
tokens(usage, "prompt", "completion")         the tokens of a reply, by the names of its fields
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from typing import Any

from runtime_support._core.messages import Reply, Request, ToolRequest
from runtime_support._values.kinds import holds_halves, is_object, without_halves
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import RequestForm

_WRAPPING = re.compile(r'\s*\{\s*"value"\s*:')


def object_at(body: dict[str, Any], key: str) -> dict[str, Any]:
    """The object at a key, an empty one where there is none."""
    value = body.get(key)
    return value if is_object(value) else {}


def call_of(
    data: dict[str, Any], arguments: Any, identity: Any, opaque: dict[str, Any] | None = None
) -> ToolRequest:
    """The call of a tool, by the name in its data; what is not text in it is made so."""
    if not isinstance(arguments, str):  # some servers send them parsed
        arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
    if not isinstance(identity, str) or holds_halves(identity):
        identity = ""
    name = without_halves(str(data.get("name") or ""))
    return ToolRequest(name, arguments, identity, opaque)


def sendable_parts(parts: dict[str, Any]) -> dict[str, Any] | None:
    """The opaque parts of a reply; None where there are none, or JSON has no words for them."""
    try:
        json.dumps(parts, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return parts or None


def opaque_parts(
    name: str, parts: list[Any], calls: tuple[ToolRequest, ...]
) -> tuple[dict[str, Any] | None, tuple[ToolRequest, ...]]:
    """A reply's parts as its server takes them back, and its calls, with ids where it does.

    It takes none back where a call has no id, or one that another has: that cannot be answered.
    """
    ids = {one.id for one in calls}
    is_sound = "" not in ids and len(ids) == len(calls) and all(map(is_object, parts))
    opaque = sendable_parts({name: parts}) if parts and is_sound else None
    if opaque is None:
        calls = tuple(ToolRequest(one.name, one.arguments) for one in calls)
    return opaque, calls


def with_extra(body: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """The body with further fields; those of an object go beside what is there."""
    merged = {
        name: {**body[name], **own} if is_object(body.get(name)) and is_object(own) else own
        for name, own in extra.items()
    }
    return {**body, **merged}


def wrap_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as servers take one: a root that is not an object is wrapped in `value`."""
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


def is_wrapped(request: Request, form: RequestForm) -> bool:
    """Whether the value that is asked for comes in an object, as the schema is not one of those."""
    return form.enforced and request.schema is not None and not _is_object_root(request.schema)


def unwrapped(text: str) -> str:
    """The value of `{"value": ...}`; anything else as it is."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if is_object(body) and set(body) == {"value"}:
        return json.dumps(body["value"], ensure_ascii=False)
    return text


def _is_object_root(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "anyOf" not in schema


def joined(pieces: list[str]) -> str:
    """The text of pieces, which may have been cut inside of a character."""
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


class ChunkedText:
    """A text that comes in pieces, which may be cut inside of a character.

    Of one that is wrapped in `{"value": ...}`, the opening is not shown.
    """

    def __init__(self, *, is_wrapped: bool) -> None:
        self._texts: list[str] = []
        # The half of a surrogate pair, and what may turn out to be `{"value": `.
        self._half = self._opening = ""
        self._is_open = not is_wrapped

    @property
    def known(self) -> str:
        """The text until now."""
        return "".join(self._texts)

    @property
    def whole(self) -> str:
        """All that came, though it may end inside of a character."""
        return self.known + self._half

    def add(self, piece: str) -> str:
        """Takes a piece; what it adds to the text that is shown."""
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = joined([text])
        self._texts.append(text)
        if self._is_open:
            return text
        self._opening += text
        opened = _WRAPPING.match(self._opening)
        if opened is None and '{"value":'.startswith("".join(self._opening.split())):
            return ""
        self._is_open = True
        return self._opening if opened is None else self._opening[opened.end() :]


class ReplyReader(ABC):
    """Reads one reply: a whole one from the body of a response, or a streamed one by its events.

    What an event has for the text goes into `_text`. `meant` is what a reply is on this wire, and
    what helps where it is something else.
    """

    meant: tuple[str, str | None]

    def __init__(self, request: Request, form: RequestForm, request_id: str | None) -> None:
        self._request = request
        self._form = form
        self._request_id = request_id
        self._text = ChunkedText(is_wrapped=is_wrapped(request, form))

    def read(self, content: bytes) -> Reply:
        """The reply in the body of a response; ProviderError when it is not one."""
        if not content.strip():
            raise ValueError("it is empty")
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            from runtime_support.providers._refusals import excerpt

            said = f"the server's answer is not JSON: {excerpt(content)}"
            raise ProviderError(said, request_id=self._request_id) from None
        if not self._is_meant(self._checked(body)):
            raise self._unexpected(body)
        return self._reply(body)

    @property
    def text(self) -> str:
        """The text until now."""
        return self._text.known

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Whether the server has said that this is all."""

    @property
    def is_over(self) -> bool:
        """Whether this was the last event of the reply; what comes after it is none of it."""
        return False

    def end(self) -> None:
        """Takes the end of the stream, `[DONE]`, for that of the reply; not every wire does."""
        return

    def add(self, event: Any) -> str:
        """Takes an event, as JSON data; what it adds to the text that is shown."""
        return self._take(self._checked(event))

    def reply(self) -> Reply:
        """The reply that all events make; ProviderError when it is not one."""
        return self._reply(self._whole())

    @abstractmethod
    def _is_meant(self, body: dict[str, Any]) -> bool:
        """Whether the body of a response is a reply of the wire."""

    @abstractmethod
    def _take(self, event: dict[str, Any], /) -> str:
        """Takes an event; what it adds to the text that is shown."""

    @abstractmethod
    def _whole(self) -> dict[str, Any]:
        """The body that the events of a streamed reply make."""

    @abstractmethod
    def _reply(self, body: dict[str, Any]) -> Reply:
        """The reply that a body is."""

    def _made(
        self,
        body: dict[str, Any],
        text: str,
        calls: tuple[ToolRequest, ...],
        finish: str,
        opaque: dict[str, Any] | None,
        usage: dict[str, Any],
    ) -> Reply:
        """The reply of these parts, with those that only its server understands."""
        has_own = opaque or any(call.id or call.opaque for call in calls)
        return Reply(
            text=unwrapped(text) if is_wrapped(self._request, self._form) else text,
            tool_calls=calls,
            finish=without_halves(finish),
            model=without_halves(str(body.get("model") or self._form.origin.model)),
            opaque=opaque,
            origin=self._form.origin if has_own else None,
            **usage,
        )

    def _checked(self, data: Any) -> dict[str, Any]:
        """The data; a ProviderError where it is no object, or reports an error of the server."""
        if not is_object(data):
            raise self._unexpected(data)
        if data.get("error"):
            raise self._reported(data["error"], data.get("request_id"))
        return data

    def _reported(self, error: Any, request_id: Any = None) -> Exception:
        from runtime_support.providers._refusals import reported_error

        return reported_error(error, request_id or self._request_id)

    def _unexpected(self, data: Any) -> ProviderError:
        from runtime_support.providers._refusals import excerpt

        what, hint = self.meant
        said = f"the server did not return {what}: {excerpt(json.dumps(data).encode())}"
        return ProviderError(said, request_id=self._request_id, hint=hint)


# What servers name the parts of the input that were read from a cache or written to one, in the
# usage and in its details: OpenAI, xAI, OpenRouter; DeepSeek; Moonshot; Anthropic, LiteLLM, Qwen.
_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")

# A number of tokens that is larger than this is none.
_MOST_TOKENS = 10**12

# And what the model thought, as a part of the output; Anthropic.
_THOUGHT = ("reasoning_tokens", "thinking_tokens")


def tokens(usage: dict[str, Any], sent_name: str, answered_name: str) -> dict[str, Any]:
    """The tokens of a reply, by the names of its fields; the wire has a name for each of the two.

    Some servers count the input without what a cache had (Anthropic), or the output without what
    the model thought (xAI, Gemini): the total tells, or else a part that is more than the whole.
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
    """The first of these numbers that is there and more than nothing."""
    values = (data.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 < value < _MOST_TOKENS), 0)
