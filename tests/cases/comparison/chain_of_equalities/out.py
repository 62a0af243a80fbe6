# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import show

a = 1
b = 2
print(show((a == b) is False), show(ops.eq(a, b == 2)))
