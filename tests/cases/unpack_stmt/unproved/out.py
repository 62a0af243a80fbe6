# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show


def sum_of(pair: Any) -> Any:
    first, second = ops.unpack(pair, 2)
    return ops.add(first, second)


def inner_of(rows: Any) -> Any:
    name, (_, count) = ops.unpack(rows, ("name", ("_", "count")))
    return ops.add(name, show(count))


def either(x: tuple[int, int] | tuple[int, int, int]) -> Any:
    a, b = ops.unpack(x, 2)
    return ops.add(a, b)


def all_of(grid: list[list[int]]) -> int:
    (a, b), (c, d) = ops.unpack(grid, (("a", "b"), ("c", "d")))
    return a + b + c + d


print(
    show(sum_of((1, 2))),
    show(inner_of(parse('["a", [1, 2]]'))),
    show(either((1, 2))),
    all_of([[1, 2], [3, 4]]),
)
