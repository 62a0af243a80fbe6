"""A JSON Schema of the valid programs, for servers that can hold a model to one.

One definition per type that a place can expect, and one per callable:

    number      a number, a boolean, text that is a number, each call that gives or can become one
    call.add    {"add": {"a": number, "b": number}}

What a schema cannot say (which variables are in scope, how many choices a value has) is left to
the check of the program itself.
"""

from __future__ import annotations

import re
from typing import Any, assert_never

from runtime_support._schema import model as m
from runtime_support._schema.writing import JSON_TYPES
from runtime_support._values import is_number
from runtime_support.programs import _tree as n
from runtime_support.programs import _types
from runtime_support.programs._coercion import is_by_position, judge
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import FORMS

Schema = dict[str, Any]

NUMBER_TEXT = r"^\s*-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*$"
INTEGER_TEXT = r"^\s*-?[0-9]+\s*$"
VARIABLE: Schema = {"type": "string", "pattern": "^[^$]+$"}
DATA_KEY: Schema = {"not": {"pattern": "^[$]"}}


def schema(registry: Registry, returns: Any = Any) -> Schema:
    """The JSON Schema (2020-12) of the programs of this registry whose value is a `returns`."""
    writer = _SchemaWriter(registry)
    root = writer.expression(registry.read_type(returns))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "$defs": writer.definitions,
    }


class _SchemaWriter:
    """Writes definitions at their first use; they refer to each other by name."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.definitions: dict[str, Schema] = {}
        self._names: list[tuple[_types.Type, str]] = []

    def expression(self, type_: _types.Type) -> Schema:
        """A reference to the expressions that fit where the type is expected."""
        type_ = m.resolved(type_)
        known = next((name for other, name in self._names if other == type_), None)
        if known is None:
            known = self._free_name(_plain_name(type_))
            self._names.append((type_, known))
            self.definitions[known] = {}  # holds the name while the parts are written
            self.definitions[known] = {"anyOf": self._alternatives(type_)}
        return _reference(known)

    def _free_name(self, name: str) -> str:
        taken, free, count = {name for _, name in self._names}, name, 1
        while free in taken:
            count += 1
            free = f"{name}-{count}"
        return free

    def _alternatives(self, type_: _types.Type) -> list[Schema]:
        found: list[Schema] = []
        for member in _types.members_of(type_):
            found += self._written(member)
        found += self._converted_constants(type_)
        found += [
            self._call(one)
            for one in self._registry.definitions.values()
            if not isinstance(judge(one.result, type_, self._registry), n.Never)
        ]
        return [*found, *self._forms(type_)]

    # Values written in place

    def _written(self, type_: _types.Type) -> list[Schema]:
        match type_:
            case m.AnySchema():
                anything = self.expression(_types.ANY)
                scalars = {"type": ["null", "boolean", "number", "string"]}
                return [scalars, {"type": "array", "items": anything}, *self._open(anything)]
            case m.ScalarSchema():
                return _scalars(type_)
            case m.LiteralSchema():
                return [{"const": type_.value}]
            case m.ListSchema(item):
                return self._listed(item)
            case m.TupleSchema(rest=item) if item is not None:
                return self._listed(item)
            case m.TupleSchema(items):
                count = len(items)
                listed = [self.expression(item) for item in items]
                return [
                    {"type": "array", "prefixItems": listed, "minItems": count, "maxItems": count}
                ]
            case m.MapSchema(value):
                return self._open(self.expression(value))
            case m.ObjectSchema(fields=fields, build=None):
                return self._records(fields)
            case m.ObjectSchema() | m.RootSchema() | m.OpaqueSchema():
                constructor = self._registry.constructor_of(type_)
                return [] if constructor is None else self._records(constructor.parameters)
            case m.ReferenceSchema(_, target):
                return self._written(target())
            case m.UnionSchema():
                return []
            case _:
                assert_never(type_)

    def _listed(self, item: _types.Type) -> list[Schema]:
        text = [{"type": "string"}] if self._joins(item) else []
        return [{"type": "array", "items": self.expression(item)}, *text, *_single_numbers(item)]

    def _joins(self, item: _types.Type) -> bool:
        return any(member in (_types.ANY, _types.STRING) for member in _types.members_of(item))

    def _converted_constants(self, type_: _types.Type) -> list[Schema]:
        """Constants for which there is a conversion, a bare City for "Oslo" say."""
        if isinstance(type_, m.AnySchema) or not self._registry.conversions:
            return []
        starts = _types.union_of(one.parameters[0].schema for one in self._registry.conversions)
        kinds = [one for one in _types.members_of(starts) if isinstance(one, m.ScalarSchema)]
        return [
            {"type": "number" if kind in _types.NUMBERS else JSON_TYPES[kind.kind]}
            for kind in kinds
            if not isinstance(judge(kind, type_, self._registry), n.Never)
        ]

    def _open(self, value: Schema) -> list[Schema]:
        """Records of any keys: as they are without or with several keys, else with $object."""
        several = {
            "type": "object",
            "minProperties": 2,
            "propertyNames": DATA_KEY,
            "additionalProperties": value,
        }
        empty = {"type": "object", "maxProperties": 0}
        explicit = _form("$object", {"type": "object", "additionalProperties": value})
        return [empty, several, explicit]

    def _records(self, fields: tuple[m.Field, ...]) -> list[Schema]:
        record = self._object(fields)
        explicit = _form("$object", record)
        bare = record
        callables = set(self._registry.definitions)
        for name in callables & {field.name for field in fields}:
            if _types.names_fit({name}, fields):  # alone, this key would be a call
                bare = {"minProperties": 2, **record}
        return [bare, explicit]

    def _object(self, fields: tuple[m.Field, ...]) -> Schema:
        properties = {field.name: self.expression(field.schema) for field in fields}
        return _closed(properties, [field.name for field in fields if field.required])

    # Calls and forms

    def _call(self, definition: Definition) -> Schema:
        name = f"call.{definition.name}"
        if name not in self.definitions:
            self.definitions[name] = {}
            arguments = self._object(definition.parameters)
            if (single := definition.single) is not None:
                bare = self.expression(single.schema)
                is_named = is_by_position([], single.schema, self._registry)
                other = {"not": {"type": ["object", "array"] if is_named else "object"}}
                arguments = {"anyOf": [arguments, {"allOf": [other, bare]}]}
            written = _form(definition.name, arguments)
            if definition.doc:
                written["description"] = definition.doc
            self.definitions[name] = written
        return _reference(name)

    def _forms(self, type_: _types.Type) -> list[Schema]:
        anything, here = self.expression(_types.ANY), self.expression(type_)
        bindings = {
            "type": "object",
            "propertyNames": VARIABLE,
            "additionalProperties": anything,
        }
        forms = [
            _form("$ref", {"type": "string"}),
            _form("$let", _keys("$let", {"bind": bindings, "in": here})),
            _form(
                "$if",
                _keys("$if", {"test": self.expression(_types.BOOLEAN), "then": here, "else": here}),
            ),
        ]
        items = self._mapped(type_)
        if items is not None:
            parts = {
                "over": self.expression(m.ListSchema(_types.ANY)),
                "as": VARIABLE,
                "where": self.expression(_types.BOOLEAN),
                "do": self.expression(items),
            }
            forms.append(_form("$map", _keys("$map", parts)))
        return forms

    def _mapped(self, type_: _types.Type) -> _types.Type | None:
        """What the body of a `$map` may be here, None where a list does not fit."""
        lists = _types.lists_of(type_)
        if len(lists) == 1 and (item := _types.item_of(lists[0])) is not None:
            return item
        is_never = isinstance(judge(m.ListSchema(_types.ANY), type_, self._registry), n.Never)
        takes_text = isinstance(judge(m.ListSchema(_types.STRING), type_, self._registry), n.Never)
        return None if is_never and takes_text else _types.ANY


def _single_numbers(item: _types.Type) -> list[Schema]:
    """The number that may be given for a list of one."""
    members = _types.members_of(item)
    if any(member in (_types.ANY, _types.NUMBER, _types.FLOAT) for member in members):
        return [{"type": "number"}]
    constants = [one.value for one in members if isinstance(one, m.LiteralSchema)]
    numbers: list[Schema] = [{"const": one} for one in constants if is_number(one)]
    return [*numbers, *([{"type": "integer"}] if _types.INTEGER in members else [])]


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _plain_name(type_: _types.Type) -> str:
    """The notation in letters that need no escaping in a reference: `list-of-number`."""
    words = _types.type_notation(type_).replace("[", "list of ")
    return re.sub("[^A-Za-z0-9_]+", "-", words).strip("-") or "type"


def _closed(properties: dict[str, Schema], required: list[str]) -> Schema:
    """An object of these properties; what is cheap to test comes first, what descends last."""
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }


def _form(name: str, body: Schema) -> Schema:
    return _closed({name: body}, [name])


def _keys(form: str, parts: dict[str, Schema]) -> Schema:
    needed, _ = FORMS[form]
    return _closed(parts, list(needed))


def _scalars(type_: m.ScalarSchema) -> list[Schema]:
    """The constants that are of this type or one built-in hop away from it."""
    if type_ == _types.NULL:
        return [{"type": "null"}]
    if type_ == _types.BOOLEAN:
        return [{"type": "boolean"}, {"enum": [0, 1]}]
    if type_ == _types.STRING:
        texts = {"type": "array", "items": {"type": "string"}}
        return [{"type": "string"}, {"type": "number"}, texts]
    number = "integer" if type_ == _types.INTEGER else "number"
    text = INTEGER_TEXT if type_ == _types.INTEGER else NUMBER_TEXT
    return [{"type": number}, {"type": "boolean"}, {"type": "string", "pattern": text}]
