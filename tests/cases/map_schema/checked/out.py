# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support import check, ops
from runtime_support.ops import parse, show

data: Any = parse('{"a": 1, "b": 2}')
counts: dict[str, int] = check(data, dict[str, int])
floats: dict[str, float] = check(counts, dict[str, float])


class Row(TypedDict):
    a: int
    b: int


row: Row = check(counts, Row)


def first(counts: dict[str, int]) -> int:
    return counts["a"]


print(
    show(counts),
    show(floats),
    show(row),
    first(check(data, dict[str, int])),
    ops.member(counts, "length"),
)
