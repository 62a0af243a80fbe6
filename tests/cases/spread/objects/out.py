# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support import check
from runtime_support.ops import show

row = {"id": 1, "name": "a"}
print(
    show({**row, "id": 3}), show({"id": 3, **row}), show({**row, "note": None}["note"])
)
wide: dict[str, Any] = {**row, "size": 1.5}
print(wide["size"] + wide["id"], wide["name"])


class Row(TypedDict):
    id: int
    name: str
    note: str | None


def renamed(row: Row, name: str) -> Row:
    return {**row, "name": name}


first: Row = {"id": 1, "name": "b", "note": None}
print(show(renamed(first, "c")), show(renamed(check({**row, "id": 7}, Row), "d")))
for part in [{**row, "x": 1}, {**{}, **row, "x": 2}]:
    print(part["x"], part["id"])
