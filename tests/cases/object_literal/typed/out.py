# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show


class Row(TypedDict):
    id: int
    note: str | None


row: Row = {"id": 1, "note": None}


class Other(TypedDict):
    id: float


other: Other = {"id": 1.0}


class A(TypedDict):
    b: float


class Both(TypedDict):
    a: A


both: Both = {"a": {"b": 1.0}}
print(show(row["note"]), other["id"], both["a"]["b"])
