# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import Annotated

from runtime_support import prompt
from runtime_support.ops import require, show


@dataclass(frozen=True)
class Ticket:
    """Something that a customer has asked."""

    title: Annotated[str, "one line"]
    reply_by: str | None = None
    tags: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        # a long title is a text
        require(len(self.title) <= 80, "the title is one line")
        require(
            self.reply_by is None or len(self.reply_by) == 10,
            "expected not reply_by or len(reply_by) == 10",
        )  # 2026-11-22

        require(len(self.tags) <= 3, "at most three tags, not " + str(len(self.tags)))


@dataclass(frozen=True)
class Inbox:
    tickets: list[Ticket]


inbox = prompt("the tickets", returns=Inbox).value
print(Ticket("help").title, show(inbox.tickets))
