# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [3, 1, 2]
words = ["b", "a"]
mixed = [1, "a"]
data = parse("[2, 1]")
print(
    show(sorted(xs)),
    show(sorted(words, reverse=True)),
    show(sorted(xs, reverse=True)),
    show(list(reversed(xs))),
    show(list(reversed(words))),
)
print(show(ops.sorted(data)), show(ops.reversed(data)), show(ops.sorted(mixed)))
for x in sorted(xs):
    print(x)
for x in ops.reversed(data):
    print(show(x))
print(show(sorted((2, 1))), show(list(reversed((1, "a")))))
