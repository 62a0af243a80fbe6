"""Turns of calls that run ahead, as the rest of the runtime uses them.

A call that `overlap` starts early gets its turn when everything before it, in the script's order,
has ended. Until then its side effects wait:

    in_turn(action)                 runs it now, or at the turn; its result is dropped
    yield from wait_for_turn()      for side effects that cannot be put off; `wait_to_act()` blocks
    check_cancelled()               raises Cancelled in a call whose result is dropped
    note_read(path)                 records a read: an earlier call may still write the file
    note_write(path, True)          records a write, here of a new file: early readers are rerun

Outside of such calls, actions run at once and nothing waits.
"""

from __future__ import annotations

import builtins
import os
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from runtime_support._values.context import current_context, set_context

if TYPE_CHECKING:
    from types import TracebackType

    from runtime_support._core.tasks.queue import Task
    from runtime_support._core.tasks.waits import Steps

# Calls that have read files, maybe ahead of their turn.
_readers: WeakSet[Task] = WeakSet()
_lock = allocate_lock()


# Prints for scripts; `saftc run` sets one that escapes terminal control characters.
print_values: Callable[..., None] = builtins.print


# Asks a person at the terminal about a call that awaits approval; `saftc run` sets it. Takes the
# call and a function that says why a decision is invalid; returns a Decision, or None for later.
ask_person: Callable[[Any, Callable[[Any], str | None]], Any] | None = None


class Cancelled(BaseException):
    """Ends a call that was cancelled."""


def current_task() -> Task | None:
    """Returns the task that runs here; None if no call was begun ahead of its turn."""
    return current_context().task


def runs_in_parallel() -> bool:
    """Whether one of a program's concurrent calls runs here."""
    return current_context().is_beside


def in_turn(action: Callable[[], Any]) -> None:
    """Runs a side effect in the script's order: at the turn of the call that runs here."""
    task = current_task()
    if task is None:
        action()
    else:
        task.put_off(action)


def wait_for_turn() -> Steps[None]:
    """Waits until everything before the call that runs here has ended."""
    task = current_task()
    if task is not None:
        yield from task.wait_for_turn()


def wait_to_act() -> None:
    """Blocks until the turn, before a file is written or input is read.

    Tool calls of one reply do not wait for each other: coroutines among them cannot block here.
    """
    task = current_task()
    while task is not None and task.queue.of_tools:
        task = task.parent
    if task is not None:
        for wait in task.wait_for_turn():
            wait.blocking()


def note_read(path: str, *, is_pattern: bool = False) -> None:
    """Records a read before it happens, so that an earlier write reruns the calls around it.

    `path` is a file, or if it `is_pattern`, a folder whose file names are listed at any depth.
    """
    task = current_task()
    while task is not None:
        if not task.queue.of_tools:
            with _lock:
                task.reads.add((path, is_pattern))
                _readers.add(task)
        task = task.parent


def note_write(path: str, is_new: bool) -> None:
    """Marks calls for a rerun that read this file before their turn; `path` has no symlinks."""
    with _lock:
        for task in _readers:
            if not task.has_turn and any(_concerns(path, is_new, *read) for read in task.reads):
                task.is_stale = True


def waited_here() -> float:
    """Returns how many seconds requests from here have waited before they were sent."""
    return current_context().waited


def note_wait(seconds: float) -> None:
    """Adds to the time that requests from here have waited."""
    set_context(waited=waited_here() + seconds)


class Clock:
    """Measures the time of some work, except while a part of it waits to send its request."""

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
    """Returns the clock of the work that runs here; a `with` block stops it."""
    return current_context().clock or Clock()


def is_abandoned() -> bool:
    """Whether the event loop or job that started this thread has stopped waiting for it."""
    return any(one.is_set() for one in current_context().abandoned)


def check_cancelled() -> None:
    """Raises Cancelled if the result of this call is dropped. Never waits."""
    task = current_task()
    if is_abandoned() or (task is not None and task.is_cancelled()):
        raise Cancelled


def wait_while_held() -> Steps[None]:
    """Waits until a failed earlier call is raised or rerun; raises Cancelled.

    Do not call this while holding what others need, such as a request slot.
    """
    check_cancelled()
    task = current_task()
    if task is not None:
        yield from task.wait_while_held()


def forget() -> None:
    """Resets the state after a fork: a thread that is gone may have held the lock."""
    global _lock
    _lock = allocate_lock()
    _readers.clear()


def _concerns(path: str, is_new: bool, read: str, is_pattern: bool) -> bool:
    if not is_pattern:
        return path == read
    return is_new and path.startswith(os.path.join(os.path.realpath(read), ""))
