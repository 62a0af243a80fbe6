# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

data = parse("1")
x = 2.567
print(
    round(x),
    round(x, 1),
    round(3),
    abs(-x),
    abs(-3),
    show(ops.abs(data)),
    ops.round(data),
    show(ops.round(data, 2)),
    round(x, 2),
)
print(round(x) + 1, round(x, 1) + 1)
