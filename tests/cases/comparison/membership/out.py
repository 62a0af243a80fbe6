# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [1, 2]
text = "hello"
row = {"id": 1}
flags = [True]
data = parse("[1]")
print(
    show(1 in xs),
    show(3 not in xs),
    show("ell" in text),
    show("id" in row),
    show(ops.is_in(1, flags)),
    show(ops.is_in(1, data)),
    show(ops.is_in(data, xs)),
    show("x" in (1, "x")),
)
print(show(1 not in xs), show(1 not in xs))
