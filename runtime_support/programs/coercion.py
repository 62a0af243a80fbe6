"""Which values can become which: conversions by shortest path, and the built-in hops.

    judge(Book, string)       Converts((author_of, name_of))
    judge(Cup, Tank)          Splits: two paths of two conversions
    judge(string, number)     Hops
    judge(any, number)        Decides, at run time
    judge(Book, number)       Never

The order of the rules: assignable, registered conversions (breadth first, at most three), element
by element for lists and objects, one built-in hop. `readings` is that hop for a value at hand.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from runtime_support.programs.paths import is_list
from runtime_support.programs.registry import Definition, Registry
from runtime_support.programs.tree import (
    Coercion,
    Converts,
    Decides,
    Each,
    Fits,
    Hops,
    Never,
    Splits,
    Widens,
)
from runtime_support.programs.types import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NUMBERS,
    STRING,
    AnyType,
    ClassType,
    ListType,
    LiteralType,
    MapType,
    RecordType,
    TupleType,
    Type,
    UnionType,
    fits,
    members_of,
    names_fit,
    notation,
    widened,
)
from runtime_support.programs.values import Misfit, conform

Route = tuple[Definition, ...]
MOST_CONVERSIONS = 3
_NUMBER = re.compile(r"\s*-?(\d+)(\.\d+)?([eE][+-]?\d+)?\s*", re.ASCII)


def judge(source: Type, target: Type, registry: Registry) -> Coercion:
    """How values of the source become values of the target."""
    if fits(source, target):
        return Fits()
    if isinstance(source, AnyType):
        return Decides()
    if isinstance(source, UnionType):
        return _judge_union(source, target, registry)
    if any(_widens(source, member) for member in members_of(target)):
        return Widens()
    routes = shortest_routes(lambda parameter: fits(source, parameter), target, registry)
    if len(routes) > 1:
        return Splits(tuple(routes))
    if routes:
        return Converts(routes[0])
    inner = [_judge_inside(source, member, registry) for member in members_of(target)]
    possible = [one for one in inner if not isinstance(one, Never)]
    if len(possible) == 1 and len(inner) == 1:
        return possible[0]
    if possible:
        return Decides()
    if any(_hops(widened(source), member) for member in members_of(target)):
        return Hops()
    return Never()


def shortest_routes(
    accepts: Callable[[Type], bool], target: Type, registry: Registry
) -> list[Route]:
    """All shortest paths of conversions to the target, from what `accepts` a first parameter."""
    routes: list[Route] = [
        (one,) for one in registry.conversions if accepts(one.parameters[0].type)
    ]
    seen: list[Type] = []
    for _ in range(MOST_CONVERSIONS):
        arrived = [route for route in routes if fits(route[-1].result, target)]
        if arrived:
            return arrived
        here = [route[-1].result for route in routes]
        seen += here
        routes = [
            (*route, one)
            for route in routes
            for one in registry.conversions
            if fits(route[-1].result, one.parameters[0].type) and one.result not in seen
        ]
    return []


def reachable(source: Type, registry: Registry) -> list[str]:
    """What the conversions can make of the type, nearest first, in the notation."""
    found: list[str] = []
    level = [source]
    for _ in range(MOST_CONVERSIONS):
        level = [
            one.result
            for type_ in level
            for one in registry.conversions
            if fits(type_, one.parameters[0].type) and notation(one.result) not in found
        ]
        found += dict.fromkeys(map(notation, level))
    return found


def readings(value: Any, target: Type) -> list[tuple[str, Any]]:
    """The values that one built-in hop gives, each with a sentence; two for text with commas."""
    for member in members_of(target):
        found = _read(value, member)
        if found:
            return found
    return []


def why_not(value: Any, target: Type) -> str | None:
    """A reason that says more than the types do, when there is one."""
    if isinstance(value, str) and any(member in NUMBERS for member in members_of(target)):
        return f"{json.dumps(value, ensure_ascii=False)} is not a number"
    return None


def _judge_union(source: UnionType, target: Type, registry: Registry) -> Coercion:
    verdicts = [judge(member, target, registry) for member in source.members]
    if all(isinstance(one, Never) for one in verdicts):
        return Never()
    if all(isinstance(one, Fits | Widens) for one in verdicts):
        return Widens()
    return Decides()


def _widens(source: Type, target: Type) -> bool:
    source = widened(source)
    if target == FLOAT:
        return source in NUMBERS
    if isinstance(source, ListType) and isinstance(target, ListType):
        return fits(source.item, target.item) or _widens(source.item, target.item)
    return False


def _judge_inside(source: Type, target: Type, registry: Registry) -> Coercion:
    """The rules that look at the parts of a value, or that need the value itself."""
    match source, target:
        case ListType(), ListType():
            item = judge(source.item, target.item, registry)
            return item if isinstance(item, Never) else Each(item)
        case ListType(), TupleType():
            return Decides()
        case TupleType(), ListType():
            items = [judge(item, target.item, registry) for item in source.items]
            return Never() if any(isinstance(one, Never) for one in items) else Decides()
        case TupleType(), TupleType():
            return Decides() if len(source.items) == len(target.items) else Never()
        case ((MapType() | RecordType()), (MapType() | RecordType() | ClassType())):
            return _judge_object(source, target, registry)
        case ClassType(), ClassType():
            return Decides() if issubclass(target.python, source.python) else Never()
        case _, LiteralType():
            same = widened(source) == widened(target) or widened(source) in NUMBERS
            return Decides() if same and not isinstance(source, LiteralType) else Never()
        case _:
            return Decides() if target == INTEGER and source in NUMBERS else Never()


def _judge_object(
    source: MapType | RecordType, target: MapType | RecordType | ClassType, registry: Registry
) -> Coercion:
    constructor = registry.constructor_of(target)
    if isinstance(target, ClassType) and constructor is None:
        return Never()
    if isinstance(source, MapType) or isinstance(target, MapType):
        return Decides()
    fields = constructor.parameters if constructor is not None else getattr(target, "fields", ())
    given = {field.name for field in source.fields}
    return Decides() if names_fit(given, fields) else Never()


def _hops(source: Type, target: Type) -> bool:
    if source == STRING:
        return target in NUMBERS or (isinstance(target, ListType) and _takes_text(target.item))
    if source in NUMBERS:
        return target in (STRING, BOOLEAN)
    if source == BOOLEAN:
        return target in NUMBERS
    return isinstance(source, ListType) and target == STRING and _takes_text(source.item)


def _takes_text(item: Type) -> bool:
    return any(
        member in (ANY, STRING) or isinstance(member, LiteralType) for member in members_of(item)
    )


def _read(value: Any, target: Type) -> list[tuple[str, Any]]:
    if isinstance(value, str):
        return _read_text(value, target)
    if isinstance(value, bool):
        return [("as a number", _stored(int(value), target))] if target in NUMBERS else []
    if isinstance(value, int | float):
        if target == STRING:
            return [("as text", json.dumps(value))]
        return [("as a boolean", bool(value))] if target == BOOLEAN and value in (0, 1) else []
    if target == STRING and is_list(value) and all(isinstance(item, str) for item in value):
        return [("joined", ",".join(value))]
    return []


def _read_text(text: str, target: Type) -> list[tuple[str, Any]]:
    if target in NUMBERS:
        number = _parse_number(text)
        try:
            return [] if number is None else [("as a number", conform(number, target))]
        except Misfit:
            return []
    if not isinstance(target, ListType) or not _takes_text(target.item):
        return []
    choices = [("a list of one", [text])]
    if "," in text:
        choices.insert(0, ("split at the commas", text.split(",")))
    return [(sentence, kept) for sentence, items in choices if (kept := _kept(items, target))]


def _kept(items: list[str], target: ListType) -> Any:
    try:
        return conform(items, target)
    except Misfit:
        return None


def _stored(number: int, target: Type) -> int | float:
    return float(number) if target == FLOAT else number


def _parse_number(text: str) -> int | float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > 1000:
        return None
    whole = match[2] is None and match[3] is None
    number = int(text) if whole else float(text)
    return number if math.isfinite(number) else None
