"""Events of prompts, for listeners and for readers of streamed replies.

    remove = add_listener(on_event)      calls on_event(CallEnded(...)) when and where a call ends
    listen(listener_for)                 asks listener_for(prompt) for each prompt's listener
    for event in reply.events(): ...     the events of one streamed reply, as data

Each event of a listener has an `id`, the id of its `parent`, and the start time `began`. The event
of an end also has the duration in `seconds`. A listener changes nothing, but may add a context
manager inside which a call's function runs (`call.contexts`). A listener that fails is reported
once, and the prompt continues.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from runtime_support._core.hooks import Hook, RequestedCall, ids
from runtime_support._core.notes import note_once
from runtime_support._core.reader.replies import sent_arguments
from runtime_support._core.redaction import redacted
from runtime_support._core.tasks.turns import waited_here
from runtime_support._core.tasks.waits import Steps, StreamClosed, drive
from runtime_support._values.json_text import to_json
from runtime_support.errors import ProviderError, ReplayMiss, SaftError

if TYPE_CHECKING:
    from runtime_support._core.hooks import AnswerPrompt, MakeCall, PromptRun, SendRequest
    from runtime_support._core.messages import Reply, ReplyStream, Request, ToolRequest
    from runtime_support._core.results import Answer, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEvent:
    """An event of a prompt. `began` is in seconds since the epoch."""

    prompt: PromptRun
    id: int
    parent: int | None
    began: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptStarted(PromptEvent):
    """A prompt starts.

    If the prompt runs inside a tool call, `parent` is the id of this call. If it runs inside a
    program, `parent` is the id of the prompt that asked for the program.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent(PromptEvent):
    """A request is sent."""

    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReceived(PromptEvent):
    """A chunk of a streamed reply has arrived."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived(PromptEvent):
    """A request has its reply, or has failed with `error`.

    `waited` is the number of seconds that the request waited before it was sent.
    """

    reply: Reply | None = None
    error: SaftError | ReplayMiss | None = None
    waited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(PromptEvent):
    """A tool call, or a call in a program, begins."""

    call: RequestedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(PromptEvent):
    """A call has ended with a `result`, or with an `error` that also ended the prompt."""

    call: RequestedCall
    result: ToolCall | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDecided(PromptEvent):
    """A call that waited for approval was approved or denied: see `call.approval.decision`."""

    call: RequestedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEnded(PromptEvent):
    """A prompt has its answer, or has failed with `error`."""

    error: BaseException | None = None


Listener: TypeAlias = Callable[[Any], object]

# Functions that return the listener of a prompt, or None.
_makers: tuple[Callable[[PromptRun], Listener | None], ...] = ()
_lock = threading.Lock()


def listen(listener_for: Callable[[PromptRun], Listener | None]) -> Callable[[], None]:
    """Calls `listener_for` for every prompt from now on. Returns a function that ends this.

    If `listener_for` returns a listener, the listener is called for each event of the prompt.
    """
    global _makers
    with _lock:
        _makers = (*_makers, listener_for)

    def remove() -> None:
        global _makers
        with _lock:
            _makers = tuple(one for one in _makers if one is not listener_for)

    return remove


def add_listener(on_event: Listener) -> Callable[[], None]:
    """Calls `on_event(event)` for every event of the prompts that begin from now on.

    Returns a function that removes the listener. `on_event` is called at once, in the thread or
    task of the event, and several threads may call it concurrently. Events are not redacted: remove
    secrets before you show or store them.
    """
    return listen(lambda _: on_event)


def emit(event: PromptEvent) -> None:
    """Sends an event to all listeners of its prompt."""
    for listener in event.prompt.listeners:
        try:
            listener(event)
        except Exception as error:
            note_trouble(getattr(listener, "__qualname__", type(listener).__qualname__), error)


def note_trouble(name: str, error: Exception) -> None:
    """Reports a listener's failure on standard error. Reports only one failure for each `name`."""
    note_once(name, f"{name}: {type(error).__name__}: {error}")


class WatchHook(Hook):
    """Sends the events of one prompt.

    It is the outermost hook, so that its events have the replies that the prompt receives.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Steps[Answer]:
        """Sends an event when the prompt begins, and another event when it ends."""
        parent = None if prompt.caller is None else _told_as(prompt.caller)
        about: dict[str, Any] = {"prompt": prompt, "id": prompt.id, "parent": parent}
        began, started = time.time(), time.perf_counter()
        emit(PromptStarted(began=began, **about))
        error = None
        try:
            return (yield from proceed(prompt))
        except BaseException as failure:
            error = failure
            raise
        finally:
            seconds = time.perf_counter() - started
            emit(PromptEnded(began=began, seconds=seconds, error=error, **about))

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Sends events for the request, for the chunks of a streamed reply, and for its end."""
        prompt = self._prompt
        prompt.request_id = next(ids)
        about = _of_request(prompt)
        began, started, waited = time.time(), time.perf_counter(), waited_here()

        def end(**outcome: Any) -> None:
            seconds = time.perf_counter() - started
            waiting = waited_here() - waited
            emit(ReplyReceived(began=began, seconds=seconds, waited=waiting, **about, **outcome))

        emit(RequestSent(began=began, request=request, **about))
        replying = proceed(request)
        if request.pieces is not None:
            replying = drive(replying, partial(_emit_piece, prompt))
        try:
            reply = yield from replying
        except (SaftError, ReplayMiss) as error:
            end(error=error)
            raise
        except StreamClosed:
            end(error=ProviderError("the stream was closed before the reply was complete"))
            raise
        end(reply=reply)
        return reply

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Steps[Any]:
        """Sends an event when the call begins, and another event when it ends."""
        if (
            call.prompt is None
            or call.kind == "program"
            or (call.approval is not None and call.approval.is_put_off)
        ):
            return (yield from proceed(call))
        begin_call(call)
        try:
            result: ToolCall = yield from proceed(call)
        except BaseException as error:
            end_call(call, error=error)
            raise
        end_call(call, result)
        return result


def hook_for(prompt: PromptRun) -> WatchHook | None:
    """Returns the hook that sends a prompt's events, or None if the prompt has no listeners."""
    prompt.listeners = [one for make in _makers if (one := make(prompt)) is not None]
    return WatchHook(prompt) if prompt.listeners else None


def _emit_piece(prompt: PromptRun, step: Any) -> Steps[Any]:
    if isinstance(step, str):
        emit_piece(prompt, step)
    return (yield step)


def emit_piece(prompt: PromptRun, text: str) -> None:
    """Sends an event for a chunk of the current request's reply."""
    emit(ChunkReceived(began=time.time(), text=text, **_of_request(prompt)))


def begin_call(call: RequestedCall) -> None:
    """Sends the event of a call's beginning."""
    call.began = time.time()
    emit(CallStarted(call=call, began=call.began, **_of(call)))


def end_call(
    call: RequestedCall, result: ToolCall | None = None, error: BaseException | None = None
) -> None:
    """Sends the event of a call's end."""
    about = _of(call)
    about["seconds"] = time.time() - call.began if result is None else result.duration / 1000
    emit(CallEnded(call=call, began=call.began, result=result, error=error, **about))


def emit_decision(call: RequestedCall) -> None:
    """Sends the event of a decision: a call was approved or denied."""
    if call.prompt is not None:
        emit(CallDecided(call=call, began=time.time(), **_of(call)))


def _of_request(prompt: PromptRun) -> dict[str, Any]:
    return {"prompt": prompt, "id": prompt.request_id, "parent": prompt.id}


def _of(call: RequestedCall) -> dict[str, Any]:
    assert call.prompt is not None
    return {"prompt": call.prompt, "id": call.id, "parent": call.prompt.id}


def _told_as(call: RequestedCall) -> int:
    """Returns the `parent` of the prompts that run inside a call.

    This is the id of a tool call, or of the prompt that asked for a program.
    """
    return call.prompt.id if call.kind == "program" and call.prompt is not None else call.id


@dataclass(frozen=True, slots=True)
class ReplyEvent:
    """An event of a streamed reply. Its class is one of the subclasses below."""

    kind: ClassVar[str]

    def sse(self) -> str:
        """Returns the text of a server-sent event, for a response of type `text/event-stream`.

        The name of the event is `kind`. Its data are the fields as JSON, without known secrets.
        """
        data = {one.name: getattr(self, one.name) for one in fields(self)}
        return f"event: {self.kind}\ndata: {redacted(to_json(data))}\n\n"


@dataclass(frozen=True, slots=True)
class TextPiece(ReplyEvent):
    """A piece of the text has arrived. It is the same piece that `pieces` yields."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted(ReplyEvent):
    """A tool call begins. `number` counts the calls of the reply from 1.

    `args` maps names to arguments, as the model sent them. If the arguments are unreadable, `args`
    is their text.
    """

    kind: ClassVar[str] = "tool_started"
    number: int
    tool: str
    args: Any


@dataclass(frozen=True, slots=True)
class ToolEnded(ReplyEvent):
    """The call with this number has ended, with the `result` or the `error` that the model gets."""

    kind: ClassVar[str] = "tool_ended"
    number: int
    tool: str
    result: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class ReplyEnded(ReplyEvent):
    """The reply is complete. The result's `value`, `messages` and `usage` are now available."""

    kind: ClassVar[str] = "done"
    finish: str


class EventParts:
    """Converts the parts of a reply's value to events. Omits parts that are not text."""

    def __init__(self, parts: Any) -> None:
        self.begin = parts.begin
        self._parts = parts
        self._started = self._ended = 0

    def feed(self, text: str) -> Iterator[TextPiece]:
        """Yields an event for each piece of text that this chunk completes."""
        return self._pieces(self._parts.feed(text))

    def before_calls(self, text: str) -> Iterator[TextPiece]:
        """Yields an event for the rest of a text that is followed by tool calls."""
        return self._pieces(self._parts.before_calls(text))

    def rest(self, value: Any) -> Iterator[TextPiece]:
        """Yields an event for the rest of the whole text."""
        return self._pieces(self._parts.rest(value))

    def start_call(self, wanted: ToolRequest) -> ToolStarted:
        """Returns the event of a call's beginning."""
        self._started += 1
        return ToolStarted(self._started, wanted.name, sent_arguments(wanted.arguments))

    def end_call(self, call: ToolCall) -> ToolEnded:
        """Returns the event of a call's end. Calls end in the order in which they began."""
        self._ended += 1
        return ToolEnded(self._ended, call.tool, call.result, call.error)

    def end(self, answer: Answer) -> ReplyEnded:
        """Returns the event of the reply's end."""
        return ReplyEnded(answer.finish)

    def _pieces(self, parts: Iterator[Any]) -> Iterator[TextPiece]:
        if self._parts.kind is str:
            yield from map(TextPiece, parts)


def events_of(answer: Answer) -> Iterator[ReplyEvent]:
    """Yields the events of a complete answer: for its calls, its whole text, and its end."""
    for number, call in enumerate(answer.tool_calls, 1):
        yield ToolStarted(number, call.tool, call.args)
        yield ToolEnded(number, call.tool, call.result, call.error)
    if isinstance(answer.value, str):
        yield TextPiece(answer.value)
    yield ReplyEnded(answer.finish)
