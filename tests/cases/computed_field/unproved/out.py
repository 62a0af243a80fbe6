# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def indexed(rows: Any, field: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in ops.each(rows):
        found[ops.key(ops.index(row, field))] = row
    return found


print(show(indexed([{"id": "a", "n": 1}, {"id": "b", "n": 2}], "id")))


def label(x: str | None) -> dict[str, int]:
    return {ops.key(x): 1}


print(show(label("a")))
