# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from dataclasses import dataclass
from typing import Literal

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class E0:
    kind: Literal["e0"]
    n: int


@dataclass(frozen=True)
class E1:
    kind: Literal["e1"]
    n: int


@dataclass(frozen=True)
class E2:
    kind: Literal["e2"]
    n: int


@dataclass(frozen=True)
class E3:
    kind: Literal["e3"]
    n: int


@dataclass(frozen=True)
class E4:
    kind: Literal["e4"]
    n: int


@dataclass(frozen=True)
class E5:
    kind: Literal["e5"]
    n: int


@dataclass(frozen=True)
class E6:
    kind: Literal["e6"]
    n: int


@dataclass(frozen=True)
class E7:
    kind: Literal["e7"]
    n: int


@dataclass(frozen=True)
class E8:
    kind: Literal["e8"]
    n: int


Event = E0 | E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8


@dataclass(frozen=True)
class Log:
    latest: Event | None
    all: list[Event]


def handled(event: Event, log: Log) -> Event | None:
    if event.kind == "e3":
        return log.latest
    return event


def last(events: list[Event]) -> Event | None:
    if len(events) == 0:
        return None
    return events[-1]


async def main() -> None:
    event: Event = (await prompt.aio("What happened?", returns=Event)).value
    log = (await prompt.aio("What happened before?", returns=Log)).value
    first = handled(event, log)
    for one in log.all:
        print(one.kind)
    found = last(log.all)
    if found is not None:
        print(found.n, show(first))


if __name__ == "__main__":
    asyncio.run(main())
