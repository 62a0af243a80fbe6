"""Turns of calls that run early, for the rest of the runtime.

A call that `overlap` starts early gets its turn when everything before it, in the script's order,
has ended. Until then its side effects wait:

    in_turn(action)                 calls `action` at the turn and drops its result
    yield from wait_for_turn()      waits before a side effect that cannot be put off
    wait_to_act()                   does the same, and blocks the thread
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


def wait_to_act() -> None:
    """Blocks until the current call has its turn, for example before it writes a file.

    Tool calls of one reply do not wait for each other here, because some may be coroutines, which
    cannot block.
    """
    task = current_task()
    while task is not None and task.queue.of_tools:
        task = task.parent
    if task is not None:
        for wait in task.wait_for_turn():
            wait.blocking()


def note_read(path: str, *, is_pattern: bool = False) -> None:
    """Records that the current call, and the calls that contain it, are about to read a file.

    If an earlier call then writes the file, these calls are rerun. `path` is a file. If
    `is_pattern`, it is a folder whose file names are listed at any depth.
    """
    task = current_task()
    while task is not None:
        if not task.queue.of_tools:
            with _lock:
                task.reads.add((path, is_pattern))
                _readers.add(task)
        task = task.parent


def note_write(path: str, is_new: bool) -> None:
    """Marks each call that read this file before its turn for a rerun.

    If the file `is_new`, also marks calls that listed its folder. `path` has no symlinks.
    """
    with _lock:
        for task in _readers:
            if not task.has_turn and any(_concerns(path, is_new, *read) for read in task.reads):
                task.is_stale = True


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


def forget() -> None:
    """Resets the state after a fork, because a thread that no longer exists may hold the lock."""
    global _lock
    _lock = allocate_lock()
    _readers.clear()


def _concerns(path: str, is_new: bool, read: str, is_pattern: bool) -> bool:
    if not is_pattern:
        return path == read
    return is_new and path.startswith(os.path.join(os.path.realpath(read), ""))
