"""The progress of a job, and its final report, as text and as JSON data.

    [####----------------] 1,240 of 10,000 rows, 12 failed, 8.3/s, 18 min left, 1,251 requests, ...

The rate is the mean of the last minute, so the forecast follows a server that has become slower.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from runtime_support._budgets import Spent
from runtime_support._core.results import Usage
from runtime_support._values.kinds import counted

_SECONDS = 60.0
_BAR = 20


@dataclass(slots=True)
class Report:
    """The report of a job: how many of its `rows` are `done`, and how many `failed`.

    - `failures` counts the failed rows by error.
    - `usage` and `cost` include earlier processes of the job; `seconds` does not.
    - `stopped` says why not all rows were started, or is None; `budget_spent` is true if the budget
      was the reason.
    - `waiting` counts the rows that wait for approval.
    """

    rows: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    stopped: str | None = None
    budget_spent: bool = False
    waiting: int = 0

    @property
    def failed(self) -> int:
        """How many rows have failed."""
        return sum(self.failures.values())

    @property
    def left(self) -> int:
        """How many rows have not ended and do not wait for approval."""
        return self.rows - self.ended - self.waiting

    @property
    def usage(self) -> Usage:
        """The requests and tokens of the whole job."""
        return self.spent.usage

    @property
    def cost(self) -> float | None:
        """The cost in US dollars by the prices in the settings, or None if a model has no price."""
        return None if self.spent.without_price else self.spent.cost

    @property
    def ended(self) -> int:
        """How many rows are done or have failed."""
        return self.done + self.failed

    def progress(self, rate: float, processes: int) -> str:
        """The progress line, at `rate` rows a second; the most important numbers come first."""
        parts = [f"{self.ended:,} of {counted(self.rows, 'row')}"]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if rate:
            parts.append(f"{rate:.1f}/s" if rate >= 0.1 else f"{rate * 60:.1f}/min")
            if self.ended < self.rows:
                parts.append(f"{_duration((self.rows - self.ended) / rate)} left")
        return ", ".join([*parts, str(self.spent), counted(processes, "process", "processes")])

    def bar(self) -> str:
        """The progress as a bar."""
        full = round(_BAR * self.ended / self.rows) if self.rows else _BAR
        return f"[{'#' * full}{'-' * (_BAR - full)}]"

    def summary(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "rows": self.rows,
            "done": self.done,
            "failed": self.failed,
            "failures": dict(sorted(self.failures.items())),
            "waiting": self.waiting,
            "left": self.left,
            "stopped": self.stopped,
            "budget_spent": self.budget_spent,
            "requests": self.spent.requests,
            "input_tokens": self.spent.input_tokens,
            "output_tokens": self.spent.output_tokens,
            "cost": self.cost,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        ended = f"{self.done:,} done"
        if self.failed:
            most = sorted(self.failures.items(), key=lambda one: (-one[1], one[0]))
            kinds = ", ".join(f"{name} {count:,}" for name, count in most)
            ended += f", {self.failed:,} failed ({kinds}; errors-*.jsonl)"
        if self.waiting:
            ended += f", {self.waiting:,} waiting for approval"
        if self.stopped:
            ended += f", {self.left:,} left"
        return f"{counted(self.rows, 'row')}: {ended}; {self.spent}, {self.seconds:.1f} s"


class Interrupted(KeyboardInterrupt):
    """Raised when a job was stopped by Ctrl-C and has cleaned up; `report` is its report so far."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


class Speed:
    """The rate of a growing count over the last minute."""

    def __init__(self, now: float, count: int) -> None:
        self._seen = deque([(now, count)])

    def note(self, now: float, count: int) -> None:
        """Records the count at the time `now`, in seconds."""
        self._seen.append((now, count))
        while now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """The growth per second, or 0 if the count does not grow."""
        (began, before), (now, count) = self._seen[0], self._seen[-1]
        return max(0.0, (count - before) / (now - began)) if now > began else 0.0


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
