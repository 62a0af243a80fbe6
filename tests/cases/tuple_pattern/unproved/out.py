# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def go(rows: Any) -> list[Any]:
    for a, b in ops.each_of(rows, 2):
        print(show(a), show(b))
    return [a for a, b in ops.each_of(rows, 2)]


pairs = [[1, 2], [3, 4]]
for a, b in ops.each_of(pairs, 2):
    print(a + b)
go(pairs)
