# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support import ops
from runtime_support.ops import show

row = {"id": 1, "name": "a"}
pairs = list(row.items())
print(show(pairs), show(row.get("id")), show(row.get("none")), row.get("none", "x"))


class Row(TypedDict):
    id: int
    note: str | None


known: Row = {"id": 1, "note": None}
print(
    show(known.get("note", "-")),
    show(ops.items(known)),
    show([k for k, v in ops.items(known)]),
)


def rows(x: dict[str, Any], key: str) -> None:
    print(show(list(x.items())), x.get(key, 0), show(x.get(key)))
    for k, v in x.items():
        print(k, v)


rows(row, "id")
use = [ops.items, ops.get]
print(show(ops.call(use[1], row, "id")))
print(show(sorted(key for key, _ in row.items())))
