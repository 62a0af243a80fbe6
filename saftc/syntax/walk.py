"""Going through a tree: the children of a node in source order, all nodes below it."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache, lru_cache
from typing import cast

from saftc.syntax.nodes import Conditional, Module, Node, Prompt

# The fields of a node that hold nodes, where their order is not that of the source.
_ORDER: dict[type[Node], tuple[str, ...]] = {
    Module: ("statements",),
    Conditional: ("then", "condition", "other"),
}

# Fields that never hold a node; looking at them takes time.
_PLAIN = {"span", "text", "operator", "is_spread", "is_raw", "mode", "is_conversion", "spec"}


@cache
def _child_fields(kind: type[Node]) -> tuple[str, ...]:
    ordered = _ORDER.get(kind)
    if ordered is not None:
        return ordered
    return tuple(field.name for field in fields(kind) if field.name not in _PLAIN)


def children(node: Node) -> list[Node]:
    """The direct children of `node`, as they stand in the source."""
    found: list[Node] = []
    for name in _child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            parts = cast("tuple[object, ...]", value)
            found.extend([item for item in parts if isinstance(item, Node)])
    if isinstance(node, Prompt) and node.after is not None:
        # Options stand before it or behind it.
        found.sort(key=lambda child: child.span.start)
    return found


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        below = children(current)
        below.reverse()
        pending += below


@lru_cache(maxsize=4)
def nodes_of(module: Module) -> tuple[Node, ...]:
    """All nodes of a module, as `walk` gives them; going through a module takes a while."""
    return tuple(walk(module))
