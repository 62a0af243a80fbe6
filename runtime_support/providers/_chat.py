"""The API `chat`: OpenAI's chat completions, as a `Wire` (`_wires`).

render(request, form)                       ("chat/completions", {"model": ...})
READER(request, form, None).read(b'{"choices": ...}')               Reply("...")
READER(request, form, None).add({"choices": [{"delta": ...}]})      a chunk of a streamed reply
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from runtime_support._core.messages import Message, Origin, Reply, Request, ToolRequest
from runtime_support._values.kinds import is_list, is_object
from runtime_support.providers._bodies import (
    ReplyReader,
    call_of,
    joined,
    object_at,
    sendable_parts,
    tokens,
    with_extra,
    wrap_schema,
)
from runtime_support.providers._history import sendable, with_replies
from runtime_support.providers._wires import RequestForm

NAME = "chat"
LACKS: tuple[str, ...] = ()

# Fields of replies and calls that are sent back. Others are not, as strict servers reject them.
_OF_REPLIES = ("reasoning_details",)
_OF_REPLIES_WITH_CALLS = ("reasoning_details", "reasoning_content", "reasoning")
_OF_CALLS = ("extra_content",)


def render(request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
    """Returns the path and the JSON body of a request."""
    options = form.options(request)
    extra: dict[str, Any] = options.pop("extra_body", {})
    if form.has_new_limit and "max_tokens" in options:
        options["max_completion_tokens"] = options.pop("max_tokens")
    messages = list(_rendered(sendable(request.messages), form.origin))
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


def _rendered(messages: Iterable[Message], origin: Origin) -> Iterator[Message]:
    """Yields the messages as the server receives them.

    Replies from this server are sent back with their opaque parts, which only this server
    understands.
    """
    for message, reply in with_replies(messages, origin):
        if reply is None:
            yield message
            continue
        calls = [
            {**call, **(asked.opaque or {})}
            for call, asked in zip(message.get("tool_calls", ()), reply.tool_calls, strict=True)
        ]
        yield {**message, **(reply.opaque or {}), **({"tool_calls": calls} if calls else {})}


class ChatReader(ReplyReader):
    """Reads a chat completion, as one body or as a stream of chunks."""

    meant = ("a chat completion", None)

    def __init__(self, request: Request, form: RequestForm, request_id: str | None) -> None:
        super().__init__(request, form, request_id)
        self._body: dict[str, Any] = {}
        self._refusals: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._call_at: dict[Any, dict[str, Any]] = {}
        self._thoughts: dict[str, list[str]] = {}
        self._details: list[list[Any]] | None = None
        self._finish: Any = None

    @property
    def is_whole(self) -> bool:
        """True if the server has sent a finish reason."""
        return self._finish is not None

    def end(self) -> None:
        """Marks a reply without a finish reason as complete.

        A reply with calls stays incomplete, as their arguments may be cut off.
        """
        if not self._calls:
            self._finish = "[DONE]"

    def _take(self, chunk: dict[str, Any], /) -> str:
        self._body.update({key: chunk[key] for key in ("model", "usage") if chunk.get(key)})
        choice = _first_choice(chunk)
        self._finish = choice.get("finish_reason") or self._finish
        # Some servers send the whole message in one chunk.
        delta = object_at(choice, "delta") or object_at(choice, "message")
        if delta.get("refusal"):
            self._refusals.append(str(delta["refusal"]))
        self._add_calls(delta.get("tool_calls"))
        self._add_thoughts(delta)
        return self._text.add(_text_of(delta.get("content")))

    def _is_meant(self, body: dict[str, Any]) -> bool:
        choice = _first_choice(body)
        if not choice and "choices" in body:
            raise ValueError("it has no choice")
        return is_object(choice.get("message"))

    def _whole(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "content": self._text.whole,
            "refusal": "".join(self._refusals),
            "tool_calls": self._calls,
            "reasoning_details": self._details and list(map(_whole_detail, self._details)),
            **{name: joined(pieces) for name, pieces in self._thoughts.items()},
        }
        return {**self._body, "choices": [{"finish_reason": self._finish, "message": message}]}

    def _reply(self, body: dict[str, Any]) -> Reply:
        choice = _first_choice(body)
        if is_object(choice.get("error")):
            raise self._reported(choice["error"])
        if choice.get("finish_reason") == "error":
            raise ValueError("the server stopped in the middle of it")
        message, finish = choice["message"], str(choice.get("finish_reason") or "stop")
        refusal, text = message.get("refusal"), _text_of(message.get("content"))
        if refusal:
            finish, text = "refusal", str(refusal)
        calls = _tool_requests(message)
        opaque = sendable_parts(_parts(message, _OF_REPLIES_WITH_CALLS if calls else _OF_REPLIES))
        usage = tokens(object_at(body, "usage"), "prompt", "completion")
        return self._made(body, text, calls, finish, opaque, usage)

    def _add_calls(self, calls: Any) -> None:
        """Adds chunks of tool calls. A tool's name is added once, even if each chunk repeats it."""
        for piece in calls if is_list(calls) else ():
            call = piece if is_object(piece) else {}
            function, key = object_at(call, "function"), call.get("index")
            identity = call.get("id")
            name = function.get("name") or ""
            known = self._known_call(key, identity or None, name)
            own: dict[str, Any] = known or {"id": identity, "function": dict.fromkeys(_TEXTS, "")}
            if known is None:
                self._calls.append(own)
                if isinstance(key, int):
                    self._call_at[key] = own
            own["id"] = own["id"] or identity
            own |= _parts(call, _OF_CALLS)
            text = own["function"]
            text["name"] += "" if name == text["name"] else str(name)
            arguments = function.get("arguments")
            if arguments is not None and not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            text["arguments"] += arguments or ""

    def _known_call(self, key: Any, identity: Any, name: Any) -> dict[str, Any] | None:
        """Returns the call that a chunk continues, or None if the chunk starts a call.

        The chunks of a call share an index, or else an id. A chunk without index, id and name
        continues the last call. As Gemini gives all calls of a reply the same index, a name with a
        new id starts a call.
        """
        if isinstance(key, int):
            known = self._call_at.get(key)
            differs = known is not None and name and _differ(identity, known["id"] or None)
            return None if differs else known
        if identity is not None:
            return next((one for one in self._calls if one["id"] == identity), None)
        return self._calls[-1] if self._calls and not name else None

    def _add_thoughts(self, delta: dict[str, Any]) -> None:
        """Adds reasoning, which arrives as text, as `reasoning_details`, or as both."""
        for name, value in _parts(delta, _OF_REPLIES_WITH_CALLS).items():
            if is_list(value):
                self._details = self._details or []
                for piece in value:
                    if self._details and _goes_on(self._details[-1], piece):
                        self._details[-1].append(piece)
                    else:
                        self._details.append([piece])
            elif isinstance(value, str):
                self._thoughts.setdefault(name, []).append(value)


_TEXTS = ("name", "arguments")

# The types of reasoning details that arrive in chunks, each with the field to concatenate.
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}


def _goes_on(pieces: list[Any], piece: Any) -> bool:
    """True if the chunk `piece` continues the reasoning detail made of the chunks `pieces`.

    An equal index proves nothing, as the index may be 0 in all chunks. A signature ends the text of
    a detail: a chunk after it continues the detail only if the chunk has no text.
    """
    first, last = pieces[0], pieces[-1]
    field = _GROWING.get(str(first.get("type") if is_object(first) else None))
    if field is None or not is_object(piece) or not isinstance(piece.get(field), str | None):
        return False
    names = ("type", "index", "id")
    if any(_differ(piece.get(name), one.get(name)) for one in (first, last) for name in names):
        return False
    return not (last.get("signature") and piece.get(field))


def _whole_detail(pieces: list[Any]) -> Any:
    """Joins the chunks of one reasoning detail."""
    if len(pieces) == 1:
        return pieces[0]
    parts = {n: part for one in reversed(pieces) for n, part in one.items() if part is not None}
    field = _GROWING[parts["type"]]
    return {**parts, field: joined([one[field] for one in pieces if one.get(field)])}


def _differ(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one != other


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    return choices[0] if is_list(choices) and choices and is_object(choices[0]) else {}


def _parts(data: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the fields with these names that are not null. Empty values are included."""
    return {name: data[name] for name in names if data.get(name) is not None}


def _text_of(content: Any) -> str:
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
            sendable_parts(_parts(call, _OF_CALLS)),
        )
        for function, call in functions
    )


READER = ChatReader
