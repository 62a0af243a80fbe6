# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import show

# c


class GResult(TypedDict):
    a: int


def g() -> GResult:
    return {"a": 1}


print(show(g()))
