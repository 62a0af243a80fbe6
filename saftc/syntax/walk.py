"""Going through a tree: the children of a node in source order, all nodes below it, the same tree
at another place, or moved there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, overload

from saftc.source import Span
from saftc.syntax.nodes import Conditional, Module, Node, Prompt

_Kind = TypeVar("_Kind", bound=Node)
_Tree = TypeVar("_Tree", bound=Node)

# The fields of a node that hold nodes, where their order is not that of the source.
_ORDER: dict[type[Node], tuple[str, ...]] = {
    Module: ("statements",),
    Conditional: ("then", "condition", "other"),
}

# Fields that never hold a node; looking at them takes time.
_PLAIN = {
    *("span", "text", "operator", "is_spread", "is_raw", "is_approved", "mode", "is_conversion"),
    "spec",
}


class _Parts(dict[type[Node], Callable[[Node], tuple[Any, ...]] | None]):
    """Gives the fields of a node of some kind that may hold nodes; None where there are none."""

    def __missing__(self, kind: type[Node]) -> Callable[[Node], tuple[Any, ...]] | None:
        names = _ORDER.get(kind)
        if names is None:
            names = tuple(field.name for field in fields(kind) if field.name not in _PLAIN)
        # With the span, it is a tuple also of one name.
        found = self[kind] = attrgetter("span", *names) if names else None
        return found


_PARTS = _Parts()


def children(node: Node) -> list[Node]:
    """The direct children of `node`, as they are in the source."""
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
        # Options are before it or behind it.
        found.sort(key=lambda child: child.span.start)
    return found


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first, in source order."""
    return iter(_below(node))


def _below(node: Node) -> list[Node]:
    # All at once: to stop at each node takes longer than to find the next one.
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
    """The nodes of a module, as `walk` gives them, all of them or those of some kinds; going
    through a module takes a while."""
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


def moved(node: _Tree, by: int) -> _Tree:
    """The same tree, `by` characters further on; itself where that is none."""
    return _moved(node, by) if by else node


def move(node: Node, by: int) -> None:
    """Moves a tree `by` characters further on, for all who hold it: nothing else of it changes."""
    if by:
        for one in dict.fromkeys(_below(node)):
            start, end = one.span
            object.__setattr__(one, "span", Span(start + by, end + by))


@cache
def _names_behind_span(kind: type[Node]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))[1:]


def _moved(value: Any, by: int) -> Any:
    """A node moved, a tuple with its nodes moved, and anything else as it is."""
    if isinstance(value, Node):
        kind: Any = value.__class__
        parts = [_moved(getattr(value, name), by) for name in _names_behind_span(kind)]
        start, end = value.span
        return kind(Span(start + by, end + by), *parts)
    return tuple([_moved(one, by) for one in value]) if value.__class__ is tuple else value
