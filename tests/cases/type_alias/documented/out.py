# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Annotated, Literal

from runtime_support import prompt
from runtime_support.ops import show

Urgency = Annotated[Literal["low", "high"], "How urgent a ticket is."]
Tags = Annotated[list[str], "Words to find it by."]


@dataclass(frozen=True)
class Ticket:
    title: str
    urgency: Urgency
    before: Urgency | None
    tags: Tags


def route(urgency: Urgency, to: str | None) -> Urgency:
    return urgency


ticket = prompt("Make up a ticket.", returns=Ticket).value
urgency: Urgency = prompt(
    "How urgent is {ticket}?",
    ticket=ticket,
    returns=Urgency,
).value
first, second = prompt(
    "And two others?",
    fields={"first": Urgency, "second": Urgency | None},
).value
print(
    show(ticket),
    urgency,
    first,
    show(second),
    prompt("Route it with {route}.", route=route).value,
)
