"""The types of programs: the types of `runtime_support._schema` in a normal form.

    Normal().form(schema)           the type in the normal form, which all other functions expect
    type_notation(type)             such as `[Point]` or `{lat: number, lon?: number}`
    fits(integer, number)           True: every integer is a number, unchanged
    conform(["a", 1], [string])     raises TypeMismatch: item 1: expected string, got number

The type names are those of JSON: `null`, `boolean`, `integer`, `number`, `string`. Python's `int |
float` is one type, `number`; a `float` is a number that is stored as a float. Classes are nominal:
an instance of an unregistered class can be passed on by a program, but not written in it. `conform`
changes a value only if nothing is lost: it makes a float of an integer, an integer of 5.0, a tuple
of a list, and an Enum member of its value. All other changes are coercions, which it does not make.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from runtime_support._schema import model as m
from runtime_support._schema.checking import Check, Mismatch, Validating, opaque_check
from runtime_support._schema.model import members_of
from runtime_support._schema.writing import JSON_TYPES, NotationWriter, short
from runtime_support._values.dates import EXAMPLES
from runtime_support._values.kinds import is_list, is_number, is_object, is_tuple

F = TypeVar("F", bound=m.Field)
Type: TypeAlias = m.Schema

ANY = m.AnySchema()
NULL = m.ScalarSchema("nil")
BOOLEAN = m.ScalarSchema("bool")
INTEGER = m.ScalarSchema("int")
NUMBER = m.ScalarSchema("number")
FLOAT = m.ScalarSchema("float")
STRING = m.ScalarSchema("string")

NUMBERS = (INTEGER, NUMBER, FLOAT)
BUILT_IN_NAMES = frozenset({"any", "boolean", "integer", "null", "number", "object", "string"})

# JSON has no dates: an example in the notation shows the model how to write one.
_EXAMPLES: dict[str, str] = {**EXAMPLES}
_SCALARS = {bool: BOOLEAN, int: INTEGER, float: FLOAT, str: STRING, type(None): NULL}
_SAMPLE = 20
_LONGEST_SHOWN = 40


class TypeMismatch(Exception):
    """The value is not of the type.

    The message is `expected T, got S`. If a part of the value is wrong, its path comes first.
    """


# The normal form of types


class Normal:
    """Converts types to the normal form. The schema of each record is converted only once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[m.Schema, m.ReadLater]] = {}

    def form(self, schema: m.Schema) -> Type:
        """Returns the normal form of a type.

        In this form, `int | float` is one type, unions have no repetitions, and references are only
        in recursive types.
        """
        match schema:
            case m.ListSchema(item):
                return m.ListSchema(self.form(item))
            case m.TupleSchema(items, rest):
                rest = None if rest is None else self.form(rest)
                return m.TupleSchema(tuple(map(self.form, items)), rest)
            case m.MapSchema(value, key):
                return m.MapSchema(self.form(value), key)
            case m.LiteralSchema(None):
                return NULL
            case m.UnionSchema(members):
                return union_of(map(self.form, members))
            case m.OpaqueSchema(python=None):
                return ANY  # functions and other opaque values are not JSON data
            case m.ReferenceSchema(_, target):
                return self.form(target())
            case m.ObjectSchema(build=None):
                return self._record(schema)
            case m.RootSchema(name, root, doc, build):  # a class with one root value
                return m.ObjectSchema(name, (root,), doc, build, validates_itself=True)
            case _:
                return schema

    def fields(self, fields: Iterable[F]) -> tuple[F, ...]:
        """Returns the fields with their types in normal form."""
        return tuple(replace(field, schema=self.form(field.schema)) for field in fields)

    def _record(self, schema: m.ObjectSchema) -> Type:
        known = self._known.get(id(schema))
        if known is not None:
            later = known[1]
            return later.schema or m.ReferenceSchema(schema.name or "object", later)
        later = m.ReadLater()
        self._known[id(schema)] = (schema, later)  # the schema is stored to keep its id unique
        later.schema = m.ObjectSchema(schema.name, self.fields(schema.fields), schema.doc)
        return later.schema


def union_of(types: Iterable[Type]) -> Type:
    """Returns the union of the types, without repetitions.

    A union of int and float is `number`, and the union of no types is `any`.
    """
    members: list[Type] = []
    for type_ in types:  # references are not resolved, as a target may still be incomplete
        for member in type_.members if isinstance(type_, m.UnionSchema) else (type_,):
            if member not in members:
                members.append(member)
    if ANY in members or not members:
        return ANY
    if NUMBER in members or (INTEGER in members and FLOAT in members):
        first = next(index for index, member in enumerate(members) if member in NUMBERS)
        members = [member for member in members if member not in NUMBERS]
        members.insert(min(first, len(members)), NUMBER)
    return members[0] if len(members) == 1 else m.UnionSchema(tuple(members))


def lists_of(type_: Type) -> list[m.ListSchema | m.TupleSchema]:
    """Returns the members of a type that are lists or tuples."""
    return [one for one in members_of(type_) if isinstance(one, m.ListSchema | m.TupleSchema)]


def widen(type_: Type) -> Type:
    """Returns the scalar type of a constant type. Returns any other type unchanged."""
    if isinstance(type_, m.LiteralSchema) and type_.member is m.ABSENT:
        return _SCALARS[type(type_.value)]
    return type_


def item_of(type_: Type) -> Type | None:
    """Returns the item type of a list type, or of a type of tuples of any length.

    Returns None for other types.
    """
    match type_:
        case m.ListSchema(item):
            return item
        case m.TupleSchema(rest=rest):
            return rest
        case _:
            return None


def names_fit(given: set[str], fields: Iterable[m.Field]) -> bool:
    """True if an object with these keys has all required fields and no unknown ones."""
    wanted = {field.name: field.required for field in fields}
    return given <= wanted.keys() and all(
        name in given for name, required in wanted.items() if required
    )


def fits(source: Type, target: Type, assumed: tuple[tuple[int, int], ...] = ()) -> bool:
    """True if each value of `source` is also a value of `target`, without any change.

    `assumed` has the pairs of record types, by their ids, whose comparison has begun. They are
    assumed to fit, so that the comparison of recursive types ends.
    """
    source, target = m.resolved(source), m.resolved(target)
    if isinstance(target, m.AnySchema) or source == target:
        return True
    if isinstance(source, m.UnionSchema):
        return all(fits(member, target, assumed) for member in source.members)
    if isinstance(target, m.UnionSchema):
        return any(fits(source, member, assumed) for member in target.members)
    match source, target:
        case (m.ScalarSchema() | m.LiteralSchema(), m.ScalarSchema()):
            source = widen(source)
            return source == target or (source in NUMBERS and target == NUMBER)
        case m.ListSchema(item), m.ListSchema(wanted):
            return fits(item, wanted, assumed)
        case m.TupleSchema(items, None), m.TupleSchema(wanted, None):
            return len(items) == len(wanted) and all(
                fits(one, other, assumed) for one, other in zip(items, wanted, strict=True)
            )
        case m.TupleSchema(rest=item), m.TupleSchema(rest=wanted):
            return item is not None and wanted is not None and fits(item, wanted, assumed)
        case m.MapSchema(value, key), m.MapSchema(wanted, wanted_key):
            return key == wanted_key and fits(value, wanted, assumed)
        case m.ObjectSchema(fields=fields, build=None), m.MapSchema(wanted, m.TEXT):
            return all(fits(field.schema, wanted, assumed) for field in fields)
        case m.ObjectSchema(build=None), m.ObjectSchema(build=None):
            pair = (id(source), id(target))
            return pair in assumed or _record_fits(source, target, (*assumed, pair))
        case _:
            own, wanted_class = m.class_of(source), m.class_of(target)
            if own is None or wanted_class is None:
                return False
            return issubclass(own, wanted_class)


def _record_fits(
    source: m.ObjectSchema, target: m.ObjectSchema, assumed: tuple[tuple[int, int], ...]
) -> bool:
    wanted = {field.name: field.schema for field in target.fields}
    return names_fit({field.name for field in source.fields}, target.fields) and all(
        fits(field.schema, wanted[field.name], assumed) for field in source.fields
    )


# Types in words


class _Notation(NotationWriter):
    """Writes types for a model that writes programs."""

    def write_scalar(self, kind: m.ScalarKind) -> str:
        example = _EXAMPLES.get(kind)
        return f'string such as "{example}"' if example else JSON_TYPES[kind]

    def write_literal(self, schema: m.LiteralSchema) -> str:
        return json.dumps(schema.value, ensure_ascii=False)

    def write_tuple(self, schema: m.TupleSchema, indent: str) -> str:
        if schema.rest is not None:
            return f"[{self.write(schema.rest)}]"
        return f"({', '.join(map(self.write, schema.items))})"

    def write_map(self, schema: m.MapSchema, indent: str) -> str:
        is_any = isinstance(schema.value, m.AnySchema)
        shown = "object" if is_any else f"object of {self.write(schema.value)}"
        return shown if schema.key == m.TEXT else f"{shown} by {short(schema.key)}"

    def write_reference(self, schema: m.ReferenceSchema) -> str:
        return schema.name

    def write_object(self, schema: m.ObjectSchema, indent: str) -> str:
        if schema.build is not None and schema.name is not None:
            return schema.name
        fields = (
            f"{field.name}{'' if field.required else '?'}: {self.write(field.schema)}"
            for field in schema.fields
        )
        return f"{{{', '.join(fields)}}}"

    def write_union(self, members: tuple[m.Schema, ...], indent: str) -> str:
        return " | ".join(map(self.write, members))


def type_notation(type_: Type) -> str:
    """Returns the type as models see it, such as `[Point]`, `{lat: number, lon?: number}`."""
    return _Notation().write(type_)


def found_notation(type_: Type) -> str:
    """Returns the type as messages name it after "got". A constant is named as its scalar type."""
    type_ = m.resolved(type_)
    if isinstance(type_, m.UnionSchema):
        return " | ".join(dict.fromkeys(map(found_notation, type_.members)))
    item = item_of(type_)
    if item is not None:
        return f"[{found_notation(item)}]"
    if widen(type_) == INTEGER:
        return "number"
    if isinstance(type_, m.ObjectSchema) and type_.name is None:
        return "object"
    return type_notation(widen(type_))


# Values against types


def type_of(value: Any) -> Type:
    """Returns the type of a value. Items of lists and fields of objects have the type `any`."""
    python = cast("type[Any]", type(value))
    scalar = _SCALARS.get(python)
    if scalar is not None:
        return scalar
    if is_list(value):
        return m.ListSchema(ANY)
    if python is tuple:
        return m.TupleSchema((), ANY)
    return (
        m.MapSchema(ANY)
        if is_object(value)
        else m.OpaqueSchema(python.__name__, m.InstanceOf(python), python)
    )


def kind_name(value: Any) -> str:
    """Returns the type of a value as messages name it after "got": number, Point, [string]."""
    if not is_list(value):
        return "tuple" if type(value) is tuple else found_notation(type_of(value))
    if not value:
        return "list"
    kinds = union_of(type_of(item) for item in value[:_SAMPLE])
    return f"[{found_notation(kinds)}]"


def got(value: Any) -> str:
    """Returns the type of a value as text, followed by the value if it is short: `string "7"`."""
    name = kind_name(value)
    if value is None or type(value) not in (bool, int, float, str):
        return name
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # for example an integer of thousands of digits
        return name
    return f"{name} {text}" if len(text) <= _LONGEST_SHOWN else name


class _Conforming(Validating):
    """Compiles types to functions that check the values in programs."""

    def named(self, schema: m.Schema) -> str:
        return type_notation(schema)

    def expected(self, schema: m.Schema) -> str:
        return f"expected {type_notation(schema)}"

    def scalar_check(self, word: m.ScalarKind) -> Check:
        if word == "number":
            return opaque_check(self.expected(NUMBER), is_number)
        check = super().scalar_check(word)
        if word != "int":
            return check

        def check_integer(value: Any) -> Any:
            return check(int(value) if isinstance(value, float) and value.is_integer() else value)

        return check_integer

    def list_check(self, schema: m.ListSchema) -> Check:
        check = super().list_check(schema)
        return lambda value: check(list(value) if is_tuple(value) else value)

    def tuple_check(self, schema: m.TupleSchema) -> Check:
        check = super().tuple_check(schema)
        return lambda value: check(tuple(value) if is_list(value) else value)

    def record_check(self, schema: m.ObjectSchema | m.RootSchema) -> Check:
        assert schema.build is not None, "an object without a class has `keys_check`"
        return opaque_check(self.expected(schema), m.InstanceOf(schema.build))


_conforming = _Conforming()


def conform(value: Any, type_: Type) -> Any:
    """Returns the value in the form in which the type stores it.

    Raises TypeMismatch if the value does not fit the type.
    """
    try:
        return _conforming.check(type_)(value)
    except Mismatch as mismatch:
        raise TypeMismatch(_words(mismatch)) from None


def conforms(value: Any, type_: Type) -> bool:
    """True if the value is a value of the type, perhaps after the changes that `conform` makes."""
    try:
        _conforming.check(type_)(value)
    except Mismatch:
        return False
    return True


def _words(mismatch: Mismatch) -> str:
    steps: list[str | int] = mismatch.steps[::-1]
    places = "".join(f"item {s}: " if isinstance(s, int) else f"field '{s}': " for s in steps)
    found = "" if mismatch.value is m.ABSENT else f", got {got(mismatch.value)}"
    if mismatch.value is not m.ABSENT and mismatch.hint is not None:
        found = ", got one that is too large"
    return f"{places}{mismatch.expected}{found}"
