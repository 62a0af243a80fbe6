"""Writes values as programs, which are JSON data.

    serialize(Point(1, 2), registry)                 {"Point": {"lat": 1, "lon": 2}}
    serialize({"a": Point(1, 2)}, registry)          {"$object": {"a": ...}}: one key is a call

Laws: the program `serialize(v)` has the value `v`, and serializing this value again returns the
same program. JSON has no tuples: a tuple is written as a list, which becomes a tuple again where a
tuple type is declared (a field, a parameter, `returns`). Where lists are allowed, too, a tuple is
an error, since it would become a list.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from runtime_support._core.results import ToolCall
from runtime_support._schema import model as m
from runtime_support._schema.signatures import Parameter
from runtime_support._tables import summary
from runtime_support._values.dates import text_of, word_of
from runtime_support._values.kinds import is_dataframe
from runtime_support.programs import _types
from runtime_support.programs._outcomes import Call, compact
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import LARGEST_INTEGER_BITS

MOST_PARTS = 100_000


class SerializationError(ValueError):
    """No program has this value, which has a cycle, a NaN or infinity, or an unregistered type."""


def serialize(value: Any, registry: Registry) -> Any:
    """Returns the program, as JSON data, that has this value.

    Raises SerializationError if no program has the value.
    """
    try:
        return _ValueWriter(registry).write(value, _types.ANY, "value")
    except RecursionError:
        raise SerializationError("the value is nested too deeply") from None


class _ValueWriter:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._open: set[int] = set()
        self._parts = 0

    def write(self, value: Any, expected: _types.Type, place: str) -> Any:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise SerializationError(f"the value has more than {MOST_PARTS} parts")
        if type(value) is int and value.bit_length() > LARGEST_INTEGER_BITS:
            raise SerializationError(f"{place} is too large a number")
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            if math.isfinite(value):
                return value
            raise SerializationError(f"{place} is {value}, which is not a JSON number")
        if word_of(value) is not None:
            return text_of(value)
        if id(value) in self._open:
            raise SerializationError(f"{place} contains itself")
        self._open.add(id(value))
        try:
            return self._compound(value, expected, place)
        finally:
            self._open.remove(id(value))

    def _compound(self, value: Any, expected: _types.Type, place: str) -> Any:
        python = cast("type[Any]", type(value))
        if python is list:
            return self._items(value, expected, place)
        if python is dict:
            return self._object(value, expected, place)
        definition = self._registry.constructor(python)
        if definition is not None:
            return self._call(value, definition, place)
        if python is tuple and _takes_no_list(expected):
            return self._items(value, expected, place)
        raise SerializationError(f"{place} is a {python.__name__}, which is not a registered type")

    def _items(self, value: Any, expected: _types.Type, place: str) -> list[Any]:
        types = [_item_type(expected, index) for index in range(len(value))]
        return [
            self.write(item, type_, f"{place}[{index}]")
            for index, (item, type_) in enumerate(zip(value, types, strict=True))
        ]

    def _object(self, value: dict[Any, Any], expected: _types.Type, place: str) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for key, item in value.items():
            name = text_of(key) if word_of(key) is not None else key
            if type(name) is not str:
                raise SerializationError(f"{place} has the key {key!r}, which is not text")
            if name in written:
                raise SerializationError(f"{place} has two keys that are written as {name}")
            written[name] = self.write(item, _value_type(expected, name), f"{place}.{name}")
        return as_record(written)

    def _call(self, value: Any, definition: Definition, place: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for parameter in definition.parameters:
            try:
                item = getattr(value, parameter.python_name)
            except AttributeError:
                raise SerializationError(f"{place} has no attribute {parameter.name}") from None
            if parameter.required or not is_default(item, parameter):
                here = f"{place}.{parameter.name}"
                arguments[parameter.name] = self.write(item, parameter.schema, here)
        return {definition.name: arguments}


def as_record(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields as a record of a program.

    The record is wrapped in `$object` if it would otherwise be read as a call or a form.
    """
    is_plain = len(fields) != 1 and not any(key.startswith("$") for key in fields)
    return fields if is_plain else {"$object": fields}


def _takes_no_list(expected: _types.Type) -> bool:
    """True if the expected type allows no lists, so that a written list is read as a tuple."""
    return not any(isinstance(one, m.ListSchema) for one in _types.lists_of(expected))


def _item_type(expected: _types.Type, index: int) -> _types.Type:
    for member in _types.members_of(expected):
        if (item := _types.item_of(member)) is not None:
            return item
        if isinstance(member, m.TupleSchema) and index < len(member.items):
            return member.items[index]
    return _types.ANY


def _value_type(expected: _types.Type, key: str) -> _types.Type:
    for member in _types.members_of(expected):
        if isinstance(member, m.MapSchema):
            return member.value
        for field in member.fields if isinstance(member, m.ObjectSchema) else ():
            if field.name == key:
                return field.schema
    return _types.ANY


def is_default(value: Any, parameter: Parameter) -> bool:
    """True if the value equals the parameter's default and has its type: 1 does not equal True."""
    default = parameter.default_value()
    return type(value) is type(default) and is_equal(value, default)


def is_equal(left: Any, right: Any) -> bool:
    """True if the values are equal. Values that cannot be compared are not."""
    try:
        return bool(left == right)
    except Exception:  # an unusual `__eq__`
        return False


@dataclass(frozen=True, slots=True)
class ProgramCall(ToolCall):
    """A call that a program made; `path` is a JSON Pointer into the program."""

    path: str = ""


def described(call: Call, registry: Registry) -> ProgramCall:
    """Converts a call that has ended to a tool call of the prompt's result."""
    arguments = {name: _written(value, registry) for name, value in call.arguments.items()}
    result = None if call.error is not None else _written(call.result, registry)
    if result is not None and not isinstance(result, str):
        result = compact(result)
    text = "null" if call.error is None and result is None else result
    milliseconds = round(call.seconds * 1000, 3)
    return ProgramCall(call.name, arguments, text, call.error, milliseconds, path=call.path)


def _written(value: Any, registry: Registry) -> Any:
    """Returns the value as a program, or as its repr if no program has it.

    A table is returned as a summary.
    """
    if is_dataframe(value):
        return summary(value)
    with suppress(SerializationError):
        return serialize(value, registry)
    try:
        return repr(value)
    except Exception:  # an unusual `__repr__`, or an integer of thousands of digits
        return f"a value of type {type(value).__name__}"
