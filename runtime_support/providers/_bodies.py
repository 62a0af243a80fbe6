"""Parts of bodies that several wires have in common: schemas, texts in pieces, numbers of tokens.

wrap_schema({"type": "integer"})              {"type": "object", "properties": {"value": ...}, ...}
unwrapped('{"value": 3}')                     3, as text
ChunkedText(is_wrapped=True).add('{"val')     what a piece adds to the text that is shown
Gathering                                     the events of a streamed reply, for each wire its own
tokens(usage, "prompt", "completion")         the tokens of a reply, by the names of its fields
"""

from __future__ import annotations

import json
import re
from typing import Any

from runtime_support._exchange import Reply, Request, ToolRequest
from runtime_support._values import is_object, without_halves
from runtime_support.errors import ProviderError
from runtime_support.providers._wires import RequestForm

_WRAPPING = re.compile(r'\s*\{\s*"value"\s*:')


def object_at(body: dict[str, Any], key: str) -> dict[str, Any]:
    """The object at a key, an empty one where there is none."""
    value = body.get(key)
    return value if is_object(value) else {}


def read_object(content: bytes, request_id: str | None, what: str, hint: str | None) -> Any:
    """The object in the body of a response, as JSON data; ProviderError when it has none.

    So it has where the server reports an error in it. `what` it should be, and the hint, are for
    the error.
    """
    if not content.strip():
        raise ValueError("it is empty")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        from runtime_support.providers._refusals import excerpt

        raise ProviderError(
            f"the server's answer is not JSON: {excerpt(content)}", request_id=request_id
        ) from None
    if not is_object(body):
        raise unexpected_answer(content, request_id, what, hint)
    if body.get("error"):
        from runtime_support.providers._refusals import reported_error

        raise reported_error(body["error"], request_id)
    return body


def unexpected_answer(
    content: bytes, request_id: str | None, what: str, hint: str | None
) -> ProviderError:
    """The error for an answer that is not what it should be."""
    from runtime_support.providers._refusals import excerpt

    said = f"the server did not return {what}: {excerpt(content)}"
    return ProviderError(said, request_id=request_id, hint=hint)


def call_of(data: dict[str, Any], arguments: Any, identity: Any) -> ToolRequest:
    """The call of a tool, by the name in its data; what is not text in it is made so."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
    name = without_halves(str(data.get("name") or ""))
    return ToolRequest(name, arguments, identity if isinstance(identity, str) else "")


def sendable_parts(parts: dict[str, Any]) -> dict[str, Any] | None:
    """The opaque parts of a reply; None where there are none, or JSON has no words for them."""
    try:
        json.dumps(parts, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return parts or None


def are_sound(calls: tuple[ToolRequest, ...]) -> bool:
    """Whether each of the calls has an id that no other has: else they cannot be answered."""
    ids = {one.id for one in calls}
    return "" not in ids and len(ids) == len(calls)


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


class Gathering:
    """The events of one reply that is streamed, and the reply that they make.

    What an event has for the text goes into `_text`; `_meant` is as for `read_object`.
    """

    _meant: tuple[str, str | None]

    def __init__(self, request: Request, form: RequestForm, request_id: str | None) -> None:
        self._request = request
        self._form = form
        self._request_id = request_id
        self._text = ChunkedText(is_wrapped=is_wrapped(request, form))

    @property
    def text(self) -> str:
        """The text until now."""
        return self._text.known

    @property
    def is_whole(self) -> bool:
        """Whether the server has said that this is all."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether this was the last event of the reply; what comes after it is none of it."""
        return False

    def end(self) -> None:
        """Takes the end of the stream, `[DONE]`, for that of the reply; not every wire does."""

    def add(self, event: Any) -> str:
        """Takes an event, as JSON data; what it adds to the text that is shown."""
        if not is_object(event):
            raise unexpected_answer(str(event).encode(), self._request_id, *self._meant)
        if event.get("error"):
            from runtime_support.providers._refusals import reported_error

            raise reported_error(event["error"], event.get("request_id") or self._request_id)
        return self._take(event)

    def reply(self) -> Reply:
        """The reply that all events make; ProviderError when it is not one."""
        raise NotImplementedError

    def _take(self, event: dict[str, Any], /) -> str:
        raise NotImplementedError


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
