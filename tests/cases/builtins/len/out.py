# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

data = parse("[1]")
print(len("abc"), len([1]), len((1, 2)), len({"a": 1}), ops.len(data))
print(show([ops.len]))
