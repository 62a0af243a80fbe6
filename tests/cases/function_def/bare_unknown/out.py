# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, show


def first(items):
    return ops.index(items, 0)


def same(a, b) -> bool:
    return ops.eq(a, b)


def plus(a, b):
    return ops.add(a, b)


print(
    show(first([1])),
    show(first("abc")),
    show(same(1, True)),
    show(plus(1, 2)),
    show(plus("a", "b")),
)
