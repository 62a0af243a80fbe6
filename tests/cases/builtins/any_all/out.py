# Compiled by saftc from in.saft; edit that file instead.

# of a list of bools; Python's own where the types prove it

from typing import Any

from runtime_support import ops
from runtime_support.ops import kind, parse, show

xs = [3, 1, 2]
data = parse("[true, false]")
print(
    show(any([True, False])),
    show(all([True, False])),
    show(any([])),
    show(all((True, True))),
)
print(
    show(any(x > 2 for x in xs)),
    show(all(x > 0 for x in xs)),
    show(any({"a": False}.values())),
)
print(
    show(ops.any(data)), show(ops.all(data)), show(ops.any([x for x in ops.each(data)]))
)
if any(x > 2 for x in xs) and not ops.all(data):
    print("some")


def each(checks: list[bool], test: Any) -> Any:
    return ops.call(test, checks)


print(show(each([True, False], ops.any)), show(each([True, False], ops.all)))
anything: Any = ops.any
print(kind(anything))
