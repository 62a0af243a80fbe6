# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import kind, parse, show

data = parse("1")


def here() -> int:
    return 1


print(
    kind(1),
    kind("a"),
    kind(None),
    kind(data),
    kind([1]),
    kind((1,)),
    kind({"a": 1}),
    kind(ops.upper),
    kind(here),
    kind(1.5),
    kind(True),
)
print(show(type(data) is int), show(not isinstance(data, float)))
