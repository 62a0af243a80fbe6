# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal, TypedDict

from runtime_support.ops import show

a: int | str
a = 1
b: int | None = None
c: list[int] | str
c = "a"


class D(TypedDict):
    id: int


class D2(TypedDict):
    name: str


d: D | D2
d = {"id": 1}
e: Literal["a", "b"] | int
e = "a"
g: tuple[int, str] | list[int]
g = [1]


def go(x: int | str | None) -> str:
    if x is None:
        return "none"
    return str(x)


print(a, show(b), show(c), show(d), e, show(g), go(1))
