# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check
from runtime_support.ops import parse, show


def load(text: str) -> list[int]:
    return check(parse(text), list[int])


class LoadAllResult(TypedDict):
    name: str
    size: int


def load_all(texts: list[str]) -> LoadAllResult:
    return check(parse(texts[0]), LoadAllResult)


print(show(load("[1]")), load_all(['{"name": "a", "size": 1}'])["name"])
