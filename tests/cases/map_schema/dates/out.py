# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypedDict

from runtime_support.ops import kind, show, to_json

Day = dt.date


@dataclass(frozen=True)
class Shop:
    name: str
    closed: dict[dt.date, str] = field(default_factory=dict[dt.date, str])
    visits: dict[dt.datetime, int] | None = None


def total(sales: dict[dt.date, Decimal], from_: dt.date) -> Decimal:
    return sum((amount for day, amount in sales.items() if day >= from_), Decimal(0))


class Row(TypedDict):
    day: dt.date
    amount: Decimal


def by_day(rows: list[Row]) -> dict[dt.date, Decimal]:
    found: dict[dt.date, Decimal] = {}
    for row in rows:
        found[row["day"]] = found.get(row["day"], Decimal("0")) + row["amount"]
    return found


first = dt.date(2026, 1, 31)
sales = by_day(
    [
        {"day": first, "amount": Decimal(3)},
        {"day": first + dt.timedelta(days=1), "amount": Decimal("1.50")},
    ]
)
print(
    show(sales),
    sales[first],
    show(first in sales),
    total(sales, first),
    len(sales),
    to_json(sales),
)
for day, amount in sales.items():
    print(day.month, amount)
for day in sorted(sales):
    print(day + dt.timedelta(days=1))
moved = {**sales, first: Decimal("9")}
print(moved[first], show(moved == sales), show(list(moved.values())))
shop = Shop(
    "a", {first: "stocktaking"}, {dt.datetime.fromisoformat("2026-01-31T09:30:00Z"): 2}
)
print(show(shop), show(shop.closed.get(first)), show(list(shop.closed)))


def nothing(x: dict[dt.date, int] | None = None) -> int:
    return 0 if x is None else len(x)


print(nothing(), nothing({first: 1}), nothing({}))
either: dict[dt.date, int] | dict[str, int] = {first: 1}
print(show(either), kind(either))
