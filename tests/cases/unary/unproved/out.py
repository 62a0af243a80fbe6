# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show


def minus(x: int | float) -> int | float:
    return -x


def flip(x: Any) -> bool:
    return not ops.truthy(x)


data = parse("1")
print(
    minus(1),
    show(flip(0)),
    show(flip(None)),
    show(ops.neg(data)),
    show(not ops.truthy(data)),
)
