# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

data = parse("1")
name: str | None = None
either: int | float = 1
print(
    str(1),
    "a",
    str(1.5),
    show(True),
    show(None),
    show([1]),
    show(data),
    show(name),
    str(either),
)
print("n: " + str(3) + "x")
print(show([ops.str]))
