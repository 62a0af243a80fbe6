# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show


class Row(TypedDict):
    name: str | None
    ok: bool | None


rows: list[Row] = []
print(show([row["name"] + "!" for row in rows if row["name"] is not None]))
print(show([row["name"] for row in rows if row["ok"]]))
