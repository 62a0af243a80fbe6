# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [3, 1.5]
ints = [1, 2]
words = ["b", "a"]
data = parse("[1]")
print(sum(xs), sum(ints), sum([]), show(ops.sum(data)), sum((1, 2)))
print(
    min(ints),
    max(words),
    min(1, 2),
    max("a", "b", "c"),
    show(ops.min(data)),
    show(ops.max(data, 2)),
    max(1, 2.5),
)
print(min(ints) + 1, max(words) + "!")
