# Compiled by saftc from in.saft; edit that file instead.

# c

from typing import TypedDict

from runtime_support import show


class GResult(TypedDict):
    a: int


def g() -> GResult:
    return {"a": 1}


print(show(g()))
