"""The signature lines of a program prompt, read back.

    find_book(title: string, year?: number) -> Book  # a book by title
    Signature("function", "find_book", (Parameter("title", "string", True), ...), "Book")

Types stay the text that they are: `string`, `[Point]`, `"low" | "high"`, `{lat: number}`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from runtime_support.values import is_list, is_number, is_object

_LINE = re.compile(r"^(type |conv |)([^\s(]+)\(", re.MULTILINE)
_WANTED = re.compile(r"^The value of the program has to be: (.+)$", re.MULTILINE)
_KINDS = {"type ": "type", "conv ": "conversion", "": "function"}
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """`kind` is "type", "function" or "conversion"; a type gives itself."""

    kind: str
    name: str
    parameters: tuple[Parameter, ...]
    result: str


def signatures_in(ending: str) -> list[Signature]:
    """The callables that a program prompt lists."""
    _, _, lines = ending.partition("What it can call:\n")
    found: list[Signature] = []
    for line in lines.splitlines():
        match = _LINE.match(line)
        if match is None:
            break
        inside, rest = _bracketed(line, match.end() - 1)
        parameters = tuple(_parameter(part) for part in split(inside, ","))
        result = rest.removeprefix(" -> ").partition("  # ")[0] if match[1] != "type " else match[2]
        found.append(Signature(_KINDS[match[1]], match[2], parameters, result))
    return found


def wanted_in(ending: str) -> str:
    """The type that the program has to have."""
    found = _WANTED.search(ending)
    return found[1] if found else "any"


def split(text: str, separator: str) -> list[str]:
    """The parts of a list or a union, brackets and strings in one piece."""
    parts: list[str] = []
    depth, start, end = 0, 0, 0
    while end < len(text):
        if text[end] == '"':
            _, end = json.JSONDecoder().raw_decode(text, end)
            continue
        depth += (text[end] in _OPEN) - (text[end] in _CLOSE)
        if text[end] == separator and depth == 0:
            parts.append(text[start:end])
            start = end + 1
        end += 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def members(type_: str) -> list[str]:
    """The members of a union."""
    return split(type_, "|")


def item_of(type_: str) -> str | None:
    """The type of a list's items, None when it is no list."""
    return type_[1:-1] if type_.startswith("[") and type_.endswith("]") else None


def parts_of(type_: str) -> list[Parameter] | None:
    """The fields of a record, the places of a tuple by number; None for other types."""
    if type_.startswith("{"):
        return [_parameter(part) for part in split(type_[1:-1], ",")]
    if type_.startswith("("):
        places = split(type_[1:-1], ",")
        return [Parameter(str(index), place, True) for index, place in enumerate(places)]
    return None


def literals_of(type_: str) -> list[Any]:
    """The values of a union of literals; nothing when it has other members."""
    found: list[Any] = []
    for member in members(type_):
        try:
            found.append(json.loads(member))
        except ValueError:
            return []
    return found


def fits(source: str, target: str) -> bool:
    """Whether every value of one type is one of the other."""
    wanted = members(target)
    return "any" in wanted or all(
        member in wanted
        or (member == "integer" and "number" in wanted)
        or (item_of(member) is not None and any(map(lambda one: _items_fit(member, one), wanted)))
        for member in members(source)
    )


def takes(type_: str, value: Any) -> bool:
    """Whether a type takes a JSON value as it is; the types with names take none."""
    return any(_takes(member, value) for member in members(type_))


def _takes(member: str, value: Any) -> bool:
    match member:
        case "any":
            return True
        case "string":
            return isinstance(value, str)
        case "number":
            return is_number(value)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "object":
            return is_object(value)
        case _:
            pass
    item = item_of(member)
    if item is not None:
        return is_list(value) and all(takes(item, one) for one in value)
    parts = parts_of(member)
    if parts is None:
        return value in literals_of(member)
    if member.startswith("{"):
        return is_object(value) and _has_fields(parts, value)
    places = [part.type for part in parts]
    return is_list(value) and len(places) == len(value) and all(map(takes, places, value))


def _has_fields(fields: list[Parameter], value: dict[str, Any]) -> bool:
    types = {field.name: field.type for field in fields}
    needed = {field.name for field in fields if field.is_required}
    return needed <= set(value) <= set(types) and all(
        takes(types[name], one) for name, one in value.items()
    )


def _items_fit(source: str, target: str) -> bool:
    given, wanted = item_of(source), item_of(target)
    return given is not None and wanted is not None and fits(given, wanted)


def _parameter(text: str) -> Parameter:
    name, _, type_ = text.partition(":")
    return Parameter(name.strip().removesuffix("?"), type_.strip(), not name.endswith("?"))


def _bracketed(line: str, start: int) -> tuple[str, str]:
    """What stands in the bracket at `start`, and what comes behind it."""
    depth, end = 0, start
    while end < len(line):
        if line[end] == '"':
            _, end = json.JSONDecoder().raw_decode(line, end)
            continue
        depth += (line[end] in _OPEN) - (line[end] in _CLOSE)
        end += 1
        if depth == 0:
            break
    return line[start + 1 : end - 1], line[end:]
