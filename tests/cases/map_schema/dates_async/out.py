# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
import datetime as dt
from decimal import Decimal

from runtime_support import later, prompt, together
from runtime_support.ops import show


def book(sales: dict[dt.date, Decimal]) -> dict[dt.datetime, str]:
    """Books the sales of a day."""
    return {
        dt.datetime.fromisoformat("2026-01-31T09:30:00Z"): str(
            sum(sales.values(), Decimal(0))
        )
    }


async def read_sales(text: str) -> dict[dt.date, Decimal]:
    return (
        await prompt.aio(
            "The sales in {text} by day",
            text=text,
            returns=dict[dt.date, Decimal],
        )
    ).value


async def main() -> None:
    sales = await read_sales("Friday 3, Saturday 4.50")
    booked, (open, rest) = await together.aio(
        later(
            prompt.aio,
            "Book {sales} with {book}",
            sales=sales,
            book=book,
            returns=dict[dt.datetime, str],
            rounds=1,
        ),
        later(
            prompt.aio,
            "Which days of {sales} are open?",
            sales=sales,
            fields={"open": dict[dt.date, str], "rest": str},
        ),
    )
    print(show(booked), show(open), rest)


if __name__ == "__main__":
    asyncio.run(main())
