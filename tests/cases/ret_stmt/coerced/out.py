# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict


def ratio(a: int, b: int) -> float:
    if b == 0:
        return 0.0
    return a / b


class Row(TypedDict):
    name: str


def name_of(row: Row) -> str:
    return row["name"]


print(ratio(1, 2), name_of({"name": "Ada"}))
