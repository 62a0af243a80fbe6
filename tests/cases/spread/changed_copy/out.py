# Compiled by saftc from in.saft; edit that file instead.
import dataclasses
from dataclasses import dataclass, field
from typing import Literal

from runtime_support import ops, prompt
from runtime_support.ops import require, show


@dataclass(frozen=True)
class Ticket:
    title: str
    severity: Literal["low", "high"]
    hours: float = 0.0
    tags: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        require(len(self.title) > 0, "a ticket has a title")


def raised(ticket: Ticket) -> Ticket:
    return dataclasses.replace(ticket, severity="high")


def tagged(ticket: Ticket, tag: str) -> Ticket:
    return dataclasses.replace(
        ticket,
        tags=[*ticket.tags, tag],  # behind the others
        hours=1.0,
    )


ticket = Ticket("It burns", "low")
print(
    show(raised(ticket)),
    show(tagged(ticket, "fire")),
    show(ops.eq(dataclasses.replace(ticket), ticket)),
)
ticket = dataclasses.replace(
    ticket, title=prompt("A better title for {ticket}", ticket=ticket).value
)
print(ticket.title)
