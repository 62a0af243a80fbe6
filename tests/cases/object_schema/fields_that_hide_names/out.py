# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check
from runtime_support.ops import parse, show

Row = TypedDict(
    "Row", {"list": list[int], "other": list[str], "str": str | None, "int": int}
)


class Plain(TypedDict):
    list: int
    str: bool


Mangled = TypedDict("Mangled", {"__x": int, "b": int})
Node = TypedDict("Node", {"Node": "list[Node]", "list": "list[Node]"})

row: Row = check(parse('{"list": [1], "other": [], "int": 2}'), Row)
plain: Plain = {"list": 1, "str": True}
mangled: Mangled = check(parse('{"__x": 1, "b": 2}'), Mangled)
node: Node = {"Node": [], "list": [{"Node": [], "list": []}]}
print(show(row), show(plain), mangled["__x"], show(node))
