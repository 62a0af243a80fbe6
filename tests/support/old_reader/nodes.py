"""What a reply holds before the schema has had its say, and JSON as the standard has it.

A node is None, a bool, a `str` (quoted text), a `Bare` (text that stood unquoted: a number, a word,
a cell of a table), a list or a dict. What a bare text means depends on the place it goes to: `007`
is a number for an int and a text for a string.

    read_strict('{"a": 1}')     ({"a": Bare("1")},)
    read_strict('{"a": 1,}')    None
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

Node: TypeAlias = Any


class Bare(str):
    """Text that stood without quotes."""

    __slots__ = ()


class StructuredLine(Bare):
    """A line that can be read as text or, where a structure is asked for, as `structure`."""

    structure: Node

    def __new__(cls, text: str, structure: Node) -> StructuredLine:
        line = super().__new__(cls, text)
        line.structure = structure
        return line


class OpenObject(dict[str, Node]):
    """An object whose closing brace never came: it may have been meant to go on."""

    __slots__ = ()


class OpenList(list[Node]):
    """A list whose closing bracket never came: its items are whole, but there may be more."""

    __slots__ = ()


class RepeatedKeys(dict[str, Node]):
    """An object in which a key stood twice; the later value is kept."""

    __slots__ = ()


class Elements(dict[str, Node]):
    """The children of a markup element by tag; a tag that repeats has a list."""

    __slots__ = ()


class NotData(Exception):
    """The text at this place is not data at all, only looks like its beginning."""


class Broken(Exception):
    """The text is data whose meaning is not certain; the reason is for the model to read."""


class CutOff(Broken):
    """The text ends in the middle of the data."""

    def __init__(self, where: str) -> None:
        super().__init__(f"the reply ends in the middle of {where}")


_SPACE = re.compile(r"[ \t\n\r]*")


def read_strict(text: str) -> tuple[Node] | None:
    """The JSON that the whole text is, or None."""
    found = read_strict_at(text, _end_of_space(text, 0))
    if found is None or _end_of_space(text, found[1]) != len(text):
        return None
    return (found[0],)


def read_strict_at(text: str, start: int) -> tuple[Node, int] | None:
    """The JSON that begins exactly here, and where it ends; None when there is none."""
    try:
        node, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        return None
    except RecursionError:
        raise Broken("nested too deeply") from None
    return node, end


def _object(pairs: list[tuple[str, Node]]) -> dict[str, Node]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else RepeatedKeys(members)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=Bare, parse_float=Bare, parse_constant=Bare
)


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start
