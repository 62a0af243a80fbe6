# Compiled by saftc from in.saft; edit that file instead.
import datetime as dt
from typing import Any

from runtime_support import check, ops
from runtime_support.ops import show, to_date


def index(rows: Any) -> dict[str, Any]:
    return {
        ops.key(ops.member(row, "id")): ops.member(row, "text")
        for row in ops.each(rows)
    }


def counted(rows: Any, first: str) -> dict[dt.date, int]:
    days: dict[dt.date, int] = {
        ops.key(day, dt.date): check(n, int) for day, n in ops.each_of(rows, 2)
    }
    return {**days, to_date(first): 1}


print(show(index([])), show(counted([], "2026-01-01")))
