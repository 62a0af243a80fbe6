# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

Row = 1


class Row2(TypedDict):
    id: int


rows: list[Row2] = [{"id": Row}]
