# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

triple = (1, "a", True)
data = parse("[1, 2]")
print(
    show(triple[1:]),
    show(triple[:1]),
    show(ops.slice(data, 1, None)),
    show(ops.slice(data, None, 1)),
    show(ops.slice(data, None, None)),
)
