# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def first(items: Any) -> Any:
    return ops.index(items, 0)


def same(a: Any, b: Any) -> bool:
    return ops.eq(a, b)


def plus(a: Any, b: Any) -> Any:
    return ops.add(a, b)


print(
    show(first([1])),
    show(first("abc")),
    show(same(1, True)),
    show(plus(1, 2)),
    show(plus("a", "b")),
)
