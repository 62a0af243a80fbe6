# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import show

nothing = None
if nothing:
    print(1)
print(show(1 == "a"), show((1, 2) == [1, 2]), show(ops.eq(True, 1)))
