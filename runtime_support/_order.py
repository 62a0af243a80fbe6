"""What the rest of the runtime knows of calls that run ahead of their turn.

A call that `overlap` has begun early has its turn when everything before it, in the order of the
script, has ended. Until then what it does to the world waits:

    in_turn(action)          done now, or when the turn comes; its result is dropped
    await_turn()             for what cannot be put off; `yield from until_turn()` in work
    note_read(path)          what is read now may be written before the turn comes
    note_write(path, True)   a file was written, here a new one: who has read it runs again

Outside of such calls these do what one would expect without them.
"""

from __future__ import annotations

import builtins
import os
from _thread import allocate_lock
from collections.abc import Callable
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from threading import Event
    from types import TracebackType

    from runtime_support._effects import Effects
    from runtime_support._overlap.tasks import Task

# The call that runs here, when it was begun ahead of its turn.
current: ContextVar[Task | None] = ContextVar("saft_task", default=None)

# For how many seconds what runs here has waited until it could ask.
_waited: ContextVar[float] = ContextVar("saft_waited", default=0.0)

# Whether what runs here is one of several calls of a program that run side by side.
is_beside: ContextVar[bool] = ContextVar("saft_is_beside", default=False)

# Calls that have read files, maybe ahead of their turn.
_readers: WeakSet[Task] = WeakSet()
_lock = allocate_lock()

# In threads that work for an event loop or a row: set when their result is no longer wanted.
abandoned: ContextVar[tuple[Event, ...]] = ContextVar("saft_deserters", default=())

# What counts the time of the work that this is a part of, such as a row of a table.
clock: ContextVar[Clock | None] = ContextVar("saft_clock", default=None)


# Writes what a script prints; `saftc run` has one that escapes what a terminal would obey.
print_values: Callable[..., None] = builtins.print


# How a person at the terminal is asked about a call that waits for approval; `saftc run` sets it.
# It takes the call, and what says why a decision does not do, and gives a Decision; None is later.
ask_person: Callable[[Any, Callable[[Any], str | None]], Any] | None = None


class Cancelled(BaseException):
    """Ends a call that was cancelled."""


def in_turn(action: Callable[[], Any]) -> None:
    """Does something to the world in the order of the script."""
    task = current.get()
    if task is None:
        action()
    else:
        task.put_off(action)


def await_turn() -> None:
    """Waits until everything before this has ended."""
    task = current.get()
    if task is not None:
        task.await_turn()


def until_turn() -> Effects[None]:
    """The same in work that waits by effects, in a thread or in an event loop."""
    task = current.get()
    if task is not None:
        yield from task.until_turn()


def note_read(path: str, *, is_pattern: bool = False) -> None:
    """Notes what is about to be read: a file, or the names of those in and below a folder."""
    task = current.get()
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
    return _waited.get()


def note_wait(seconds: float) -> None:
    """Notes that a request from here has waited."""
    _waited.set(_waited.get() + seconds)


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
    return clock.get() or Clock()


def is_abandoned() -> bool:
    """Whether the event loop or the job that this thread works for has stopped waiting for it."""
    return any(one.is_set() for one in abandoned.get())


def check_cancelled() -> None:
    """Ends a call that is no longer wanted, as something before it has failed or it was left."""
    if is_abandoned():
        raise Cancelled
    task = current.get()
    if task is not None:
        task.check_cancelled()


def until_wanted() -> Effects[None]:
    """The same in work that waits by effects; behind a failure it waits for what comes of that."""
    if is_abandoned():
        raise Cancelled
    task = current.get()
    if task is not None:
        yield from task.until_wanted()


def forget() -> None:
    """A forked process may find the lock taken, by a thread that it does not have."""
    global _lock
    _lock = allocate_lock()
    _readers.clear()


def _concerns(path: str, is_new: bool, read: str, is_pattern: bool) -> bool:
    if not is_pattern:
        return path == read
    return is_new and path.startswith(os.path.join(os.path.realpath(read), ""))
