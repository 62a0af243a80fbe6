"""The forms of a schema, as plain data.

A schema is a union of small frozen classes; `match` over one ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ScalarKind: TypeAlias = Literal["int", "float", "bool", "string", "nil"]


class _Absent:
    """The default of a field that has none."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class AnySchema:
    """Any value."""


@dataclass(frozen=True, slots=True)
class ScalarSchema:
    """A number, a bool, a string or nil."""

    kind: ScalarKind


@dataclass(frozen=True, slots=True)
class LiteralSchema:
    """Exactly one string, number, bool or nil."""

    value: str | int | float | bool | None

    def __eq__(self, other: object) -> bool:
        # Saft's equality: `true` is not `1`.
        return (
            isinstance(other, LiteralSchema)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class ListSchema:
    """A list whose items all have one schema."""

    item: Schema


@dataclass(frozen=True, slots=True)
class TupleSchema:
    """A tuple with a schema for each item; `rest` is for Python's tuples of any length."""

    items: tuple[Schema, ...]
    rest: Schema | None = None


@dataclass(frozen=True, slots=True)
class MapSchema:
    """An object with any keys, whose values have one schema."""

    value: Schema


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object.

    A field that is not required takes `default` when it is absent; ABSENT leaves it out (a
    record's own default then applies). `attribute` is the name in Python, where it is another.
    """

    name: str
    schema: Schema
    required: bool = True
    default: Any = ABSENT
    doc: str | None = None
    attribute: str | None = None

    @property
    def python_name(self) -> str:
        """The name of the record's attribute."""
        return self.attribute or self.name


@dataclass(frozen=True, slots=True)
class ObjectSchema:
    """An object of exactly these fields; with `build`, a record made from them by a call."""

    name: str | None
    fields: tuple[Field, ...]
    doc: str | None = None
    build: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class UnionSchema:
    """One of several schemas; a member that fits exactly goes before one that converts."""

    members: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class ReferenceSchema:
    """A schema that is still being read, by name: how recursive types refer to themselves."""

    name: str
    target: Callable[[], Schema] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpaqueSchema:
    """A value that has no JSON form: a function, an instance of a Python class."""

    name: str
    accepts: Callable[[Any], bool] = field(compare=False, repr=False)


Schema: TypeAlias = (
    AnySchema
    | ScalarSchema
    | LiteralSchema
    | ListSchema
    | TupleSchema
    | MapSchema
    | ObjectSchema
    | UnionSchema
    | ReferenceSchema
    | OpaqueSchema
)


def resolved(schema: Schema) -> Schema:
    """The schema itself, where a reference stands for it."""
    while isinstance(schema, ReferenceSchema):
        schema = schema.target()
    return schema


def admits_nil(schema: Schema) -> bool:
    """Whether nil satisfies the schema; such a field may be absent."""
    match schema:
        case AnySchema() | ScalarSchema("nil") | LiteralSchema(None):
            return True
        case UnionSchema(members):
            return any(admits_nil(member) for member in members)
        case _:
            return False
