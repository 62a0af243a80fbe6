# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import Result, prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Flight:
    number: str


@dataclass(frozen=True)
class NoFlight:
    reason: str


def either(wish: str) -> Result[Flight | NoFlight]:
    found = prompt("Look for {wish}.", wish=wish, returns=Flight | NoFlight)
    if isinstance(found.value, NoFlight):
        return found
    next = prompt(
        "Another than {found}?",
        found=found.value,
        returns=Flight | NoFlight,
        after=found,
    )
    return next


def joined(wish: str) -> Result[Flight | NoFlight]:
    found = prompt("Look for {wish}.", wish=wish, returns=Flight | NoFlight)
    if isinstance(found.value, NoFlight):
        print(found.value.reason)
    else:
        print(found.value.number)
    return found


def value(wish: str) -> Flight | NoFlight:
    found: Flight | NoFlight = prompt(
        "Look for {wish}.",
        wish=wish,
        returns=Flight | NoFlight,
    ).value
    if isinstance(found, NoFlight):
        print(found.reason)
    else:
        print(found.number)
    return found


print(show(either("a").tool_calls), show(joined("b").tool_calls), show(value("c")))
