# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt
from runtime_support.ops import show

Id = int
Names = list[str]
Pair = tuple[int, str]


class Row(TypedDict):
    id: int
    names: Names


Either = int | str

a: int = 1
b: Names = ["a"]
c: Pair = (1, "a")
d: Row = {"id": 1, "names": []}
e: Either
e = "x"
rows = prompt("three rows", returns=list[Row]).value
print(a, show(b), show(c), show(d), e, show(rows))
