# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

data = parse("1")
flagged: bool = True
print(
    int("3"), int(3.7), int(3), float("1.5"), float(2), ops.int(data), ops.float(data)
)
print(int("3") + 1, float("2") * 2)
print(show([ops.int, ops.float]))
