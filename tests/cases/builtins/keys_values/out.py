# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import ops
from runtime_support.ops import parse, show

row = {"id": 1, "name": "a"}


class Typed(TypedDict):
    a: int
    b: int


typed: Typed = {"a": 1, "b": 2}
data = parse("{}")
print(
    show(list(row)),
    show(list(row.values())),
    show(list(typed)),
    show(ops.values(typed)),
    show(ops.keys(data)),
    show(ops.values(data)),
)
for key in typed:
    print(key + "!")
for value in ops.values(typed):
    print(value + 1)
print(show([k for k in row]), len(list(row)), show("id" in list(row)))
