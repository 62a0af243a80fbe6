# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal, TypedDict

from runtime_support.ops import show

a: int | str = 1
b: int | None = None
c: list[int] | str = "a"


class D(TypedDict):
    id: int


class D2(TypedDict):
    name: str


d: D | D2 = {"id": 1}
e: Literal["a", "b"] | int = "a"
g: tuple[int, str] | list[int] = [1]


def go(x: int | str | None) -> str:
    if x is None:
        return "none"
    return str(x)


print(a, show(b), show(c), show(d), e, show(g), go(1))
