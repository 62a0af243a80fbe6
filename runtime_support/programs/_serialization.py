"""A value becomes a program that evaluates to it.

    Point(1, 2)          {"Point": {"lat": 1, "lon": 2}}      arguments equal to defaults left out
    {"a": Point(1, 2)}   {"$object": {"a": {"Point": ...}}}   one key would be a call
    {"a": 1, "b": 2}     {"a": 1, "b": 2}

Laws: `evaluate(serialize(v)) == v`, and serializing that again gives the same program. A tuple is
written where a declared type makes it one again; elsewhere it would come back as a list.
"""

from __future__ import annotations

import math
from typing import Any, cast

from runtime_support._schema import model as m
from runtime_support.programs import _types as t
from runtime_support.programs._registry import Definition, Registry

MOST_PARTS = 100_000


class SerializationError(ValueError):
    """The value has no program: a cycle, a number that is not finite, an unregistered type."""


def serialize(value: Any, registry: Registry) -> Any:
    """The program, as JSON data, whose value this is; raises SerializationError."""
    try:
        return _Writer(registry).write(value, t.ANY, "value")
    except RecursionError:
        raise SerializationError("the value is nested too deeply") from None


class _Writer:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._open: set[int] = set()
        self._parts = 0

    def write(self, value: Any, expected: t.Type, place: str) -> Any:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise SerializationError(f"the value has more than {MOST_PARTS} parts")
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            if math.isfinite(value):
                return value
            raise SerializationError(f"{place} is {value}, which is not a JSON number")
        if id(value) in self._open:
            raise SerializationError(f"{place} contains itself")
        self._open.add(id(value))
        try:
            return self._compound(value, expected, place)
        finally:
            self._open.remove(id(value))

    def _compound(self, value: Any, expected: t.Type, place: str) -> Any:
        python = cast("type[Any]", type(value))
        if python is list:
            return self._items(value, expected, place)
        if python is dict:
            return self._object(value, expected, place)
        definition = self._constructor(value)
        if definition is not None:
            return self._call(value, definition, place)
        if python is tuple and _is_tuple_place(expected):
            return self._items(value, expected, place)
        raise SerializationError(f"{place} is a {python.__name__}, which is not a registered type")

    def _constructor(self, value: Any) -> Definition | None:
        for one in self._registry.definitions.values():
            if one.kind == "type" and one.function is type(value):
                return one
        return None

    def _items(self, value: Any, expected: t.Type, place: str) -> list[Any]:
        types = [_item_type(expected, index) for index in range(len(value))]
        return [
            self.write(item, type_, f"{place}[{index}]")
            for index, (item, type_) in enumerate(zip(value, types, strict=True))
        ]

    def _object(self, value: dict[Any, Any], expected: t.Type, place: str) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise SerializationError(f"{place} has the key {key!r}, which is not text")
            written[key] = self.write(item, _value_type(expected, key), f"{place}.{key}")
        if len(written) == 1 or any(key.startswith("$") for key in written):
            return {"$object": written}
        return written

    def _call(self, value: Any, definition: Definition, place: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for parameter in definition.parameters:
            try:
                item = getattr(value, parameter.python_name)
            except AttributeError:
                raise SerializationError(f"{place} has no attribute {parameter.name}") from None
            if parameter.required or not _same(item, parameter.default_value()):
                here = f"{place}.{parameter.name}"
                arguments[parameter.name] = self.write(item, parameter.schema, here)
        return {definition.name: arguments}


def _is_tuple_place(expected: t.Type) -> bool:
    lists = t.lists_of(expected)
    return bool(lists) and all(isinstance(one, m.TupleSchema) for one in lists)


def _item_type(expected: t.Type, index: int) -> t.Type:
    for member in t.members_of(expected):
        if (item := t.item_of(member)) is not None:
            return item
        if isinstance(member, m.TupleSchema) and index < len(member.items):
            return member.items[index]
    return t.ANY


def _value_type(expected: t.Type, key: str) -> t.Type:
    for member in t.members_of(expected):
        if isinstance(member, m.MapSchema):
            return member.value
        if isinstance(member, m.ObjectSchema) and (field := t.field_of(member, key)) is not None:
            return field.schema
    return t.ANY


def _same(value: Any, default: Any) -> bool:
    """Equal and of one kind: a default of 1 does not stand for true."""
    try:
        return type(value) is type(default) and bool(value == default)
    except Exception:  # an exotic __eq__: then the argument is written out
        return False
