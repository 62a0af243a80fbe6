"""Turns of calls that run early, for the rest of the runtime.

A call that `overlap` starts early gets its turn when everything before it, in the script's order,
has ended. Until then its side effects wait:

    in_turn(action)                 calls `action` at the turn and drops its result
    yield from wait_for_turn()      waits before a side effect that cannot be put off
    check_cancelled()               raises Cancelled in a call whose result is dropped

Outside of such calls, actions run at once and nothing waits.
"""

from __future__ import annotations

import builtins
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from runtime_support._values.context import current_context, set_context

if TYPE_CHECKING:
    from types import TracebackType

    from runtime_support._core.tasks.queue import Task
    from runtime_support._core.tasks.waits import Steps

# Prints for scripts. `saftc run` sets a function that escapes the terminal's control characters.
print_values: Callable[..., None] = builtins.print


# Asks a person at the terminal about a call that awaits approval. `saftc run` sets this function.
# It takes the call, and a function that says why a decision is invalid. It returns a Decision, or
# None if the person wants to decide later.
ask_person: Callable[[Any, Callable[[Any], str | None]], Any] | None = None


class Cancelled(BaseException):
    """Raised inside a cancelled call to end it."""


def current_task() -> Task | None:
    """Returns the `Task` that runs this code, or None if no task runs it."""
    return current_context().task


def runs_in_parallel() -> bool:
    """Whether this code runs in one of several concurrent calls of a program."""
    return current_context().is_beside


def in_turn(action: Callable[[], Any]) -> None:
    """Runs a side effect in the script's order: at the turn of the current call."""
    task = current_task()
    if task is None:
        action()
    else:
        task.put_off(action)


def wait_for_turn() -> Steps[None]:
    """Waits until everything before the current call has ended."""
    task = current_task()
    if task is not None:
        yield from task.wait_for_turn()


def waited_here() -> float:
    """Returns how many seconds the requests of this context have waited before they were sent."""
    return current_context().waited


def note_wait(seconds: float) -> None:
    """Adds to the time that the requests of this context have waited."""
    set_context(waited=waited_here() + seconds)


class Clock:
    """Measures the time of some work, except while a request of the work waits to be sent."""

    __slots__ = ("_began", "_lock", "_paused", "_waiting")

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._began = self._paused = monotonic()
        self._waiting = 0

    def seconds(self) -> float:
        """Returns the measured time so far, in seconds."""
        with self._lock:
            return (self._paused if self._waiting else monotonic()) - self._began

    def __enter__(self) -> None:
        with self._lock:
            if not self._waiting:
                self._paused = monotonic()
            self._waiting += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                self._began += monotonic() - self._paused


def current_clock() -> Clock:
    """Returns the clock of the current work. The clock stops inside `with current_clock()`."""
    return current_context().clock or Clock()


def is_abandoned() -> bool:
    """Whether the event loop or job that started this thread has stopped waiting for the thread."""
    return any(one.is_set() for one in current_context().abandoned)


def check_cancelled() -> None:
    """Raises Cancelled if the result of the current call will be dropped. Never waits."""
    task = current_task()
    if is_abandoned() or (task is not None and task.is_cancelled()):
        raise Cancelled


def wait_while_held() -> Steps[None]:
    """Waits until the error of a failed earlier call is raised, or that call is rerun.

    Raises Cancelled if the current call is cancelled. Do not call this while holding a request
    slot or a lock, because other calls may need it.
    """
    check_cancelled()
    task = current_task()
    if task is not None:
        yield from task.wait_while_held()
