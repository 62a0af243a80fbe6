# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

row: dict[str, Any] = {"id": 1, "name": "Ada", "two words": 2}
print(row["id"], row["name"])


class Inner(TypedDict):
    name: str


class Typed(TypedDict):
    id: int
    inner: Inner


typed: Typed = {"id": 1, "inner": {"name": "x"}}
print(typed["id"] + 1, typed["inner"]["name"])
