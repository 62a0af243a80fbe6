"""Values against types: which type a value has, and whether it is one of a type as it stands.

    type_of(Point(1, 2))            ClassType("Point")
    conform(1, FLOAT)               1.0
    conform(["a", 1], [string])     raises Misfit: item 1: expected string, got number

Only what loses nothing is adapted here: an integer where a float is stored, 5.0 for an integer,
a list where a tuple is declared. Everything else is coercion.
"""

from __future__ import annotations

from typing import Any, cast

from runtime_support.programs.paths import is_list, is_object, is_tuple
from runtime_support.programs.types import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NULL,
    STRING,
    AnyType,
    ClassType,
    ListType,
    LiteralType,
    MapType,
    RecordType,
    ScalarKind,
    ScalarType,
    TupleType,
    Type,
    UnionType,
    found_notation,
    notation,
    union_of,
    widened,
)

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
