"""What was read of one text, at another place of the next: trees and mistakes moved along."""

from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar

from saftc.diagnostics.model import Diagnostic, Edit, Related
from saftc.source import Span
from saftc.syntax.nodes import Node

_Tree = TypeVar("_Tree", bound=Node)


def moved(node: _Tree, by: int) -> _Tree:
    """The same tree so many characters further on; itself where that is none."""
    return _moved(node, by) if by else node


def moved_mistake(mistake: Diagnostic, by: int) -> Diagnostic:
    """The same mistake so many characters further on, with all places of the same text."""
    if not by:
        return mistake
    related = tuple(
        one if one.source is not None else Related(_further(one.span, by), one.text)
        for one in mistake.related
    )
    edits = tuple(Edit(_further(one.span, by), one.text) for one in mistake.edits)
    return replace(mistake, span=_further(mistake.span, by), related=related, edits=edits)


def _further(span: Span, by: int) -> Span:
    return Span(span[0] + by, span[1] + by)


@cache
def _parts(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a node behind its span."""
    return tuple(field.name for field in fields(kind))[1:]


def _moved(value: Any, by: int) -> Any:
    """A node moved, a tuple with its nodes moved, and anything else as it is."""
    if isinstance(value, Node):
        kind: Any = value.__class__
        parts = [_moved(getattr(value, name), by) for name in _parts(kind)]
        return kind(_further(value.span, by), *parts)
    return tuple([_moved(one, by) for one in value]) if value.__class__ is tuple else value
