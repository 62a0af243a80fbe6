"""How far a job is, in a line; a terminal shows a bar before it.

    [####----------------] 1,240 of 10,000 rows, 12 failed, 8.3/s, 18 min left, 1,251 requests, ...

How fast it is, is a mean of the last minute, so that a forecast follows a server that has become
slower.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from runtime_support._values import counted
from runtime_support.runs._budgets import Spent

_SECONDS = 60.0
_BAR = 20


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
        """What matters most comes first."""
        parts = [f"{self.ended:,} of {counted(self.rows, 'row')}"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self.rate:
            parts.append(f"{self.rate:.1f}/s" if self.rate >= 0.1 else f"{self.rate * 60:.1f}/min")
            if self.ended < self.rows:
                parts.append(f"{_duration((self.rows - self.ended) / self.rate)} left")
        processes = counted(self.processes, "process", "processes")
        return ", ".join([*parts, str(self.spent), processes])

    def bar(self) -> str:
        """The same for a terminal."""
        full = round(_BAR * self.ended / self.rows) if self.rows else _BAR
        return f"[{'#' * full}{'-' * (_BAR - full)}] {self.line()}"


class Speed:
    """How many a second of something there are, by how many there were at some times."""

    def __init__(self, now: float, count: int) -> None:
        self._seen = deque([(now, count)])

    def note(self, now: float, count: int) -> None:
        """Takes in how many there are now."""
        self._seen.append((now, count))
        while now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """How many a second; 0 while there were none."""
        (began, before), (now, count) = self._seen[0], self._seen[-1]
        return max(0.0, (count - before) / (now - began)) if now > began else 0.0


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
