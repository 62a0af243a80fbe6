"""Measures how long work takes, without the time in which its requests wait to be sent.

    with current_clock(): ...       the clock of the current work stops inside the block
"""

from __future__ import annotations

from _thread import allocate_lock
from time import monotonic
from typing import TYPE_CHECKING

from runtime_support._values.context import current_context

if TYPE_CHECKING:
    from types import TracebackType


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
