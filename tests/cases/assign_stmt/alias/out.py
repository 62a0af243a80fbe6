# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops

shout = ops.upper


def twice(x: int) -> int:
    return x * 2


double = twice
print(double(4))
print(ops.call(shout, "hi"))
