# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def go(list: list[int], dict: Any) -> list[int]:
    return [*list, len(list)]


def other(float: int) -> float:
    return float / 2


print(show(go([1], None)), other(3))
