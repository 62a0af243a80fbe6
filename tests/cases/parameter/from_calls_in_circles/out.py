# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def even(n: int) -> bool:
    if n == 0:
        return True
    return odd(n - 1)


def odd(n: int) -> bool:
    if n == 0:
        return False
    return even(n - 1)


def down(n: int, so_far: list[int]) -> list[int]:
    if n == 0:
        return so_far
    return down(n - 1, [*so_far, n])


def deeper(x: Any, levels: int) -> Any:
    if levels == 0:
        return x
    return deeper([x], levels - 1)


print(show(even(4)), show(down(3, [])), show(deeper(1, 2)))
