"""What became of a job, for people and as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from runtime_support._results import Usage
from runtime_support._values import counted
from runtime_support.runs._budgets import Spent


@dataclass(slots=True)
class Report:
    """What became of a job: `rows` there are, of which `done` have a result and `failed` have none.

    `failures` counts these by error. `usage` and `cost` are of the whole job, earlier processes
    included, and `seconds` of this one. `stopped` says why not all rows were asked, if so, and
    `budget_spent` whether that is the budget; `waiting` are those that wait for approval.
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
        """How many rows have no result."""
        return sum(self.failures.values())

    @property
    def left(self) -> int:
        """How many rows have not ended, and wait for nobody."""
        return self.rows - self.done - self.failed - self.waiting

    @property
    def usage(self) -> Usage:
        """What the job took."""
        return self.spent.usage

    @property
    def cost(self) -> float:
        """What it cost in US dollars, by the prices of the settings."""
        return self.spent.cost

    def summary(self) -> dict[str, Any]:
        """The same as JSON data."""
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
    """Ctrl-C ended a job in order; `report` says how far it came."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report
