# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

a = 1
b = 2.5
print(
    show(a < b),
    show(a <= 2),
    show(a > b),
    show(a >= b),
    show("a" < "b"),
    show((a < b) is True),
)
data = parse("1")
print(
    show(ops.lt(data, 1)),
    show(ops.le(1, data)),
    show(ops.gt(data, data)),
    show(ops.ge(data, 1)),
)
