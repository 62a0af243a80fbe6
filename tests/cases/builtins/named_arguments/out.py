# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [2, 1]
text = "a-b"
data = parse("[1]")
print(
    show(sorted(xs, reverse=True)),
    show(sorted(xs)),
    show(text.split("-")),
    show(list(enumerate(xs, 1))),
    round(1.234, 1),
)
print(show(ops.sorted(data, reverse=True)), text.replace("a", "b"), ",".join(["a"]))
