"""The types of the language: what a callable takes and gives, as data.

    null boolean integer number string any
    [T]   (A, B)   {field: T, ...}   object   "low" | "high"   A | B   Name

`notation` writes a type for the model; `fits` says whether every value of one type may stand
where another is expected, unchanged. Python's `int | float` is `number`; `float` is a number that
is stored as a float (an integer becomes one); the classes of a registry are nominal.

[values] Values against types: which type a value has, and whether it is one of a type as it stands.

    type_of(Point(1, 2))            ClassType("Point")
    conform(1, FLOAT)               1.0
    conform(["a", 1], [string])     raises Misfit: item 1: expected string, got number

Only what loses nothing is adapted here: an integer where a float is stored, 5.0 for an integer,
a list where a tuple is declared. Everything else is coercion.

"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from runtime_support.values import is_list, is_object, is_tuple

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


_SCALARS = {bool: BOOLEAN, int: INTEGER, float: FLOAT, str: STRING, type(None): NULL}
_SUBCLASSES = {"string": str, "number": (int, float), "float": (int, float), "integer": int}
_SAMPLE = 20


class Misfit(Exception):
    """The value is not one of the type; the message is `expected T, got S`, with a place."""


def type_of(value: Any) -> Type:
    """The type of the value itself; the items of lists and objects are left open."""
    python = class_of(value)
    scalar = _SCALARS.get(python)
    if scalar is not None:
        return scalar
    if is_list(value):
        return ListType(ANY)
    if python is tuple:
        return ListType(ANY, as_tuple=True)
    if is_object(value):
        return MapType(ANY)
    return ClassType(python.__name__, python)


def literal_type(value: Any) -> Type:
    """The singleton type of a constant of a program."""
    scalar = _SCALARS[type(value)]
    return NULL if value is None else LiteralType(scalar.kind, value)


def kind_name(value: Any) -> str:
    """What the value is, in the words of "got ...": number, Point, [string]."""
    if is_list(value) and value:
        kinds = union_of(widened(type_of(item)) for item in value[:_SAMPLE])
        return f"[{found_notation(kinds)}]"
    if is_list(value) or is_tuple(value):
        return "list" if is_list(value) else "tuple"
    return found_notation(type_of(value))


def class_of(value: Any) -> type[Any]:
    return cast("type[Any]", type(value))


def conform(value: Any, type_: Type) -> Any:
    """The value as one of the type; raises Misfit."""
    match type_:
        case AnyType():
            return value
        case ScalarType(kind):
            return _conform_scalar(value, kind, type_)
        case LiteralType():
            if type(value) is type(type_.value) and value == type_.value:
                return value
            raise misfit(value, type_)
        case ListType(item):
            if not (is_list(value) or is_tuple(value)):
                raise misfit(value, type_)
            items = _conform_all(value, [item] * len(value))
            return tuple(items) if type_.as_tuple else _same_or(value, items)
        case TupleType(types):
            if not (is_list(value) or is_tuple(value)):
                raise misfit(value, type_)
            if len(value) != len(types):
                raise Misfit(f"expected {len(types)} items, got {len(value)}")
            return tuple(_conform_all(value, list(types)))
        case MapType(item):
            if not is_object(value):
                raise misfit(value, type_)
            return value if item == ANY else {k: _inner(v, item, k) for k, v in value.items()}
        case RecordType():
            return _conform_record(value, type_)
        case ClassType(_, python):
            if _is_instance(value, python):
                return value
            raise misfit(value, type_)
        case UnionType(members):
            for member in members:
                try:
                    return conform(value, member)
                except Misfit:
                    continue
            raise misfit(value, type_)


def conforms(value: Any, type_: Type) -> bool:
    try:
        conform(value, type_)
    except Misfit:
        return False
    return True


def misfit(value: Any, type_: Type) -> Misfit:
    return Misfit(f"expected {notation(type_)}, got {kind_name(value)}")


def _conform_scalar(value: Any, kind: ScalarKind, type_: Type) -> Any:
    python = class_of(value)
    found = _SCALARS.get(python)
    if found is not None:
        if found.kind == kind or (kind == "number" and type(value) in (int, float)):
            return value
        if kind == "float" and type(value) is int:
            try:
                return float(value)
            except OverflowError:
                raise Misfit(f"expected {notation(type_)}, got one that is too large") from None
        if kind == "integer" and type(value) is float and value.is_integer():
            return int(value)
    elif isinstance(value, _SUBCLASSES.get(kind, ())):
        return value
    raise misfit(value, type_)


def _conform_record(value: Any, type_: RecordType) -> Any:
    if not is_object(value):
        raise misfit(value, type_)
    for name in value:
        if type_.field(name) is None:
            raise Misfit(f"unknown field '{name}'")
    result = dict(value)
    for field in type_.fields:
        if field.name in value:
            result[field.name] = _inner(value[field.name], field.type, field.name)
        elif field.required:
            raise Misfit(f"missing field '{field.name}'")
    return result


def _conform_all(values: Any, types: list[Type]) -> list[Any]:
    return [
        _inner(value, type_, index)
        for index, (value, type_) in enumerate(zip(values, types, strict=True))
    ]


def _inner(value: Any, type_: Type, place: str | int) -> Any:
    try:
        return conform(value, type_)
    except Misfit as error:
        where = f"item {place}" if isinstance(place, int) else f"field '{place}'"
        raise Misfit(f"{where}: {error}") from None


def _same_or(value: Any, items: list[Any]) -> list[Any]:
    """The list itself when nothing in it was adapted, so that its identity is kept."""
    unchanged = is_list(value) and all(a is b for a, b in zip(value, items, strict=True))
    return value if unchanged else items


def _is_instance(value: Any, python: type) -> bool:
    try:
        return isinstance(value, python)
    except TypeError:  # a protocol or another class that has no instances to test
        return True
