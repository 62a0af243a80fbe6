# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show

Row = TypedDict("Row", {"id": int, "two words": str, "class": bool})
row: Row = {"id": 1, "two words": "a", "class": True}
print(show(row))
