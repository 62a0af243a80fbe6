# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, TypedDict

from runtime_support import ops
from runtime_support.ops import show


@dataclass(frozen=True)
class Node:
    value: int
    next: "Node | None" = None


class Path(TypedDict):
    name: str
    above: "Path | None"


# The first call passes nil, which says nothing of what is passed later.
def push(list: Node | None, value: int) -> Node:
    if list is None:
        return Node(value, None)
    return Node(list.value, push(list.next, value))


def last(list: Node | None) -> Node | None:
    at = list
    while at is not None and at.next is not None:
        at = at.next
    return at


def total(list: Node | None, so_far: int) -> int:
    if list is None:
        return so_far
    return total(list.next, so_far + list.value)


def below(path: Path | None, name: str) -> Path:
    if path is None:
        return {"name": name, "above": None}
    return {**path, "above": below(path["above"], name)}


# Here nothing else is ever passed.
def nothing(x: Any) -> Any:
    return 0 if x is None else ops.member(x, "value")


list: Node | None
path: Path | None
list, path = None, None
for i in range(3):
    print(show(last(list)), total(list, 0))
    list = push(list, i)
    path = below(path, f"part {i}")
print(show(list), show(path), show(nothing(None)))
