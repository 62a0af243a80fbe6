# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def names(rows: Any) -> list[Any]:
    return [
        ops.member(row, "name")
        for row in ops.each(rows)
        if ops.truthy(ops.member(row, "active"))
    ]


def pairs(rows: Any) -> list[Any]:
    return [a for a, b in ops.each_of(rows, 2)]


print(show(names([])), show(pairs([])))
