# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt


class Row(TypedDict):
    id: int
    note: str | None


rows = prompt("three rows", returns=list[Row]).value
for row in rows:
    print(row["id"] + 1)
    if row["note"] is not None:
        print("note: " + row["note"])
