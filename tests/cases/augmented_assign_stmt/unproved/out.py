# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def sum_of(rows: Any) -> Any:
    total = 0
    for row in ops.each(rows):
        total = ops.add(total, ops.member(row, "price"))
    return total


def join_all(first: Any, second: Any) -> Any:
    first = ops.add(first, second)
    return first


def prices(x: int | str, y: int | None) -> tuple[int | str, int | None, float]:
    if y is not None:
        y *= 2
    kinds: int | float = 1
    kinds /= 2
    return (x, y, kinds)


print(show(sum_of([{"price": 2}])), show(join_all([1], [2])), show(prices(1, 2)))
