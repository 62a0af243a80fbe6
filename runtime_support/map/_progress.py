"""How far a job is, in a line: for a terminal with a bar, for a file without one.

    [####----------------]  1,240/10,000  12 failed  8.3/s  17 min left  1,251 requests, ...
    1,240 of 10,000 rows, 12 failed, 8.3/s, 17 min left; 1,251 requests, 80,400 tokens; 1 process

How fast it is, is a mean in which what is longer ago counts less, so that a forecast settles, and
follows a server that has become slower.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass

from runtime_support._values import counted
from runtime_support.runs._budgets import Spent

# After this many seconds, what was counted counts for a third.
_MEMORY = 60.0
_BAR = 20
# Where the width of the terminal is unknown.
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Progress:
    """The rows of a job, those that have ended, and those of them that failed; `rate` a second."""

    rows: int
    ended: int
    failed: int
    rate: float
    spent: Spent
    processes: int

    def line(self) -> str:
        """For a file."""
        parts = [f"{self.ended:,} of {counted(self.rows, 'row')}", *self._parts()]
        processes = counted(self.processes, "process", "processes")
        return f"{', '.join(parts)}; {self.spent}; {processes}"

    def bar(self, width: int) -> str:
        """For a terminal of `columns`, of which the last stays free; the end is left out."""
        full = round(_BAR * self.ended / self.rows) if self.rows else _BAR
        bar = f"[{'#' * full}{'-' * (_BAR - full)}]"
        parts = [f"{self.ended:,}/{self.rows:,}", *self._parts(), str(self.spent)]
        # What matters least first: what was spent, the bar, then from the end.
        for line in ([bar, *parts], [bar, *parts[:-1]]):
            if len("  ".join(line)) < width:
                return "  ".join(line)
        while len(parts) > 1 and len("  ".join(parts)) >= width:
            parts.pop()
        return "  ".join(parts)[: max(0, width - 1)]

    def _parts(self) -> list[str]:
        parts = [f"{self.failed:,} failed"] if self.failed else []
        if self.rate:
            left = (self.rows - self.ended) / self.rate
            parts += [_rate(self.rate), *([f"{_duration(left)} left"] if left else [])]
        return parts


class Speed:
    """How many a second of something there are, by how many there were at some times."""

    def __init__(self, now: float, count: int) -> None:
        self._at, self._count = now, count
        self._counted = self._seconds = 0.0

    def note(self, now: float, count: int) -> None:
        """Takes in how many there are now."""
        seconds = now - self._at
        if seconds <= 0:
            return
        kept = math.exp(-seconds / _MEMORY)
        # Each second counts as what is kept of it, and so does what came in it.
        weight = _MEMORY * (1 - kept) / seconds
        self._counted = self._counted * kept + (count - self._count) * weight
        self._seconds = self._seconds * kept + seconds * weight
        self._at, self._count = now, count

    @property
    def rate(self) -> float:
        """How many a second; 0 while there were none."""
        return max(0.0, self._counted / self._seconds) if self._seconds else 0.0


def width_here() -> int:
    """How many columns the terminal has that the line is shown in."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _WIDTH
    except (AttributeError, OSError, ValueError):  # closed, or no terminal at all
        return _WIDTH


def _rate(rate: float) -> str:
    return f"{rate:.1f}/s" if rate >= 0.1 else f"{rate * 60:.1f}/min"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
