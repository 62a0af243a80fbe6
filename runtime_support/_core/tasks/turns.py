"""What the rest of the runtime knows of calls that run ahead of their turn.

A call that `overlap` has begun early has its turn when everything before it, in the order of the
script, has ended. Until then what it does to the world waits:

    in_turn(action)          done now, or when the turn comes; its result is dropped
    yield from wait_for_turn()      for what cannot be put off; `wait_to_act()` blocks
    check_cancelled()        ends a call whose result is dropped
    note_read(path)          what is read now may be written before the turn comes
    note_write(path, True)   a file was written, here a new one: who has read it runs again

Outside of such calls these do what one would expect without them.
"""

from __future__ import annotations

import builtins
import os
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from runtime_support._values.context import change_here, context_here

if TYPE_CHECKING:
    from types import TracebackType

    from runtime_support._core.tasks.effects import Effects
    from runtime_support._core.tasks.queue import Task

# Calls that have read files, maybe ahead of their turn.
_readers: WeakSet[Task] = WeakSet()
_lock = allocate_lock()


# Writes what a script prints; `saftc run` has one that escapes what a terminal would obey.
print_values: Callable[..., None] = builtins.print


# How a person at the terminal is asked about a call that waits for approval; `saftc run` sets it.
# It takes the call, and what says why a decision does not do, and gives a Decision; None is later.
ask_person: Callable[[Any, Callable[[Any], str | None]], Any] | None = None


class Cancelled(BaseException):
    """Ends a call that was cancelled."""


def task_here() -> Task | None:
    """The call that runs here, when it was begun ahead of its turn."""
    return context_here().task


def is_beside() -> bool:
    """Whether what runs here is one of several calls of a program that run side by side."""
    return context_here().is_beside


def in_turn(action: Callable[[], Any]) -> None:
    """Does something to the world in the order of the script."""
    task = task_here()
    if task is None:
        action()
    else:
        task.put_off(action)


def wait_for_turn() -> Effects[None]:
    """Waits until everything before this has ended."""
    task = task_here()
    if task is not None:
        yield from task.wait_for_turn()


def wait_to_act() -> None:
    """Blocks, before a file is written or input is read, until the turn of the reply that asks.

    Calls of one reply do that when they come to it: coroutines among them could not wait here.
    """
    task = task_here()
    while task is not None and task.queue.of_tools:
        task = task.parent
    if task is not None:
        for wait in task.wait_for_turn():
            wait.here()


def note_read(path: str, *, is_pattern: bool = False) -> None:
    """Notes what is about to be read: a file, or the names of those in and below a folder."""
    task = task_here()
    while task is not None:
        if not task.queue.of_tools:
            with _lock:
                task.reads.add((path, is_pattern))
                _readers.add(task)
        task = task.parent


def note_write(path: str, is_new: bool) -> None:
    """Marks calls that read this file ahead of their turn to run again; `path` is without links."""
    with _lock:
        for task in _readers:
            if not task.has_turn and any(_concerns(path, is_new, *read) for read in task.reads):
                task.is_stale = True


def waited_here() -> float:
    """For how many seconds requests from here have waited until now, before they were sent."""
    return context_here().waited


def note_wait(seconds: float) -> None:
    """Notes that a request from here has waited."""
    change_here(waited=waited_here() + seconds)


class Clock:
    """Counts the seconds of some work, without those in which a part of it waits for its server."""

    __slots__ = ("_began", "_lock", "_paused", "_waiting")

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._began = self._paused = monotonic()
        self._waiting = 0

    def seconds(self) -> float:
        """How long the work has lasted until now."""
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


def clock_here() -> Clock:
    """The clock of this work; inside of a `with` block it is stopped."""
    return context_here().clock or Clock()


def is_abandoned() -> bool:
    """Whether the event loop or the job that this thread works for has stopped waiting for it."""
    return any(one.is_set() for one in context_here().abandoned)


def check_cancelled() -> None:
    """Raises Cancelled in a call whose result is dropped. It never waits."""
    task = task_here()
    if is_abandoned() or (task is not None and task.is_cancelled()):
        raise Cancelled


def wait_while_held() -> Effects[None]:
    """Waits, behind a call that failed, until that is raised or made again; raises Cancelled.

    Who holds what others need, such as the place of a request, does not wait for this.
    """
    check_cancelled()
    task = task_here()
    if task is not None:
        yield from task.wait_while_held()


def forget() -> None:
    """A forked process may find the lock taken, by a thread that it does not have."""
    global _lock
    _lock = allocate_lock()
    _readers.clear()


def _concerns(path: str, is_new: bool, read: str, is_pattern: bool) -> bool:
    if not is_pattern:
        return path == read
    return is_new and path.startswith(os.path.join(os.path.realpath(read), ""))
