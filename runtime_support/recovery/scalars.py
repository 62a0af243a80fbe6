"""A node as a number, a bool, a string, nil or a member of an enumeration.

    take_scalar(Bare("$1,200"), "int")         Taken(1200, 'read `$1,200` as 1200', cost=2)
    take_scalar("N/A", "int")                  None
    take_literal("red", ["RED", "BLUE"])       Taken("RED", 'read `red` as "RED"', cost=2)

Costs only rank: what is written as the schema has it is free, then come other notations of the same
value, then values written as another kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from runtime_support.recovery import tokens
from runtime_support.recovery.nodes import Bare, Node
from runtime_support.recovery.numbers import Unreadable, read_number
from runtime_support.recovery.words import bool_meant, member_meant, spelled_bool, spelled_member

Kind: TypeAlias = Literal["int", "float", "number", "bool", "string", "nil", "any"]

NIL_WORDS = frozenset({"null", "none", "nil", "undefined", "~", ""})
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")

# A text longer than this is no answer of one word, whatever it mentions.
LONGEST_MENTION = 2_000


@dataclass(frozen=True, slots=True)
class Taken:
    """The value of a scalar; `words` tell what was done to it, empty when that needs no telling."""

    value: Any
    words: str = ""
    cost: int = 0


def take_scalar(node: Node, kind: Kind) -> Taken | None:
    """The node as this kind of value, or None."""
    return _TAKERS[kind](node)


def take_literal(node: Node, values: list[Any]) -> Taken | None:
    """The one of the values that the node is, spells or plainly mentions, or None."""
    if not isinstance(node, str):
        same = [value for value in values if type(value) is type(node) and value == node]
        return Taken(same[0]) if same else None
    strings = [value for value in values if isinstance(value, str)]
    if node in strings:
        return Taken(str(node), cost=1 if isinstance(node, Bare) else 0)
    found = _literals_of_text(node, values, strings)
    if len(found) != 1:
        return None
    number = isinstance(node, Bare) and tokens.JSON_NUMBER.fullmatch(node)
    if number and not isinstance(found[0], (str, bool)):
        return Taken(found[0])
    return Taken(found[0], _read_as(node, found[0]), 2)


def _literals_of_text(text: str, values: list[Any], strings: list[str]) -> list[Any]:
    reading = member_meant if len(text) <= LONGEST_MENTION else spelled_member
    member = reading(str(text), strings)
    found: list[Any] = [] if member is None else [member]
    number = _number(text)
    word = spelled_bool(text)
    for value in values:
        if isinstance(value, bool):
            found += [value] if value is word else []
        elif isinstance(value, (int, float)):
            found += [value] if value == number else []
        elif value is None and isinstance(text, Bare) and text.casefold() in NIL_WORDS:
            found.append(value)
    return found


def _number(text: str) -> int | float | None:
    try:
        return read_number(text)
    except Unreadable:
        return None


def _take_int(node: Node) -> Taken | None:
    number = _take_number(node)
    if number is None or isinstance(number.value, int):
        return number
    return None


def _take_float(node: Node) -> Taken | None:
    number = _take_number(node)
    if number is None or isinstance(number.value, float):
        return number
    try:
        value = float(number.value)
    except OverflowError:
        return None
    in_json = isinstance(node, Bare) and tokens.JSON_NUMBER.fullmatch(node)
    if not in_json:
        return Taken(value, number.words, number.cost)
    return Taken(value, cost=1 if node.lstrip("-").isdigit() else 0)


def _take_number(node: Node) -> Taken | None:
    """A number; whole numbers as ints, however they are written."""
    if not isinstance(node, str) or len(node) > LONGEST_MENTION:
        return None
    if isinstance(node, Bare) and _INTEGER.fullmatch(node):
        return Taken(int(node))
    value = _number(node)
    if value is None:
        return None
    if not isinstance(node, Bare):
        return Taken(value, _read_as(node, value), 3)
    if tokens.JSON_NUMBER.fullmatch(node) is None:
        return Taken(value, _read_as(node, value), 2)
    if isinstance(value, float) or node.lstrip("-").isdigit():
        return Taken(value)
    return Taken(value, _read_as(node, value), 1)


def _take_bool(node: Node) -> Taken | None:
    if isinstance(node, bool):
        return Taken(node)
    if not isinstance(node, str) or len(node) > LONGEST_MENTION:
        return None
    value = {"0": False, "1": True}.get(node, bool_meant(node))
    return None if value is None else Taken(value, _read_as(node, value), 3)


def _take_string(node: Node) -> Taken | None:
    if isinstance(node, bool):
        word = "true" if node else "false"
        return Taken(word, _read_as(Bare(word), word), 5)
    if not isinstance(node, str):
        return None
    if not isinstance(node, Bare):
        return Taken(node)
    if node.casefold() in NIL_WORDS or tokens.PLACEHOLDER.fullmatch(node):
        return None
    number = tokens.JSON_NUMBER.fullmatch(node)
    return Taken(str(node), _read_as(node, str(node)) if number else "", 4)


def _take_nil(node: Node) -> Taken | None:
    if node is None:
        return Taken(None)
    if isinstance(node, Bare) and node.casefold() in NIL_WORDS:
        return Taken(None, _read_as(node, None), 2)
    return None


def _take_any(node: Node) -> Taken | None:
    if not isinstance(node, Bare):
        return Taken(node) if node is None or isinstance(node, (bool, str)) else None
    if tokens.JSON_NUMBER.fullmatch(node):
        try:
            value = float(node) if set(node) & set(".eE") else int(node)
        except ValueError:
            return None
        return None if value in (float("inf"), float("-inf")) else Taken(value)
    if node in NOT_FINITE:
        return None
    if node in tokens.COMPLETE_WORDS:
        return Taken({"True": True, "False": False, "None": None}[node], cost=2)
    return Taken(str(node), cost=2)


_TAKERS: dict[Kind, Callable[[Node], Taken | None]] = {
    "int": _take_int,
    "float": _take_float,
    "number": _take_float,
    "bool": _take_bool,
    "string": _take_string,
    "nil": _take_nil,
    "any": _take_any,
}


def _read_as(node: str, value: Any) -> str:
    import json

    shown = node if len(node) <= 40 else f"{node[:40]}..."
    return f"read `{shown}` as {json.dumps(value, ensure_ascii=False)}"
