# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import ops


class Row(TypedDict):
    id: int
    name: str


rows: list[Row] = [{"id": 1, "name": "a"}]
key = "id"
print(rows[0]["id"], rows[0]["name"], ops.index(rows[0], key))
