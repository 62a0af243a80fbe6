# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from typing import Any

from runtime_support import ops
from runtime_support.ops import kind, now, show, today


def show_all(rows: Any) -> None:
    for row in ops.each(rows):
        print(
            show(ops.member(ops.member(row, "due"), "year")),
            show(ops.sub(ops.member(row, "due"), dt.timedelta(days=3))),
            show(ops.mul(ops.member(row, "price"), 2)),
            ops.date(ops.member(row, "text")),
        )
        if kind(ops.member(row, "due")) == "date":
            print(ops.member(row, "due").month)
    print(
        show(ops.sum([ops.member(row, "price") for row in ops.each(rows)])),
        show(ops.max([ops.member(row, "due") for row in ops.each(rows)])),
    )


def sooner(when: dt.date | dt.datetime | None) -> bool:
    if type(when) is dt.date:
        return when < today()
    if isinstance(when, dt.datetime):
        return when < now()
    return False


show_all([])
print(show(sooner(None)))
