"""One value of a text: strictly read where it is JSON, loosely where it is not.

read_whole("[1, 2,]")            ([Bare("1"), Bare("2")], ("stray commas removed",))
read_at("so: {a: 1}, bye", 4)    Reading({"a": Bare("1")}, end=10, ...)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from runtime_support.recovery.loose import LooseReader
from runtime_support.recovery.nodes import Bare, Broken, Node, NotData
from runtime_support.recovery.strict import read_strict, read_strict_at
from runtime_support.recovery.words import letters
from runtime_support.values import is_list, is_number, is_object

LONGEST_MENDED = 50_000
# What was no strict JSON and needed no repair that has a name (a space, a sign after a backslash).
UNNAMED = ("small slips",)

_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Reading:
    """A value, where it ends, and what had to be done to read it."""

    node: Node
    end: int
    notes: tuple[str, ...]


def read_at(text: str, start: int, *, first: int = 0) -> Reading:
    """The value that begins here.

    Text before `first` is nothing but space; from there on a bracket may also be prose, and then
    what breaks off at once is no data at all.
    """
    strict = read_strict_at(text, start) if text[start] in "{[" else None
    if strict is not None:
        return Reading(*strict, ())
    reader = LooseReader(text, start)
    try:
        node = reader.read()
    except Broken:
        if start > first and not reader.is_solid:
            raise NotData from None
        raise
    return Reading(node, reader.position, tuple(reader.notes) or UNNAMED)


def read_whole(text: str) -> tuple[Node, tuple[str, ...]]:
    """The object or list that the whole text is."""
    strict = read_strict(text)
    if strict is not None:
        return strict[0], ()
    start = _SPACE.match(text)
    reader = LooseReader(text, start.end() if start else 0)
    if reader.peek() not in ("{", "[", "("):
        raise NotData
    node = reader.read()
    reader.skip()
    if reader.position < len(text):
        raise NotData
    return node, tuple(reader.notes) or UNNAMED


def mend(text: str) -> Node:
    """What json-repair makes of a text that is broken in a way of its own.

    It guesses, drops and invents, so its value counts only when it has every letter and digit of
    the text, in the same order, and not one more: then it moved nothing but punctuation.
    """
    if len(text) > LONGEST_MENDED or text.strip()[-1:] not in ("}", "]"):
        raise NotData
    import json_repair

    try:
        node: Any = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        raise NotData from None
    parts: list[str] = []
    mended = _with_bare_numbers(node, parts)
    if not isinstance(node, (dict, list)) or letters("".join(parts)) != letters(text):
        raise NotData
    return mended


def _with_bare_numbers(node: Any, parts: list[str]) -> Node:
    """The node with its numbers as they are written; `parts` collects its texts in order."""
    if is_list(node):
        return [_with_bare_numbers(item, parts) for item in node]
    if is_object(node):
        members: dict[str, Node] = {}
        for key, item in node.items():
            parts.append(key)
            members[key] = _with_bare_numbers(item, parts)
        return members
    parts.append("null" if node is None else str(node))
    return Bare(node) if is_number(node) else node
