# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check, ops
from runtime_support.ops import parse


class LoadResult(TypedDict):
    id: int
    ratio: float


def load(text: str) -> LoadResult:
    data = parse(text)
    return {"id": check(ops.member(data, "id"), int), "ratio": 1.0}


print(load('{"id": 1}')["ratio"])
