# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse

flag = True
name: str | None
name = "a"
data = parse("1")
a = 1 if flag else 2
b = name if ops.truthy(name) else "none"
c = "yes" if ops.truthy(data) else "no"
d: float = 1.0 if flag else 2.0
e = (1 if flag else 2) + 3
g = 1 if flag else 2 if ops.truthy(data) else 3
h = (1 if flag else 2) if ops.truthy(data) else 3
print(a, b, c, d, e, g, h)
