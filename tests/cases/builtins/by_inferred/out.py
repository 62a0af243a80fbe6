# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check
from runtime_support.ops import show

# A function that is only called, or ordered by, takes what it is given there.
pairs = [(1, "b"), (2, "a")]


def first(pair: tuple[int, str]) -> int:
    return pair[0]


def by_name(pair: tuple[int, str]) -> str:
    return pair[1]


print(show(sorted(pairs, key=first, reverse=True)), show(max(pairs, key=by_name)))
rows: list[dict[str, Any]] = [{"name": "a", "n": 1}, {"name": "b", "n": 3}]


def count(row: dict[str, Any]) -> int:
    return check(row["n"], int)


print(show(sorted(rows, key=count)))


def twice(x: int | float) -> int | float:
    return x * 2


print(show(sorted([1, 2.5], key=twice)))


def words(text: str) -> int:
    return len(text.split())


print(max(["a b", "c"], key=words))
