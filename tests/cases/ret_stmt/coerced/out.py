# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check, ops


def ratio(a: int, b: int) -> float:
    if b == 0:
        return 0.0
    return a / b


def name_of(row: Any) -> str:
    return check(ops.member(row, "name"), str)


print(ratio(1, 2), name_of({"name": "Ada"}))
