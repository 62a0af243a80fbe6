# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [1, 2, 3, 4, 5]
text = "hello"
n = 2
print(
    show(xs[::2]),
    show(xs[::-1]),
    show(xs[3:0:-1]),
    text[1:4:2],
    text[::-1],
    show(xs[1 :: n + 1]),
    show(xs[:4:2]),
)
triple = (1, "a", True)
print(show(triple[::2]), show(triple[::n]), show(ops.item(triple[2::-1], 0)))
data = parse("[1, 2]")
print(
    show(ops.slice(data, None, None, 2)),
    show(ops.slice(data, None, 1, n)),
    show(ops.slice(xs, None, None, ops.index(data, 0))),
)
