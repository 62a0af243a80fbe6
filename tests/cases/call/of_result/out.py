# Compiled by saftc from in.saft; edit that file instead.
from typing import Any


def make() -> Any:
    def inner(x: int) -> int:
        return x + 1

    return inner


print(make()(1))
