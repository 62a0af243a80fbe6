# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict


class A(TypedDict):
    id: int
    name: str


a: A = {"id": 1, "name": "a"}
b: A = {"id": 2, "name": "b"}


def show_it(row: A) -> str:
    return row["name"]


rows: list[A] = [a, b]
print(show_it(rows[0]))
