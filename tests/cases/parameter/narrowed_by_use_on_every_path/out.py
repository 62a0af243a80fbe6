# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def describe(x: int, flag: bool) -> int:
    if flag:
        return x + 1
    else:
        return x * 2


def maybe(x: Any, flag: bool) -> Any:
    if flag:
        return ops.add(x, 1)
    return 0


print(describe(1, True), show(maybe("text", False)))
