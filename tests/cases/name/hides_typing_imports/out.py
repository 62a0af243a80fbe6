# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal, TypedDict

from runtime_support import check
from runtime_support.ops import parse

Any_ = 1
Literal_ = 2
TypedDict_ = 3
Annotated = 4
check_ = parse("5")
n: int = check(check_, int)
x: Any = Any_
level: Literal["a", "b"] = "a"


class Row(TypedDict):
    id: int


row: Row = {"id": Literal_}
