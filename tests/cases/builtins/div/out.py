# Compiled by saftc from in.saft; edit that file instead.

# the whole part, rounded down; `ops.div` is the operator `/`

from runtime_support import ops
from runtime_support.ops import parse, show

pages = 95
per = 10
print(pages // per, -7 // 2, 7 // -2, 7 // 2)
print(2 * (pages // (per + 1)), (pages - 1) // per + 1, pages // 2 // 3, -(7 // 2))
print(int(7.5 // 2), int(pages // 0.5))
size = parse("7")
print(ops.floordiv(size, 2), ops.floordiv(pages, size), show(ops.div(pages, size)))
share = ops.floordiv
print(ops.call(share, 9, 2))


def half(n: int) -> int:
    return n // 2


def third(n: int | float) -> int:
    return int(n // 3)


print(half(9), third(10))
