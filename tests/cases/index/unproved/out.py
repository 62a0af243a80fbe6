# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show


def at(items: Any, key: Any) -> Any:
    return ops.index(items, key)


data = parse('[1, {"a": 2}]')
print(
    show(ops.index(data, 0)),
    show(ops.index(ops.index(data, 1), "a")),
    show(at(data, 0)),
)
key = "id"
row: dict[str, Any] = {"id": 1, "name": "Ada"}
print(row[key])
