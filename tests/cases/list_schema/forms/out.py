# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support.ops import show

a: list[int] = [1]
b: list[list[str]] = [["a"], []]
c: list[int | str] = [1, "a"]
d: list[int | None] = [None]
e: list[Any] = []


class GItem(TypedDict):
    id: int


g: list[GItem] = [{"id": 1}]
h: list[tuple[int, str]] = [(1, "a")]
print(a[0], b[0][0], show(c), show(d), show(e), g[0]["id"], h[0][1])
