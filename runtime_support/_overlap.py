"""Runs calls concurrently, with the results and effects of sequential calls.

    tickets = list(overlap(triage, mails))            map(triage, mails), several at once

    for mail, verdict in overlap(ask_path, paths):    ask_path runs ahead for the next paths
        print(mail, verdict)                          in order, one after the other

    summary, title = together(                        sends both prompts at once
        later(prompt, "Sum up {text}.", text=text),
        later(prompt, "Give {text} a title.", text=text),
    )

In an event loop, the same functions have `aio` forms, whose calls are awaited in tasks:

    tickets = await overlap.aio(triage, mails)
    async for mail, verdict in overlap.aio(ask_path, paths):
    summary, title = await together.aio(later(prompt.aio, ...), later(prompt.aio, ...))

If a call runs ahead, its output and writes are delayed until its turn, and its error is raised
then. After an error, later calls send no more requests. `max_in_flight` limits the requests of all
calls together. Calls run sequentially, in the caller's thread or task,
- if `max_in_flight` is 1, under a debugger, or if the provider must be called in order,
- inside the concurrent calls of a program, which already use all of `max_in_flight`,
- in an event loop without `aio`.
"""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Sized,
)
from types import FrameType, TracebackType
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from runtime_support._core.hooks import PromptRun
from runtime_support._core.positions.frames import context_of_call, run_in_thread_context
from runtime_support._core.results import Result
from runtime_support._core.settings import settings_for
from runtime_support._core.tasks import turns
from runtime_support._core.tasks.loops import finish_async
from runtime_support._core.tasks.queue import TaskQueue
from runtime_support._core.tasks.turns import current_task, in_turn, runs_in_parallel
from runtime_support._core.tasks.waits import finish
from runtime_support._core.tasks.workers import running_loop
from runtime_support._values.kinds import plain
from runtime_support.errors import SaftError

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
T = TypeVar("T")
P = ParamSpec("P")

# Calls nested more deeply than this run sequentially, so that endless recursion still fails.
DEEPEST = 64
# How many calls may start ahead, as a multiple of `max_in_flight`.
AHEAD = 2


class _Lookahead:
    """Starts calls for the next items before their turn, unless `queue` is None."""

    def __init__(
        self, function: Callable[[Any], Any], items: Iterable[Any], *, is_async: bool = False
    ) -> None:
        calls = len(items) if isinstance(items, Sized) else None
        most = _most_at_once(calls, is_async=is_async)
        self.function = function
        self.items = iter(items)
        self.queue = TaskQueue(most, calls) if most > 1 else None
        # Items without a length may be endless.
        self._has_end = calls is not None
        self._error: BaseException | None = None
        self._is_over = False

    def __del__(self) -> None:
        # The loop was left early.
        queue = getattr(self, "queue", None)
        if queue is not None and queue.tasks:
            queue.give_up()

    def begin_more(self, queue: TaskQueue) -> bool:
        """Starts more calls if the number of items is known. Returns False if no call is left."""
        if self._has_end:
            self._begin(queue)
        return bool(queue.tasks)

    def look_ahead(self, queue: TaskQueue) -> bool:
        """Starts calls for the next items. Returns False if no call is left.

        If the iterator of items fails, its error is raised after all earlier calls were taken.
        """
        self._begin(queue)
        error = self._error
        if error is None or queue.tasks:
            return bool(queue.tasks)
        self._error = None
        raise error

    def _begin(self, queue: TaskQueue) -> None:
        """Starts calls for the next items, while there is room in the queue.

        After the first new call, stops as soon as the oldest call in the queue has ended.
        """
        begun = 0
        while not self._is_over and len(queue.tasks) < AHEAD * queue.most and not queue.failed:
            if begun and queue.tasks[0].state == "done":
                break
            try:
                item = next(self.items)
            except StopIteration:
                self._is_over = True
            except BaseException as error:  # raised when its turn comes
                self._is_over = True
                self._error = error
            else:
                queue.begin(_DelayedCall(self.function, (item,), {}), context_of_call())
                begun += 1


class Overlap(Iterator[B]):
    """Iterates over a function's results for some items, in order; see `overlap`."""

    def __init__(self, function: Callable[[Any], B], items: Iterable[Any]) -> None:
        self._ahead = _Lookahead(function, items)

    def __iter__(self) -> Overlap[B]:
        return self

    def __next__(self) -> B:
        ahead = self._ahead
        if ahead.queue is None:
            item = next(ahead.items)
            try:
                return ahead.function(item)
            except StopIteration as error:  # otherwise it would end the loop silently
                raise RuntimeError("a function raised StopIteration") from error
        if ahead.look_ahead(ahead.queue):
            return finish(ahead.queue.take(ahead.begin_more))
        raise StopIteration

    def run(self) -> None:
        """Runs all calls and drops their results."""
        for _ in self:
            pass


class AsyncOverlap(AsyncIterator[B]):
    """The results of `overlap.aio` in an event loop.

    Loop over them with `async for`, or await this object for a list of all results.
    """

    def __init__(self, function: Callable[[Any], Awaitable[B]], items: Iterable[Any]) -> None:
        self._ahead = _Lookahead(function, items, is_async=True)

    def __aiter__(self) -> AsyncOverlap[B]:
        return self

    async def __anext__(self) -> B:
        ahead = self._ahead
        if ahead.queue is None:
            try:
                item = next(ahead.items)
            except StopIteration:
                raise StopAsyncIteration from None
            try:
                return await ahead.function(item)
            except StopAsyncIteration as error:  # otherwise it would end the loop silently
                raise RuntimeError("a function raised StopAsyncIteration") from error
        if ahead.look_ahead(ahead.queue):
            return await _take(ahead.queue, ahead.begin_more)
        raise StopAsyncIteration

    def __await__(self) -> Generator[Any, Any, list[B]]:
        return self._all().__await__()

    async def _all(self) -> list[B]:
        return [one async for one in self]


async def _take(
    queue: TaskQueue, begin_more: Callable[[TaskQueue], bool] | None = None
) -> Any:
    """Awaits the next call and returns its value.

    If the call fails, the calls behind it are cancelled, and `_take` waits until they have ended.
    """
    try:
        return await finish_async(queue.take(begin_more))
    except BaseException:
        await queue.ended()
        raise


class _DelayedCall(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.names)


class _OverlapFunction:
    """Calls a function for several items concurrently. `overlap` is the only instance.

        for greeting in overlap(greet, ["Ada", "Grace"]):
            print(greeting)

    Does the same as `map(function, items)`: results, output, errors and writes to files come in the
    order of the items. At most `max_in_flight` requests run at once. `overlap.aio` is the same for
    functions that are `async def`, in an event loop.
    """

    def __call__(self, function: Callable[[A], B], items: Iterable[A]) -> Overlap[B]:
        """Returns an iterator of `function(item)` for each item, in order. Calls run concurrently.

        At most twice `max_in_flight` items are read ahead. The first error in the order of the
        items is raised. After an error no further call starts.
        """
        return Overlap(function, items)

    def aio(self, function: Callable[[A], Awaitable[B]], items: Iterable[A]) -> AsyncOverlap[B]:
        """Calls an `async def` function for each item, in tasks of the event loop.

        Loop over the results with `async for`, or await this call for a list of them. If a call of
        the function fails or the caller's task is cancelled, the calls after it are cancelled.
        """
        return AsyncOverlap(function, items)


overlap: _OverlapFunction = _OverlapFunction()


class Later(Generic[T]):
    """A call that `together` will make; see `later`."""

    def __init__(self, call: _DelayedCall, frame: FrameType) -> None:
        self.call = call
        self.context = context_of_call()
        self._origin = frame, frame.f_lasti, frame.f_lineno

    def traced(self, error: BaseException) -> BaseException:
        """Returns the error, with the line of this call of `later` in its traceback."""
        return error.with_traceback(TracebackType(error.__traceback__, *self._origin))


@overload
def later(
    function: Callable[P, Coroutine[Any, Any, Result[T]]], /, *arguments: P.args, **names: P.kwargs
) -> Later[Awaitable[T]]: ...
@overload
def later(
    function: Callable[P, Coroutine[Any, Any, T]], /, *arguments: P.args, **names: P.kwargs
) -> Later[Awaitable[T]]: ...
@overload
def later(
    function: Callable[P, Result[T]], /, *arguments: P.args, **names: P.kwargs
) -> Later[T]: ...
@overload
def later(function: Callable[P, T], /, *arguments: P.args, **names: P.kwargs) -> Later[T]: ...
def later(function: Callable[..., Any], /, *arguments: Any, **names: Any) -> Later[Any]:
    """Describes a call for `together`: `later(f, 1, x=2)` describes the call `f(1, x=2)`."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    return Later(_DelayedCall(function, arguments, names), frame)


# Not of coroutines: mypy takes the first of several overloads only if no argument has an `Any`.
Awaited: TypeAlias = "Later[Awaitable[T]]"


class _TogetherFunction:
    """Makes a few calls concurrently, and returns their values. `together` is the only instance.

        total, name = together(later(prompt, "Add 2 and 3.", returns=int), later(greet, "Ada"))

    Has the results and effects of sequential calls, like `overlap`. `together.aio` awaits calls of
    `async def` functions in an event loop.
    """

    @overload
    def __call__(self, a: Later[A], b: Later[B], /) -> tuple[A, B]: ...
    @overload
    def __call__(self, a: Later[A], b: Later[B], c: Later[C], /) -> tuple[A, B, C]: ...
    @overload
    def __call__(
        self, a: Later[A], b: Later[B], c: Later[C], d: Later[D], /
    ) -> tuple[A, B, C, D]: ...
    @overload
    def __call__(
        self, a: Later[A], b: Later[B], c: Later[C], d: Later[D], e: Later[E], /
    ) -> tuple[A, B, C, D, E]: ...
    @overload
    def __call__(
        self, a: Later[A], b: Later[B], c: Later[C], d: Later[D], e: Later[E], f: Later[F], /
    ) -> tuple[A, B, C, D, E, F]: ...
    @overload
    def __call__(
        self,
        a: Later[A],
        b: Later[B],
        c: Later[C],
        d: Later[D],
        e: Later[E],
        f: Later[F],
        g: Later[G],
        /,
    ) -> tuple[A, B, C, D, E, F, G]: ...
    @overload
    def __call__(
        self,
        a: Later[A],
        b: Later[B],
        c: Later[C],
        d: Later[D],
        e: Later[E],
        f: Later[F],
        g: Later[G],
        h: Later[H],
        /,
    ) -> tuple[A, B, C, D, E, F, G, H]: ...
    @overload
    def __call__(self, *calls: Later[Any]) -> tuple[Any, ...]: ...
    def __call__(self, *calls: Later[Any]) -> tuple[Any, ...]:
        """Makes these calls concurrently and returns their values.

        If a call returns a Result, its value is the value of the Result. If calls fail, raises the
        error of the first of them in the order of `calls`.
        """
        most = _most_at_once(len(calls))
        queue = _begun(calls, most)
        values: list[Any] = []
        for one in calls:
            try:
                value = (
                    finish(queue.take())
                    if queue
                    else one.context.run(run_in_thread_context, one.call)
                )
            except BaseException as error:
                one.traced(error)
                raise
            values.append(plain(value))
        return tuple(values)

    @overload
    async def aio(self, a: Awaited[A], b: Awaited[B], /) -> tuple[A, B]: ...
    @overload
    async def aio(self, a: Awaited[A], b: Awaited[B], c: Awaited[C], /) -> tuple[A, B, C]: ...
    @overload
    async def aio(
        self, a: Awaited[A], b: Awaited[B], c: Awaited[C], d: Awaited[D], /
    ) -> tuple[A, B, C, D]: ...
    @overload
    async def aio(
        self, a: Awaited[A], b: Awaited[B], c: Awaited[C], d: Awaited[D], e: Awaited[E], /
    ) -> tuple[A, B, C, D, E]: ...
    @overload
    async def aio(
        self,
        a: Awaited[A],
        b: Awaited[B],
        c: Awaited[C],
        d: Awaited[D],
        e: Awaited[E],
        f: Awaited[F],
        /,
    ) -> tuple[A, B, C, D, E, F]: ...
    @overload
    async def aio(
        self,
        a: Awaited[A],
        b: Awaited[B],
        c: Awaited[C],
        d: Awaited[D],
        e: Awaited[E],
        f: Awaited[F],
        g: Awaited[G],
        /,
    ) -> tuple[A, B, C, D, E, F, G]: ...
    @overload
    async def aio(
        self,
        a: Awaited[A],
        b: Awaited[B],
        c: Awaited[C],
        d: Awaited[D],
        e: Awaited[E],
        f: Awaited[F],
        g: Awaited[G],
        h: Awaited[H],
        /,
    ) -> tuple[A, B, C, D, E, F, G, H]: ...
    @overload
    async def aio(self, *calls: Later[Any]) -> tuple[Any, ...]: ...
    async def aio(self, *calls: Later[Any]) -> tuple[Any, ...]:
        """Awaits these calls in tasks of the event loop and returns their values."""
        most = _most_at_once(len(calls), is_async=True)
        queue = _begun(calls, most)
        values: list[Any] = []
        for one in calls:
            try:
                if queue is None:
                    value = await one.context.run(run_in_thread_context, one.call)
                else:
                    value = await _take(queue)
            except BaseException as error:
                one.traced(error)
                raise
            values.append(plain(value))
        return tuple(values)


def _begun(calls: Sequence[Later[Any]], most: int) -> TaskQueue | None:
    """Starts these calls in a queue. Returns None if the calls must run sequentially."""
    if most == 1:
        return None
    queue = TaskQueue(most, len(calls))
    for one in calls:
        queue.begin(one.call, one.context)
    return queue


together: _TogetherFunction = _TogetherFunction()


class _Writable(Protocol):
    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...


def print(
    *values: object,
    sep: str | None = " ",
    end: str | None = "\n",
    file: _Writable | None = None,
    flush: bool = False,
) -> None:
    """Prints like Python's `print`. The output of a call that runs ahead waits for its turn."""
    text = io.StringIO()
    builtins.print(*values, sep=sep, end=end, file=text)
    shown = text.getvalue()
    in_turn(lambda: turns.print_values(shown, end="", file=file, flush=flush))


def _most_at_once(calls: int | None, *, is_async: bool = False) -> int:
    """Returns how many calls may run concurrently; `calls` is the number of calls, if known.

    If the result is 1, the calls run sequentially, in the caller's thread or task.
    """
    task = current_task()
    is_deep = task is not None and len(task.path) >= 2 * DEEPEST
    would_block = not is_async and running_loop() is not None
    if is_deep or runs_in_parallel() or _is_debugged() or would_block:
        return 1
    try:
        settings = settings_for()
        first = PromptRun(settings)
        first.ahead = calls if task is None else None
        if first.answers_in_order:
            return 1
    except SaftError:
        return 1  # the first prompt reports the error
    return settings.max_in_flight


def _is_debugged() -> bool:
    monitoring: Any = getattr(sys, "monitoring", None)
    is_monitored = monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID)
    return sys.gettrace() is not None or bool(is_monitored)
