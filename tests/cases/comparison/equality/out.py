# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

a = 1
b = 1.0
flag = True
data = parse("1")
print(
    show(a == b),
    show(a != b),
    show("a" == "a"),
    show(flag is True),
    show(flag is not False),
    show(a is None),
    show(ops.eq(data, 1)),
    show(ops.ne(data, flag)),
)
print(
    show([1] == [1.0]),
    show((1, 2) == (1, 2)),
    show({"a": 1} == {"a": 1}),
    show(ops.eq([data], [1])),
    show(data is None),
    show(data == "x"),
    show(data is True),
)
