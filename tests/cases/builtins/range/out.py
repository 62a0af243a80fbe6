# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

n = 3
data = parse("3")
print(
    show(list(range(3))),
    show(list(range(1, n))),
    show(list(range(0, 10, 2))),
    show(ops.range(data)),
)
xs = list(range(n))
for i in ops.range(data):
    print(i)
for i in range(len(xs)):
    print(xs[i])
print(
    show([x + 1 for x in range(3)]),
    sum(range(4)),
    len(list(range(5))),
    list(range(3))[1],
)
