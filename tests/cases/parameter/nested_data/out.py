# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


# Data that is nested may be deeper in another call.
def flat(x: Any) -> list[Any]:
    if isinstance(x, list):
        found: list[Any] = []
        for one in x:
            found.extend(flat(one))
        return found
    return [x]


print(show(flat([1, [2, [3, [4]]], []])))


def both(x: int | list[int]) -> list[int]:
    return x if isinstance(x, list) else [x]


print(show(both(1)), show(both([2])))
