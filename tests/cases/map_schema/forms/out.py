# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass, field
from typing import Any, TypedDict

from runtime_support.ops import show

Counts = dict[str, int]


class Tree(TypedDict):
    name: str
    children: "dict[str, Tree]"


@dataclass(frozen=True)
class Shelf:
    label: str
    books: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    sizes: Counts = field(default_factory=Counts)


def total(counts: Counts, more: dict[str, int | str] | None = None) -> int:
    return sum(counts.values()) + (0 if more is None else len(more))


class RowItem(TypedDict):
    id: int


def nested(rows: list[dict[str, RowItem]]) -> dict[str, RowItem]:
    return {**rows[0], "extra": {"id": 0}}


row = {"a": 1, "b": 2}
print(total(row), total({"a": 1, "c": 5}, {"x": "y"}), total({}))
print(show(nested([{"one": {"id": 1}}])))
shelf = Shelf("top", {"poets": ["Ada"]})
print(show(shelf.books["poets"]), show(shelf.sizes == {}))
tree: Tree = {"name": "root", "children": {"leaf": {"name": "leaf", "children": {}}}}
print(tree["children"]["leaf"]["name"])
loose: dict[str, Any] = {**row, "name": "x"}
print(show(loose["name"]))
