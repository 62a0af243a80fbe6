# Compiled by saftc from in.saft; edit that file instead. This is the async form.

# What is written out is the same wherever it is made: the class need not wait for the prompt.

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Bill:
    tax: Decimal = Decimal("0.19")
    copies: Decimal = Decimal(2)
    issued: dt.date = dt.date(2026, 1, 31)
    at: dt.time = dt.time(9, 30)
    seen: dt.datetime = dt.datetime.fromisoformat("2026-01-31T09:30:00+01:00")
    due: dt.timedelta = dt.timedelta(days=30)
    lines: list[Decimal] = field(default_factory=[Decimal("1.5")].copy)


async def main() -> None:
    greeting = (await prompt.aio("Say hello.")).value
    print(greeting)

    print(show(Bill()))


if __name__ == "__main__":
    asyncio.run(main())
