"""The answer to a streamed prompt, for threads and for event loops."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from runtime_support._core.conversation import Conversation
from runtime_support._core.hooks import load_part
from runtime_support._core.question import answer_async
from runtime_support._core.results import (
    Answer,
    Result,
    StreamedAnswer,
    ToolCall,
    Transcript,
    Usage,
    of_another_kind,
    value_parts,
)
from runtime_support._core.tasks.waits import Steps, iterate
from runtime_support._streaming.chunks import Parts
from runtime_support.errors import CheckError, ReplayMiss

if TYPE_CHECKING:
    from runtime_support.events import EventParts, ReplyEvent

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class PromptStream(StreamedAnswer):
    """The answer to a streamed prompt. The request is sent when the first part is read."""

    def __init__(self, conversation: Conversation, parts: Parts) -> None:
        self._conversation = conversation
        self._parts = parts
        self._is_begun = False
        self._end: Answer | BaseException | None = None

    def __call__(self) -> Answer:
        """Returns the answer. Reads the reply first if nobody has begun to read it.

        Raises CheckError if the reply was read only in part.
        """
        if not self._is_begun:
            for _ in self._read(self._parts, self._whole):
                pass
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:
            raise CheckError("the reply is not complete", hint="loop over all of its pieces first")
        return self._end

    def parts(self, kind: type) -> Iterator[Any]:
        """Yields the parts of the value as they arrive. A later call yields all parts at once.

        `kind` is `str` for pieces of a text, or `list` for elements of a list.
        """
        if kind is not self._parts.kind:
            raise of_another_kind(kind)
        whole = partial(self._parts_of_value, kind)
        return whole() if self._is_begun else self._read(self._parts, whole)

    def drafts(self) -> Iterator[Any]:
        """Yields drafts as they arrive. A later call yields only the whole value."""
        if self._is_begun:
            return self._whole()
        return self._read(load_part("drafts").Drafts(self._parts.output), self._whole)

    def events(self) -> Iterator[ReplyEvent]:
        """Yields the reply's events as they happen. A later call yields all events at once."""
        from runtime_support.events import EventParts, ReplyEnded, events_of

        if self._is_begun:
            yield from events_of(self())
            return
        events = EventParts(self._parts)
        yield from self._read(events, self._whole, events)
        yield ReplyEnded(self().finish)

    def _parts_of_value(self, kind: type) -> Iterator[Any]:
        return value_parts(self().value, kind)

    def _whole(self) -> Iterator[Any]:
        yield from load_part("drafts").of_output(self._parts.output, self().value)

    def _read(
        self, parts: Any, whole: Callable[[], Iterator[Any]], events: EventParts | None = None
    ) -> Generator[Any]:
        if self._is_begun:  # another iterator started after this one was created
            yield from whole()
            return
        self._is_begun = True
        try:
            self._end = yield from iterate(self._conversation.answer(parts, events))
        except (Exception, ReplayMiss) as error:
            self._end = error
            raise


class AsyncResult(Generic[T_co]):
    """The result of a prompt with `stream=True`, in an event loop.

    Loop over `.pieces()`, `.items()` or `.drafts()` with `async for`, or await the AsyncResult
    itself for the whole Result.
    """

    __saft_result__: ClassVar[bool] = True

    def __init__(self, conversation: Conversation, parts: Parts) -> None:
        self._conversation = conversation
        self._parts = parts
        self._is_begun = False
        self._end: Result[T_co] | BaseException | None = None

    def __await__(self) -> Generator[Any, Any, Result[T_co]]:
        if self._end is None:
            self._begin()
            self._end = yield from answer_async(self._conversation).__await__()
        return self._ended()

    def pieces(self: AsyncResult[str]) -> AsyncGenerator[str]:
        """Yields the text piece by piece as the model writes it.

        Leaving the loop ends the request. A failure is raised at the piece where it happens.
        """
        return self._arriving_parts(str)

    def items(self: AsyncResult[list[T]]) -> AsyncGenerator[T]:
        """Yields the elements of a list, each as soon as it is complete and valid."""
        return self._arriving_parts(list)

    def drafts(self) -> AsyncGenerator[Any]:
        """Yields drafts as they arrive. A later call yields only the whole value.

        See `Result.drafts`.
        """
        if self._is_begun:
            of_output = load_part("drafts").of_output
            return _each(of_output(self._parts.output, self._ended().value))
        return self._each_part(load_part("drafts").Drafts(self._parts.output))

    def events(self) -> AsyncGenerator[ReplyEvent]:
        """Yields text pieces and tool calls, then the end of the reply. See `Result.events`."""
        if self._is_begun:
            return _each(self._ended().events())
        from runtime_support.events import EventParts

        events = EventParts(self._parts)
        return self._each_part(events, events)

    @property
    def value(self) -> T_co:
        """The value. This and the properties below are available after all parts were read."""
        return self._ended().value

    @property
    def text(self) -> str:
        """See `Result.text`."""
        return self._ended().text

    @property
    def data(self) -> Any:
        """See `Result.data`."""
        return self._ended().data

    @property
    def messages(self) -> list[dict[str, Any]]:
        """See `Result.messages`."""
        return self._ended().messages

    @property
    def tool_calls(self) -> list[ToolCall]:
        """See `Result.tool_calls`."""
        return self._ended().tool_calls

    @property
    def usage(self) -> Usage:
        """See `Result.usage`."""
        return self._ended().usage

    @property
    def model(self) -> str:
        """See `Result.model`."""
        return self._ended().model

    @property
    def finish(self) -> str:
        """See `Result.finish`."""
        return self._ended().finish

    @property
    def tools(self) -> tuple[tuple[str, Callable[..., Any]], ...]:
        """See `Result.tools`."""
        return self._ended().tools

    @property
    def transcript(self) -> Transcript:
        """See `Result.transcript`."""
        return self._ended().transcript

    def __str__(self) -> str:
        return str(self._ended())

    def _arriving_parts(self, kind: type) -> AsyncGenerator[Any]:
        """Yields the parts of the value as they arrive. A later call yields all parts at once.

        `kind` is `str` for pieces of a text, or `list` for elements of a list.
        """
        if kind is not self._parts.kind:
            raise of_another_kind(kind)
        if self._is_begun:
            return _each(value_parts(self._ended().value, kind))
        return self._each_part(self._parts)

    def _each_part(self, parts: Any, events: EventParts | None = None) -> AsyncGenerator[Any]:
        from runtime_support._core.tasks.loops import iterate_async

        self._begin()
        return iterate_async(self._noted(parts, events))

    def _noted(self, parts: Any, events: EventParts | None) -> Steps[Answer]:
        try:
            answer = yield from self._conversation.answer(parts, events)
        except (Exception, ReplayMiss) as error:
            self._end = error
            raise
        self._end = Result.of(answer)
        if events is not None:
            from runtime_support.events import ReplyEnded

            yield ReplyEnded(answer.finish)
        return answer

    def _ended(self) -> Result[T_co]:
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:
            raise CheckError("the reply is not complete", hint="loop over all of its pieces first")
        return self._end

    def _begin(self) -> None:
        if self._is_begun:
            raise CheckError("this prompt was sent already", hint="keep its pieces")
        self._is_begun = True


async def _each(parts: Iterator[Any]) -> AsyncGenerator[Any]:
    for part in parts:
        yield part
