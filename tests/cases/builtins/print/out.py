# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show

print()
print("a")
print("a", 1, 2.5, show(True), show(None), show([1]), show((1, "x")), show({"a": 1}))


def go(x: int, name: str | None, number: int | float, text: int | str) -> Any:
    print(x, show(name), number, text)
    return ops.print


go(1, None, 2, "a")
show_it = ops.print
ops.call(show_it, "b")
for x in [1, 2]:
    print(x)
