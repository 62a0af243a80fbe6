"""Writes a JSON Schema that describes programs, for servers that enforce the schema of a reply.

The schema has a definition for each type and each callable, such as:

    number      allows a number, or a call whose result is a number or can become one
    call.add    allows {"add": {"a": number, "b": number}}

The schema is not exact: the check of the program decides. Some valid programs violate the schema,
such as those with a string for a number. Some invalid programs satisfy it, as it cannot express all
rules, such as which variables are in scope.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from runtime_support._schema import model as m
from runtime_support._schema.writing import JSON_TYPES
from runtime_support.programs import _types
from runtime_support.programs._conversions import Impossible, step
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import FORMS

Schema: TypeAlias = dict[str, Any]

_VARIABLE: Schema = {"type": "string", "pattern": "^[^$]+$"}
_DATA_KEY: Schema = {"not": {"pattern": "^[$]"}}
_FORM = "form"


def schema(registry: Registry, returns: Any = Any) -> Schema:
    """Returns the JSON Schema (2020-12) of the programs of this registry.

    `returns` is the Python type of the programs' value.
    """
    writer = _SchemaWriter(registry)
    root = writer.expression(registry.read_type(returns))
    writer.definitions[_FORM] = {"anyOf": writer.forms()}
    version = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": version, **root, "$defs": writer.definitions}


class _SchemaWriter:
    """Writes the definitions of a JSON Schema, each when it is first needed.

    The definitions refer to each other by name.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.definitions: dict[str, Schema] = {_FORM: {}}
        self._names: list[tuple[_types.Type, str]] = []

    def expression(self, type_: _types.Type) -> Schema:
        """Returns a reference to the schema of all expressions that are allowed for a type."""
        type_ = m.resolved(type_)
        known = next((name for other, name in self._names if other == type_), None)
        if known is None:
            known = self._free_name(type_)
            self._names.append((type_, known))
            self.definitions[known] = {}  # reserves the name while the parts are written
            plain = [one for member in _types.members_of(type_) for one in self._plain(member)]
            calls = [
                self._call(one)
                for one in self._registry.definitions.values()
                if not isinstance(step(one.result, type_, self._registry), Impossible)
            ]
            self.definitions[known] = {"anyOf": [*plain, *calls, _reference(_FORM)]}
        return _reference(known)

    def _free_name(self, type_: _types.Type) -> str:
        """Returns an unused name, made of the type's notation, such as `list-of-number`."""
        words = _types.type_notation(type_).replace("[", "list of ")
        name = re.sub("[^A-Za-z0-9_]+", "-", words).strip("-") or "type"
        count = sum(known.partition(".")[0] == name for known in self.definitions)
        return f"{name}.{count + 1}" if count else name

    def _plain(self, type_: _types.Type) -> list[Schema]:
        """Returns the schemas of literal values of a type."""
        match type_:
            case m.AnySchema():
                anything = self.expression(_types.ANY)
                scalars = {"type": ["null", "boolean", "number", "string"]}
                return [scalars, {"type": "array", "items": anything}, *_open(anything)]
            case m.ScalarSchema(kind):
                return [{"type": JSON_TYPES[kind]}]
            case m.LiteralSchema(value):
                return [{"const": value}]
            case m.ListSchema() | m.TupleSchema() if (item := _types.item_of(type_)) is not None:
                return [{"type": "array", "items": self.expression(item)}]
            case m.TupleSchema(items):
                listed, count = list(map(self.expression, items)), len(items)
                return [
                    {"type": "array", "prefixItems": listed, "minItems": count, "maxItems": count}
                ]
            case m.MapSchema(value):
                return _open(self.expression(value))
            case _:
                fields = self._registry.fields_of(type_)
                return [] if fields is None else self._records(fields)

    def _records(self, fields: tuple[m.Field, ...]) -> list[Schema]:
        record = self._object(fields)
        alone = {name for name in self._registry.definitions if _types.names_fit({name}, fields)}
        bare = {"minProperties": 2, **record} if alone else record  # else a call
        return [bare, _form("$object", record)]

    def _object(self, fields: tuple[m.Field, ...]) -> Schema:
        properties = {field.name: self.expression(field.schema) for field in fields}
        return _closed(properties, [field.name for field in fields if field.required])

    def _call(self, definition: Definition) -> Schema:
        """Returns a reference to the schema of calls of one callable."""
        name = f"call.{definition.name}"
        if name not in self.definitions:
            self.definitions[name] = {}
            arguments = self._object(definition.parameters)
            if (single := definition.single) is not None:
                bare = {"allOf": [{"not": {"type": "object"}}, self.expression(single.schema)]}
                arguments = {"anyOf": [arguments, bare]}
            said = {"description": definition.doc} if definition.doc else {}
            self.definitions[name] = {**_form(definition.name, arguments), **said}
        return _reference(name)

    def forms(self) -> list[Schema]:
        """Returns the schemas of `$ref`, `$let`, `$if` and `$map`, with values of any type."""
        anything, flag = self.expression(_types.ANY), self.expression(_types.BOOLEAN)
        bound = {"type": "object", "propertyNames": _VARIABLE, "additionalProperties": anything}
        parts: dict[str, dict[str, Schema]] = {
            "$let": {"bind": bound, "in": anything},
            "$if": {"test": flag, "then": anything, "else": anything},
            "$map": {
                "over": self.expression(m.ListSchema(_types.ANY)),
                "as": _VARIABLE,
                "where": flag,
                "do": anything,
            },
        }
        written = [
            _form(name, _closed(one, [key for key in FORMS[name] if FORMS[name][key]]))
            for name, one in parts.items()
        ]
        return [_form("$ref", {"type": "string"}), *written]


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _open(value: Schema) -> list[Schema]:
    """Returns the schemas of records that may have any keys. `value` is the schema of their fields.

    A record with a single key must be wrapped in `$object`; otherwise it would be read as a call.
    """
    several = {"minProperties": 2, "propertyNames": _DATA_KEY, "additionalProperties": value}
    explicit = _form("$object", {"type": "object", "additionalProperties": value})
    return [{"type": "object", "maxProperties": 0}, {"type": "object", **several}, explicit]


def _closed(properties: dict[str, Schema], required: list[str]) -> Schema:
    """Returns the schema of an object that has only these properties.

    The keywords that a validator tests quickly come first.
    """
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }


def _form(name: str, body: Schema) -> Schema:
    return _closed({name: body}, [name])
