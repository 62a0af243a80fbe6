"""Walks a tree: the children of a node in source order, and all nodes below it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, overload

from saftc.syntax.nodes import Conditional, Module, Node, Prompt

_Kind = TypeVar("_Kind", bound=Node)

# The fields that hold nodes, for kinds whose field order is not that of the source.
_ORDER: dict[type[Node], tuple[str, ...]] = {
    Module: ("statements",),
    Conditional: ("then", "condition", "other"),
}

# Fields that never hold a node; reading them takes time.
_PLAIN = {
    *("span", "text", "operator", "is_spread", "is_raw", "is_approved", "mode", "is_conversion"),
    "spec",
}


class _Parts(dict[type[Node], Callable[[Node], tuple[Any, ...]] | None]):
    """Getters for the fields of each kind that may hold nodes; None if there are none."""

    def __missing__(self, kind: type[Node]) -> Callable[[Node], tuple[Any, ...]] | None:
        names = _ORDER.get(kind)
        if names is None:
            names = tuple(field.name for field in fields(kind) if field.name not in _PLAIN)
        # With the span, the getter returns a tuple even for one name.
        found = self[kind] = attrgetter("span", *names) if names else None
        return found


_PARTS = _Parts()


def children(node: Node) -> list[Node]:
    """The direct children of `node`, in source order."""
    found: list[Node] = []
    parts_of = _PARTS[node.__class__]
    if parts_of is None:
        return found
    for part in parts_of(node):
        if part.__class__ is tuple:
            found += part
        elif isinstance(part, Node):
            found.append(part)
    if isinstance(node, Prompt) and node.after is not None:
        # Options are before or after it.
        found.sort(key=lambda child: child.span.start)
    return found


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first, in source order."""
    return iter(_below(node))


def _below(node: Node) -> list[Node]:
    # All at once: suspending at each node takes longer than finding the next one.
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        found.append(current)
        if _PARTS[current.__class__] is not None:
            below = children(current)
            below.reverse()
            pending += below
    return found


@overload
def nodes_of(module: Module) -> Sequence[Node]: ...
@overload
def nodes_of(module: Module, *kinds: type[_Kind]) -> Sequence[_Kind]: ...
def nodes_of(module: Module, *kinds: type[Node]) -> Sequence[Node]:
    """The nodes of a module in `walk` order, all or those of some kinds.

    It is cached, as walking a module takes a while.
    """
    nodes, places = _index(module)
    if not kinds:
        return nodes
    if len(kinds) == 1:
        return [nodes[place] for place in places.get(kinds[0], ())]
    found = sorted(chain.from_iterable(places.get(kind, ()) for kind in kinds))
    return [nodes[place] for place in found]


@lru_cache(maxsize=4)
def _index(module: Module) -> tuple[Sequence[Node], Mapping[type[Node], Sequence[int]]]:
    """The nodes of a module, and the places among them of those of each kind."""
    nodes = _below(module)
    places: dict[type[Node], list[int]] = {}
    for place, node in enumerate(nodes):
        places.setdefault(type(node), []).append(place)
    return nodes, places
