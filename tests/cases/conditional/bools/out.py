# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


# of bools of which one is written out, `and` and `or` say the same
def told(x: Any, tags: list[str] | None, flag: bool | None) -> bool:
    print(show(tags is not None and "a" in tags))
    print(show(tags is not None or ops.eq(x, 3)))
    print(show(ops.truthy(x)), show(not flag))
    print(show(flag is True and flag))
    print(show(not flag or ops.eq(x, 3)))
    print(show(1 if flag else False))
    return flag is True and (ops.eq(x, 3) or True)


print(show(told(3, ["a"], None)))
