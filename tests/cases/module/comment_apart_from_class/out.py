# Compiled by saftc from in.saft; edit that file instead.

# c

from typing import TypedDict

from runtime_support.ops import show


class G(TypedDict):
    a: int


def g() -> G:
    return {"a": 1}


print(show(g()))
