"""The types of the language: what a callable takes and gives, as data.

    null boolean integer number string any
    [T]   (A, B)   {field: T, ...}   object   "low" | "high"   A | B   Name

`notation` writes a type for the model; `fits` says whether every value of one type may stand
where another is expected, unchanged. Python's `int | float` is `number`; `float` is a number that
is stored as a float (an integer becomes one); the classes of a registry are nominal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

ScalarKind = Literal["null", "boolean", "integer", "number", "float", "string"]


@dataclass(frozen=True, slots=True)
class AnyType:
    """Every value."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    kind: ScalarKind


@dataclass(frozen=True, slots=True)
class LiteralType:
    """Exactly this value; `kind` keeps 1 apart from true."""

    kind: ScalarKind
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ListType:
    """A list, or with `as_tuple` a tuple of any length."""

    item: Type
    as_tuple: bool = False


@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class MapType:
    """An object of any keys."""

    value: Type


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    required: bool
    doc: str = ""


class RecordType:
    """An object of exactly these fields; they are found at first use, so that it may recur."""

    def __init__(self, fields: Callable[[], tuple[Field, ...]], name: str | None = None) -> None:
        self._find = fields
        self.name = name

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return self._find()

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class ClassType:
    """The instances of a Python class, under the name by which the registry knows it."""

    name: str
    python: type


@dataclass(frozen=True, slots=True)
class UnionType:
    members: tuple[Type, ...]


Type = (
    AnyType
    | ScalarType
    | LiteralType
    | ListType
    | TupleType
    | MapType
    | RecordType
    | ClassType
    | UnionType
)

ANY = AnyType()
NULL = ScalarType("null")
BOOLEAN = ScalarType("boolean")
INTEGER = ScalarType("integer")
NUMBER = ScalarType("number")
FLOAT = ScalarType("float")
STRING = ScalarType("string")

NUMBERS = (INTEGER, NUMBER, FLOAT)
BUILT_IN_NAMES = frozenset({"any", "boolean", "integer", "null", "number", "object", "string"})


def union_of(types: Iterable[Type]) -> Type:
    """The union without repetitions; int | float is `number`; nothing at all is `any`."""
    members: list[Type] = []
    for type_ in types:
        for member in members_of(type_):
            if member not in members:
                members.append(member)
    if ANY in members or not members:
        return ANY
    if NUMBER in members or (INTEGER in members and FLOAT in members):
        first = next(index for index, member in enumerate(members) if member in NUMBERS)
        members = [member for member in members if member not in NUMBERS]
        members.insert(min(first, len(members)), NUMBER)
    return members[0] if len(members) == 1 else UnionType(tuple(members))


def members_of(type_: Type) -> tuple[Type, ...]:
    return type_.members if isinstance(type_, UnionType) else (type_,)


def widened(type_: Type) -> Type:
    """The type without knowledge of one single value."""
    return ScalarType(type_.kind) if isinstance(type_, LiteralType) else type_


def fits(source: Type, target: Type) -> bool:
    """Whether each value of `source` is one of `target` as it is."""
    if isinstance(target, AnyType) or source == target:
        return True
    if isinstance(source, UnionType):
        return all(fits(member, target) for member in source.members)
    if isinstance(target, UnionType):
        return any(fits(source, member) for member in target.members)
    match source, target:
        case ScalarType() | LiteralType(), ScalarType(kind):
            return kind == source.kind or (source.kind in ("integer", "float") and kind == "number")
        case ListType(), ListType():
            return source.as_tuple == target.as_tuple and fits(source.item, target.item)
        case TupleType(), TupleType():
            return _all_fit(source.items, target.items)
        case MapType(), MapType():
            return fits(source.value, target.value)
        case RecordType(), MapType():
            return all(fits(field.type, target.value) for field in source.fields)
        case RecordType(), RecordType():
            return _record_fits(source, target)
        case ClassType(), ClassType():
            return issubclass(source.python, target.python)
        case _:
            return False


def _all_fit(sources: tuple[Type, ...], targets: tuple[Type, ...]) -> bool:
    return len(sources) == len(targets) and all(map(fits, sources, targets))


def _record_fits(source: RecordType, target: RecordType) -> bool:
    if source.name is not None and source.name == target.name:
        return source.fields is target.fields
    return names_fit({field.name for field in source.fields}, target.fields) and all(
        (wanted := target.field(field.name)) is not None and fits(field.type, wanted.type)
        for field in source.fields
    )


def names_fit(given: set[str], fields: Iterable[Field]) -> bool:
    """Whether an object with these keys has all the required fields and no others."""
    wanted = {field.name: field.required for field in fields}
    return given <= wanted.keys() and all(
        name in given for name, required in wanted.items() if required
    )


def notation(type_: Type, inside: tuple[RecordType, ...] = ()) -> str:
    """The type as a model reads it: `[Point]`, `string | null`, `{lat: number, lon?: number}`."""
    match type_:
        case AnyType():
            return "any"
        case ScalarType(kind):
            return "number" if kind == "float" else kind
        case LiteralType():
            return json.dumps(type_.value, ensure_ascii=False)
        case ListType(item):
            return f"[{notation(item, inside)}]"
        case TupleType(items):
            return f"({', '.join(notation(item, inside) for item in items)})"
        case MapType(value):
            is_open = isinstance(value, AnyType)
            return "object" if is_open else f"object of {notation(value, inside)}"
        case RecordType():
            if type_ in inside:
                return type_.name or "object"
            fields = (
                f"{field.name}{'' if field.required else '?'}: "
                f"{notation(field.type, (*inside, type_))}"
                for field in type_.fields
            )
            return f"{{{', '.join(fields)}}}"
        case ClassType():
            return type_.name
        case UnionType(members):
            return " | ".join(notation(member, inside) for member in members)


def found_notation(type_: Type) -> str:
    """The type in the words of "expected ..., got ...": a constant by its kind."""
    if isinstance(type_, UnionType):
        return " | ".join(dict.fromkeys(map(found_notation, type_.members)))
    if isinstance(type_, ListType):
        return f"[{found_notation(type_.item)}]"
    if isinstance(type_, ScalarType | LiteralType) and type_.kind == "integer":
        return "number"
    if isinstance(type_, RecordType) and type_.name is None:
        return "object"
    return notation(widened(type_))
