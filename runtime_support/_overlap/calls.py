"""Calls that run at the same time, and mean what they mean one after the other.

    tickets = list(overlap(triage, mails))            map(triage, mails), several at once

    for mail, verdict in overlap(ask_path, paths):    ask_path runs ahead for the next paths
        print(mail, verdict)                          in order, one after the other

    summary, title = together(                        both are asked at once
        later(prompt, "Sum up {text}.", text=text),
        later(prompt, "Give {text} a title.", text=text),
    )

What a call prints or writes ahead of its turn waits for the turn, and its error is raised there;
what comes after an error is not asked any more. `max_in_flight` bounds the requests of all calls
that run ahead. Where it is 1, under a debugger, in an event loop, and where the provider answers
in order, everything runs one after the other in the thread of the caller; so it does inside calls
of a program that run side by side, which are as many as may be in flight.
"""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, overload

from runtime_support import _order
from runtime_support._order import current, in_turn, is_beside
from runtime_support._overlap.tasks import TaskQueue
from runtime_support._positions import call_from_afar, context_of_call
from runtime_support._results import Result
from runtime_support._settings import settings_for
from runtime_support._values import plain
from runtime_support.errors import SaftError
from runtime_support.providers import PromptCall

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

# Beyond this depth calls run one after the other, so that endless recursion still fails.
DEEPEST = 64
# So many times more than may be in flight are begun before the first is taken.
AHEAD = 2


class Overlap(Iterator[B]):
    """What a function gives for some items, in order; see `overlap`."""

    def __init__(self, function: Callable[[Any], B], items: Iterable[Any]) -> None:
        self._function = function
        self._items = iter(items)
        self._queue: TaskQueue | None = None
        self._error: BaseException | None = None
        self._is_over = False
        most = _most_at_once()
        if most > 1:
            self._queue = TaskQueue(most)

    def __iter__(self) -> Overlap[B]:
        return self

    def __next__(self) -> B:
        queue = self._queue
        if queue is None:
            item = next(self._items)
            return _without_stop(lambda: self._function(item))
        self._look_ahead(queue)
        if queue.tasks:
            return _without_stop(queue.take)
        error, self._error = self._error, None
        raise error or StopIteration

    def __del__(self) -> None:
        # A loop that was left early.
        queue = getattr(self, "_queue", None)
        if queue is not None and queue.tasks:
            queue.give_up()

    def run(self) -> None:
        """Goes through to the end."""
        for _ in self:
            pass

    def _look_ahead(self, queue: TaskQueue) -> None:
        """Begins calls for the next items: at least one, and more while the first is not over."""
        begun = 0
        while not self._is_over and len(queue.tasks) < AHEAD * queue.most and not queue.failed:
            if begun and queue.tasks[0].state == "done":
                break
            try:
                item = next(self._items)
            except StopIteration:
                self._is_over = True
            except BaseException as error:  # to be raised at its turn
                self._is_over = True
                self._error = error
            else:
                queue.begin(_DelayedCall(self._function, (item,), {}), context_of_call())
                begun += 1


class _DelayedCall(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.names)


def _without_stop(call: Callable[[], T]) -> T:
    """What the call gives; that it raises StopIteration does not end the loop."""
    try:
        return call()
    except StopIteration as error:
        raise RuntimeError("a function raised StopIteration") from error


def overlap(function: Callable[[A], B], items: Iterable[A]) -> Overlap[B]:
    """`map(function, items)`, with several calls at once; in order, also what they print.

    Items are read at most twice `max_in_flight` ahead. Raises what the first call raises that
    fails, in the order of the items.
    """
    return Overlap(function, items)


class Later(Generic[T]):
    """A call that `together` makes; see `later`."""

    def __init__(self, call: _DelayedCall, frame: FrameType) -> None:
        self.call = call
        self.context = context_of_call()
        self._origin = frame, frame.f_lasti, frame.f_lineno

    def traced(self, error: BaseException) -> BaseException:
        """The error, with the line of this call as where it came from."""
        return error.with_traceback(TracebackType(error.__traceback__, *self._origin))


@overload
def later(
    function: Callable[P, Result[T]], /, *arguments: P.args, **names: P.kwargs
) -> Later[T]: ...
@overload
def later(function: Callable[P, T], /, *arguments: P.args, **names: P.kwargs) -> Later[T]: ...
def later(function: Callable[..., Any], /, *arguments: Any, **names: Any) -> Later[Any]:
    """A call for `together`."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    return Later(_DelayedCall(function, arguments, names), frame)


@overload
def together(a: Later[A], b: Later[B], /) -> tuple[A, B]: ...
@overload
def together(a: Later[A], b: Later[B], c: Later[C], /) -> tuple[A, B, C]: ...
@overload
def together(a: Later[A], b: Later[B], c: Later[C], d: Later[D], /) -> tuple[A, B, C, D]: ...
@overload
def together(
    a: Later[A], b: Later[B], c: Later[C], d: Later[D], e: Later[E], /
) -> tuple[A, B, C, D, E]: ...
@overload
def together(
    a: Later[A], b: Later[B], c: Later[C], d: Later[D], e: Later[E], f: Later[F], /
) -> tuple[A, B, C, D, E, F]: ...
@overload
def together(
    a: Later[A], b: Later[B], c: Later[C], d: Later[D], e: Later[E], f: Later[F], g: Later[G], /
) -> tuple[A, B, C, D, E, F, G]: ...
@overload
def together(
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
def together(*calls: Later[Any]) -> tuple[Any, ...]: ...
def together(*calls: Later[Any]) -> tuple[Any, ...]:
    """The values of these calls, made at the same time; of a Result, its value.

    Raises what the first of them raises that fails, in this order.
    """
    most = _most_at_once()
    queue = TaskQueue(most)
    if most > 1:
        for one in calls:
            queue.begin(one.call, one.context)
    values: list[Any] = []
    for one in calls:
        try:
            value = queue.take() if most > 1 else one.context.run(call_from_afar, one.call)
        except BaseException as error:
            one.traced(error)
            raise
        values.append(plain(value))
    return tuple(values)


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
    """Python's `print`, in the order of the script."""
    if current.get() is None:
        _order.print_values(*values, sep=sep, end=end, file=file, flush=flush)
        return
    text = io.StringIO()
    builtins.print(*values, sep=sep, end=end, file=text)
    shown = text.getvalue()
    in_turn(lambda: _order.print_values(shown, end="", file=file, flush=flush))


def _most_at_once() -> int:
    """How many calls may run at once here; 1 is one after the other, in the caller's thread."""
    task = current.get()
    is_deep = task is not None and len(task.path) >= 2 * DEEPEST
    if is_deep or is_beside.get() or _is_debugged() or _is_in_loop():
        return 1
    try:
        settings = settings_for()
        if PromptCall(settings).answers_in_order:
            return 1
    except SaftError:
        return 1  # the first prompt says what is wrong
    return settings.max_in_flight


def _is_debugged() -> bool:
    monitoring: Any = getattr(sys, "monitoring", None)
    is_monitored = monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID)
    return sys.gettrace() is not None or bool(is_monitored)


def _is_in_loop() -> bool:
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None
