# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def total(rows: Any) -> Any:
    sum = 0
    for row in ops.each(rows):
        sum = ops.add(sum, row)
    return sum


print(show(total([1, 2.5])))
