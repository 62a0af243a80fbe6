# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


# of bools of which one is written out, `and` and `or` say the same
def told(x: Any, tags: list[str] | None, flag: bool | None) -> bool:
    print(show("a" in tags if tags is not None else False))
    print(show(True if tags is not None else ops.eq(x, 3)))
    print(show(ops.truthy(x)), show(not flag))
    print(show(flag if flag else False))
    print(show(True if not flag else ops.eq(x, 3)))
    print(show(1 if flag else False))
    return ops.eq(x, 3) or True if flag else False


print(show(told(3, ["a"], None)))
