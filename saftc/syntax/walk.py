"""Walks a tree: the children of a node in source order, and all descendants of a node."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, overload

from saftc.syntax.nodes import Conditional, Module, Node, Prompt

_Kind = TypeVar("_Kind", bound=Node)

# The fields that hold nodes, for kinds of nodes whose fields are not in source order.
_ORDER: dict[type[Node], tuple[str, ...]] = {
    Module: ("statements",),
    Conditional: ("then", "condition", "other"),
}

# Fields that never hold a node; skipping them saves time.
_PLAIN = {
    *("span", "text", "operator", "is_spread", "is_raw", "is_approved", "mode", "is_conversion"),
    "spec",
}


class _Parts(dict[type[Node], Callable[[Node], tuple[Any, ...]] | None]):
    """Maps each kind of node to a getter for the fields that may hold nodes.

    The getter is None for a kind without such fields.
    """

    def __missing__(self, kind: type[Node]) -> Callable[[Node], tuple[Any, ...]] | None:
        names = _ORDER.get(kind)
        if names is None:
            names = tuple(field.name for field in fields(kind) if field.name not in _PLAIN)
        # With the span, the getter returns a tuple even if there is only one name.
        found = self[kind] = attrgetter("span", *names) if names else None
        return found


_PARTS = _Parts()


def children(node: Node) -> list[Node]:
    """Returns the direct children of `node`, in source order."""
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
        # The options may be before or after `after`.
        found.sort(key=lambda child: child.span.start)
    return found


def walk(node: Node) -> Iterator[Node]:
    """Iterates over `node` and all its descendants, parents first, in source order."""
    return iter(_below(node))


def _below(node: Node) -> list[Node]:
    # A list, as suspending a generator at each node takes longer than finding the next node.
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
    """Returns the nodes of a module in `walk` order.

    With `kinds`, returns only nodes of these kinds. The nodes of a few modules are cached, as
    walking a module takes a while.
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
    """Returns the nodes of a module, and a mapping from each kind to the indexes of its nodes."""
    nodes = _below(module)
    places: dict[type[Node], list[int]] = {}
    for place, node in enumerate(nodes):
        places.setdefault(type(node), []).append(place)
    return nodes, places
