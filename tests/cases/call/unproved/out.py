# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def apply(function: Any, x: Any) -> Any:
    return ops.call(function, x)


def pick(name: str) -> Any:
    if name == "upper":
        return ops.upper
    return ops.lower


print(show(apply(ops.upper, "a")), show(ops.call(pick("upper"), "b")))
callbacks = [ops.upper, ops.lower]
print(show(ops.call(callbacks[0], "c")))
