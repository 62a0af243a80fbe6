# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from typing import Any

from runtime_support import check, ops
from runtime_support.ops import show


def read(data: Any) -> Any:
    return data


first = dt.date(2026, 1, 31)
sales: dict[dt.date, int] = check(read({"2026-01-31": 3}), dict[dt.date, int])
sales = check(
    {
        **ops.fields(read(sales), dt.date),
        ops.key(read(first), dt.date): 4,
        first + dt.timedelta(days=1): 5,
    },
    dict[dt.date, int],
)
print(
    show(sales),
    show(ops.index(read(sales), first)),
    show(ops.is_in(read(first), sales)),
    show(ops.get(sales, read(first))),
    show(ops.get(read(sales), first)),
)
found = {ops.key(ops.add(read(first), dt.timedelta(days=2)), dt.date): 1, first: 2}
maybe: dict[dt.date, int] | None = check(read(None), dict[dt.date, int] | None)
print(
    show({**found, **ops.fields(read(sales), dt.date)}),
    show(maybe),
    show([day for day in ops.keys(read(sales))]),
)
maybe = {**ops.fields(maybe, dt.date), first: 1}
when: dt.date | None = check(read(first), dt.date | None)
print(show({ops.key(when, dt.date): 1}), show(maybe))
