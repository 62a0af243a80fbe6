"""What ends a run, whatever it is in the middle of.

These are no Exceptions, as KeyboardInterrupt is none: what goes on after errors, as tools, programs
and the `try` of a script do, does not go on after them, and no model is told.
"""

from __future__ import annotations

from typing import Any

from runtime_support.errors import printable


class RunStopped(BaseException):
    """The whole run has to stop; `hint` is one thing to try, or None."""

    saft_position: str | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return printable(self.message if self.hint is None else f"{self.message}; {self.hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class BudgetSpent(RunStopped):
    """The next request would pass the budget; nothing of it was sent."""


class JournalError(RunStopped):
    """What was answered cannot be kept; going on would be paid for in vain."""
