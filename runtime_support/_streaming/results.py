"""The answer to a prompt that is asked in parts: for a thread, and for an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from typing import Any, Generic, TypeVar

from runtime_support._asking import Asking, answer_async
from runtime_support._effects import iterate, iterate_async
from runtime_support._results import Answer, Arriving, Result, value_parts
from runtime_support._streaming.chunks import Parts
from runtime_support.errors import CheckError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Streamed(Arriving):
    """The answer to a prompt that is asked in parts, when the first of them is wanted."""

    def __init__(self, asked: Asking, parts: Parts) -> None:
        self._asked = asked
        self._parts = parts
        self._is_begun = False
        self._end: Answer | BaseException | None = None

    def __call__(self) -> Answer:
        """The answer; reads it if that has not begun."""
        if not self._is_begun:
            for _ in self._read():
                pass
        if isinstance(self._end, BaseException):
            raise self._end
        if self._end is None:
            raise CheckError("the reply is not complete", hint="go through all of its pieces first")
        return self._end

    def parts(self, kind: type) -> Iterator[Any]:
        """The parts as they come, once; later all of them at once."""
        if kind is not self._parts.kind:
            return value_parts(self._parts.kind(), kind)
        return value_parts(self().value, kind) if self._is_begun else self._read()

    def _read(self) -> Generator[Any]:
        if self._is_begun:  # by somebody else, since this one was asked for
            yield from value_parts(self().value, self._parts.kind)
            return
        self._is_begun = True
        try:
            self._end = yield from iterate(self._asked.answering())
        except Exception as error:
            self._end = error
            raise


class AsyncResult(Generic[T_co]):
    """The result of a prompt that is asked in parts, for an event loop.

    `await` gives the Result, when all of it is there; or else its parts are gone through.
    """

    def __init__(self, asked: Asking, parts: Parts) -> None:
        self._asked = asked
        self._parts = parts
        self._is_begun = False

    def __await__(self) -> Generator[Any, Any, Result[T_co]]:
        return answer_async(self._begun()).__await__()

    def pieces(self: AsyncResult[str]) -> AsyncGenerator[str]:
        """The text piece by piece as the model writes it.

        To go on to something else ends the request. A failure is raised where it happens.
        """
        return self._given(str)

    def items(self: AsyncResult[list[T]]) -> AsyncGenerator[T]:
        """The elements of a list, each as soon as it is complete and valid."""
        return self._given(list)

    def _given(self, kind: type) -> AsyncGenerator[Any]:
        if kind is not self._parts.kind:
            value_parts(self._parts.kind(), kind)
        return iterate_async(self._begun().answering())

    def _begun(self) -> Asking:
        if self._is_begun:
            raise CheckError("this prompt was asked before", hint="keep what it gave")
        self._is_begun = True
        return self._asked
