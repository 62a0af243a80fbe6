"""The answer to a streamed prompt, for threads and for event loops."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from runtime_support._core.conversation import Conversation
from runtime_support._core.hooks import load_part
from runtime_support._core.results import (
    Answer,
    AnswerReader,
    PromptOutcome,
    Result,
    of_another_kind,
)
from runtime_support._core.tasks.waits import Steps, finish, iterate
from runtime_support._streaming.chunks import Parts
from runtime_support.errors import CheckError, ReplayMiss

if TYPE_CHECKING:
    from runtime_support.events import EventParts, ReplyEvent

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _StreamedReply(AnswerReader):
    """A reply that is read once, in parts. Later readers get the parts of its whole value."""

    def __init__(self, conversation: Conversation, parts: Parts) -> None:
        self._conversation = conversation
        self._parts = parts
        self._is_begun = False
        self._end: Answer | BaseException | None = None

    def __call__(self) -> Answer:
        """Returns the answer. Raises the prompt's error, or CheckError while parts are missing."""
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:
            raise CheckError("the reply is not complete", hint="loop over all of its pieces first")
        return self._end

    def parts(self, kind: type) -> Any:
        """Returns an iterator over the parts of the value: pieces (`str`) or elements (`list`)."""
        if kind is not self._parts.kind:
            raise of_another_kind(kind)
        return self._read(self._parts, partial(super().parts, kind))

    def drafts(self) -> Any:
        """Returns an iterator over drafts. A later call yields only the whole value."""
        drafts = load_part("drafts").Drafts(self._parts.output)
        return self._read(drafts, lambda: drafts.rest(self().value))

    def events(self) -> Any:
        """Returns an iterator over the reply's events. A later call yields all events at once."""
        from runtime_support.events import EventParts

        events = EventParts(self._parts)
        return self._read(events, super().events, events)

    def steps(self, parts: Any, events: EventParts | None = None) -> Steps[Answer]:
        """Runs the conversation and keeps its answer or its error. Yields the parts."""
        self._is_begun = True
        try:
            answer = self._end = yield from self._conversation.answer(parts, events)
        except (Exception, ReplayMiss) as error:
            self._end = error
            raise
        if events is not None:
            yield events.end(answer)
        return answer

    def _read(
        self, parts: Any, later: Callable[[], Iterator[Any]], events: EventParts | None = None
    ) -> Any:
        """Returns an iterator over the parts as they arrive, or `later()` if reading has begun."""
        raise NotImplementedError


class PromptStream(_StreamedReply):
    """The answer to a streamed prompt. The request is sent when the first part is read."""

    def __call__(self) -> Answer:
        """Returns the answer. Reads the reply first if nobody has begun to read it.

        Raises CheckError if the reply was read only in part.
        """
        if not self._is_begun:
            finish(self.steps(self._parts))
        return super().__call__()

    def _read(
        self, parts: Any, later: Callable[[], Iterator[Any]], events: EventParts | None = None
    ) -> Iterator[Any]:
        def parts_in_turn() -> Iterator[Any]:
            # Another iterator may have started after this one was created.
            yield from later() if self._is_begun else iterate(self.steps(parts, events))

        return later() if self._is_begun else parts_in_turn()


class _AsyncReply(_StreamedReply):
    """A streamed reply in an event loop. Asking for its parts begins to read it."""

    async def whole(self) -> Answer:
        """Returns the answer. Reads the reply first if nobody has begun to read it."""
        from runtime_support._core.tasks.loops import finish_async

        if self._end is None:
            if self._is_begun:
                raise CheckError("this prompt was sent already", hint="keep its pieces")
            await finish_async(self.steps(self._parts))
        return super().__call__()

    def _read(
        self, parts: Any, later: Callable[[], Iterator[Any]], events: EventParts | None = None
    ) -> AsyncGenerator[Any]:
        from runtime_support._core.tasks.loops import iterate_async

        if self._is_begun:
            return _each(later())
        self._is_begun = True
        return iterate_async(self.steps(parts, events))


class AsyncResult(PromptOutcome[T_co]):
    """The result of a prompt with `stream=True`, in an event loop.

    Loop over `.pieces()`, `.items()` or `.drafts()` with `async for`, or await the AsyncResult
    itself for the whole Result. The other properties are available after all parts were read.
    """

    def __init__(self, conversation: Conversation, parts: Parts) -> None:
        self._reply = _AsyncReply(conversation, parts)

    def __await__(self) -> Generator[Any, Any, Result[T_co]]:
        return Result.of((yield from self._reply.whole().__await__()))

    def pieces(self: AsyncResult[str]) -> AsyncGenerator[str]:
        """Yields the text piece by piece as the model writes it.

        Leaving the loop ends the request. A failure is raised at the piece where it happens.
        """
        return self._reply.parts(str)

    def items(self: AsyncResult[list[T]]) -> AsyncGenerator[T]:
        """Yields the elements of a list, each as soon as it is complete and valid."""
        return self._reply.parts(list)

    def drafts(self) -> AsyncGenerator[Any]:
        """Yields drafts as they arrive. A later call yields only the whole value.

        See `Result.drafts`.
        """
        return self._reply.drafts()

    def events(self) -> AsyncGenerator[ReplyEvent]:
        """Yields text pieces and tool calls, then the end of the reply. See `Result.events`."""
        return self._reply.events()

    def _answered(self) -> Answer:
        return self._reply()


async def _each(parts: Iterator[Any]) -> AsyncGenerator[Any]:
    for part in parts:
        yield part
