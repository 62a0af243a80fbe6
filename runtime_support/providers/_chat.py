"""Chat completions on the wire, which is a `Wire` (`_wires`): requests and replies.

render(request, form)                       ("chat/completions", {"model": ...})
read(b'{"choices": ...}', request, form, None)          Reply("...")
gather(request, form, None).add({"choices": [{"delta": ...}]})    a piece of a streamed reply
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

from runtime_support._exchange import Message, Origin, Reply, Request, Said, ToolRequest
from runtime_support._values import is_list, is_object, without_halves
from runtime_support.providers._bodies import (
    Gathering,
    is_wrapped,
    joined,
    object_at,
    read_object,
    sendable_parts,
    tokens,
    unexpected_answer,
    unwrapped,
    with_extra,
    wrap_schema,
)
from runtime_support.providers._history import sendable
from runtime_support.providers._wires import RequestForm

NAME = "chat"
LACKS: tuple[str, ...] = ()

# What goes back of a reply and of a call: strict servers refuse whatever else they do not know.
_OF_REPLIES = ("reasoning_details",)
_OF_REPLIES_WITH_CALLS = ("reasoning_details", "reasoning_content", "reasoning")
_OF_CALLS = ("extra_content",)

# What a reply is here, and what helps where it is something else.
_MEANT = ("a chat completion", None)


def render(request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
    """The path and the body of a request."""
    options = form.options(request)
    extra: dict[str, Any] = options.pop("extra_body", {})
    if form.has_new_limit and "max_tokens" in options:
        options["max_completion_tokens"] = options.pop("max_tokens")
    if "reasoning_effort" in options:
        options["reasoning_effort"] = options.pop("reasoning_effort")
    messages = _rendered(sendable(request.messages), form.origin)
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


def read(content: bytes, request: Request, form: RequestForm, request_id: str | None) -> Reply:
    """The reply in the body of a response; ProviderError when it is not one."""
    body = read_object(content, request_id, *_MEANT)
    choice = _first_choice(body)
    if not choice and "choices" in body:
        raise ValueError("it has no choice")
    message = choice.get("message")
    if not is_object(message):
        raise unexpected_answer(content, request_id, *_MEANT)
    return _reply(body, choice, message, request, form, request_id)


def gather(request: Request, form: RequestForm, request_id: str | None) -> ChatChunks:
    """What takes the chunks of a completion that is streamed."""
    return ChatChunks(request, form, request_id)


def _rendered(messages: Iterable[Message], origin: Origin) -> list[Message]:
    """The messages as this server is sent them.

    What it has said itself has its own ids and opaque parts. Where it gave no id, or gave one twice
    in a reply, there is one of ours.
    """
    sent: list[Message] = []
    own: dict[str, str] = {}  # by our ids, as far as they differ
    for message in messages:
        if isinstance(message, Said) and message.reply.origin == origin:
            message = _as_it_was(message, own)
        elif own and message.get("tool_call_id") in own:
            message = {**message, "tool_call_id": own[message["tool_call_id"]]}
        sent.append(message)
    return sent


def _as_it_was(said: Said, own: dict[str, str]) -> Message:
    """A message with what this server knows of it; notes its ids by ours."""
    reply = said.reply
    message: Message = {**said, **(reply.opaque or {})}
    if reply.tool_calls:
        ids = _own_ids(said["tool_calls"], reply.tool_calls)
        own.update(ids)
        message["tool_calls"] = [
            {**call, "id": ids[call["id"]], **(asked.opaque or {})}
            for call, asked in zip(said["tool_calls"], reply.tool_calls, strict=True)
        ]
    return message


def _own_ids(calls: list[dict[str, Any]], asked: Sequence[ToolRequest]) -> dict[str, str]:
    """The server's ids by ours; of those that it does not give, or gives twice, other ones."""
    theirs = {one.id for one in asked}
    further = (f"call{number:05d}" for number in count(90_001))
    ids: dict[str, str] = {}
    used: set[str] = set()
    for call, one in zip(calls, asked, strict=True):
        own = one.id
        if not own or own in used:
            ours = chain((call["id"],), further)
            own = next(other for other in ours if other not in theirs and other not in used)
        used.add(own)
        ids[call["id"]] = own
    return ids


class ChatChunks(Gathering):
    """The chunks of a completion that is streamed, and the reply that they make."""

    _meant = _MEANT

    def __init__(self, request: Request, form: RequestForm, request_id: str | None) -> None:
        super().__init__(request, form, request_id)
        self._body: dict[str, Any] = {}
        self._refusals: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._call_at: dict[Any, dict[str, Any]] = {}
        self._thoughts: dict[str, list[str]] = {}
        self._details: list[_Detail] | None = None
        self._finish: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether the server has said that this is all."""
        return self._finish is not None

    def end(self) -> None:
        """Takes the text for whole, without a reason, where the server has said no more.

        Of a call, nobody knows whether its arguments are all there.
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

    def reply(self) -> Reply:
        """The reply that all chunks make."""
        message: dict[str, Any] = {
            "content": self._text.whole,
            "refusal": "".join(self._refusals),
            "tool_calls": self._calls,
            "reasoning_details": self._details and [one.whole() for one in self._details],
            **{name: joined(pieces) for name, pieces in self._thoughts.items()},
        }
        choice = {"finish_reason": self._finish}
        return _reply(self._body, choice, message, self._request, self._form, self._request_id)

    def _add_calls(self, calls: Any) -> None:
        """Calls come in pieces. A name that comes in each piece of a call is its name once."""
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
        """The call that a piece goes on with; None where it begins one.

        Pieces of a call have the same index, or else the same id; what has neither of them, and no
        name, goes on with the last call. Gemini gives all calls of a reply the same index: a name
        with another id begins a call.
        """
        if isinstance(key, int):
            known = self._call_at.get(key)
            differs = known is not None and name and _differ(identity, known["id"] or None)
            return None if differs else known
        if identity is not None:
            return next((one for one in self._calls if one["id"] == identity), None)
        return self._calls[-1] if self._calls and not name else None

    def _add_thoughts(self, delta: dict[str, Any]) -> None:
        """What a model thinks comes as text, as details, or as both."""
        for name, value in _parts(delta, _OF_REPLIES_WITH_CALLS).items():
            if is_list(value):
                self._details = self._details or []
                for piece in value:
                    if not (self._details and self._details[-1].takes(piece)):
                        self._details.append(_Detail(piece))
            elif isinstance(value, str):
                self._thoughts.setdefault(name, []).append(value)


_TEXTS = ("name", "arguments")

# The kinds of reasoning details that come in pieces, each with the field that grows.
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}


class _Detail:
    """One of the reasoning details, which may come in pieces."""

    def __init__(self, piece: Any) -> None:
        self._parts = piece
        kind = piece.get("type") if is_object(piece) else None
        self._field = _GROWING.get(kind, "") if isinstance(kind, str) else ""
        self._texts = [piece[self._field]] if isinstance(self._text(piece), str) else []

    def takes(self, piece: Any) -> bool:
        """Takes what goes on with it; False when this is another detail.

        The index alone tells nothing, as it may be 0 in all pieces. A signature ends a text, and
        may come without any.
        """
        if not self._field or not is_object(piece):
            return False
        own, text = self._parts, self._text(piece)
        if any(_differ(piece.get(name), own.get(name)) for name in ("type", "index", "id")):
            return False
        if (own.get("signature") and text) or not isinstance(text, str | None):
            return False
        self._texts += [text] if text else []
        self._parts = {**piece, **{name: part for name, part in own.items() if part is not None}}
        return True

    def whole(self) -> Any:
        """All that came of it."""
        return {**self._parts, self._field: joined(self._texts)} if self._texts else self._parts

    def _text(self, piece: Any) -> Any:
        return piece.get(self._field) if self._field else None


def _differ(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one != other


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    return choices[0] if is_list(choices) and choices and is_object(choices[0]) else {}


def _reply(
    body: dict[str, Any],
    choice: dict[str, Any],
    message: dict[str, Any],
    request: Request,
    form: RequestForm,
    request_id: str | None,
) -> Reply:
    refusal = message.get("refusal")
    finish = "refusal" if refusal else without_halves(str(choice.get("finish_reason") or "stop"))
    if is_object(choice.get("error")):
        from runtime_support.providers._refusals import reported_error

        raise reported_error(choice["error"], request_id)
    if finish == "error":
        raise ValueError("the server stopped in the middle of it")
    text = str(refusal) if refusal else _text_of(message.get("content"))
    calls = _tool_requests(message)
    opaque = sendable_parts(_parts(message, _OF_REPLIES_WITH_CALLS if calls else _OF_REPLIES))
    has_own = opaque or any(call.id or call.opaque for call in calls)
    return Reply(
        text=unwrapped(text) if is_wrapped(request, form) else text,
        tool_calls=calls,
        finish=finish,
        model=without_halves(str(body.get("model") or form.origin.model)),
        **tokens(object_at(body, "usage"), "prompt", "completion"),
        opaque=opaque,
        origin=form.origin if has_own else None,
    )


def _parts(data: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The parts of these names that are there; what is empty is there, null is not."""
    return {name: data[name] for name in names if data.get(name) is not None}


def _text_of(content: Any) -> str:
    """The text of a message, which some servers send in parts, and others as JSON data."""
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
    if not is_list(calls):
        return ()
    requests: list[ToolRequest] = []
    for call in calls:
        function = call.get("function") if is_object(call) else None
        if not is_object(function):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):  # some servers send them parsed
            arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
        name = without_halves(str(function.get("name") or ""))
        identity = call.get("id")
        if not isinstance(identity, str) or identity != without_halves(identity):
            identity = ""
        own = sendable_parts(_parts(call, _OF_CALLS))
        requests.append(ToolRequest(name, arguments, identity, own))
    return tuple(requests)
