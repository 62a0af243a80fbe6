"""Going through a tree: the children of a node in source order, all nodes below it, its depth."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import cast

from saftc.syntax.nodes import Module, Node


@cache
def _child_fields(kind: type[Node]) -> tuple[str, ...]:
    if kind is Module:
        return ("statements",)
    return tuple(field.name for field in fields(kind) if field.name != "span")


def children(node: Node) -> Iterator[Node]:
    """The direct children of `node`, as they stand in the source."""
    found: list[Node] = []
    for name in _child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            parts = cast("tuple[object, ...]", value)
            found.extend(item for item in parts if isinstance(item, Node))
    found.sort(key=lambda child: child.span.start)
    return iter(found)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(list(children(current))))


def depth_of(node: Node) -> tuple[Node, int]:
    """The deepest node below `node` and how many levels below it stands."""
    deepest, levels = node, 0
    pending = [(node, 0)]
    while pending:
        current, level = pending.pop()
        if level > levels:
            deepest, levels = current, level
        pending.extend((child, level + 1) for child in children(current))
    return deepest, levels
