# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import show


def go(x: list[int] | None) -> None:
    for item in ops.each(x):
        print(show(item))


go([1])
