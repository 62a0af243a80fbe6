"""The classes of schemas, which are plain data.

`Schema` is a union of small frozen classes. A `match` over all of them ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from runtime_support._values.dates import Word
from runtime_support.errors import CheckError

ScalarKind: TypeAlias = Literal["int", "float", "number", "bool", "string", "nil"] | Word


class _Absent:
    """The type of ABSENT, which says that a field has no default."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"  # pickled by name, so that it stays a singleton


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Constraints:
    """Limits on a number, a date, a length or a text, in addition to the type.

    `least` and `most` limit the number of characters or items. `format` is a JSON Schema format.
    `digits` limits the number of digits of a decimal, and `places` the digits after the point. With
    `told_only`, the limits are only shown to models, because pydantic checks the values itself.
    """

    above: Any = None
    minimum: Any = None
    below: Any = None
    maximum: Any = None
    multiple_of: Any = None
    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    format: str | None = None
    are_unique: bool = False
    digits: int | None = None
    places: int | None = None
    told_only: bool = False


@dataclass(frozen=True, slots=True)
class AnySchema:
    """Any value."""


@dataclass(frozen=True, slots=True)
class ScalarSchema:
    """A number, bool, string, nil, date, time, duration or decimal.

    In programs, the kind `number` is an int or a float.
    """

    kind: ScalarKind
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class LiteralSchema:
    """A single value that is a string, number, bool or nil.

    `member` is the value that Python code gets instead: the member of an Enum, or a number or bool
    that is written as text because it is the key of an object.
    """

    value: str | int | float | bool | None
    member: Any = ABSENT

    def __eq__(self, other: object) -> bool:
        # Saft's equality: `true` is not `1`.
        return (
            isinstance(other, LiteralSchema)
            and type(self.value) is type(other.value)
            and self.value == other.value
            and self.member is other.member
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    @property
    def python_value(self) -> Any:
        """The Python value: `member` if there is one, else `value`."""
        return self.value if self.member is ABSENT else self.member


@dataclass(frozen=True, slots=True)
class ListSchema:
    """A list whose items all have the same schema.

    Python code may also pass an instance of the class `also`: `Iterable` if the type is
    `Iterable[int]`.
    """

    item: Schema
    also: type | None = None
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class TupleSchema:
    """A tuple with a schema for each item.

    With `rest`, it is a Python tuple of any length, and `rest` is the schema of all items.
    """

    items: tuple[Schema, ...]
    rest: Schema | None = None
    constraints: Constraints | None = None


TEXT = ScalarSchema("string")


@dataclass(frozen=True, slots=True)
class MapSchema:
    """An object with arbitrary keys. Each key has the schema `key`, each value the schema `value`.

    Keys in JSON are strings. They are read as dates if `key` is a date.
    """

    value: Schema
    key: Schema = TEXT
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object.

    A missing optional field gets `default`. If `default` is ABSENT, the field is left out, so that
    the record's class applies its default. `attribute` is the name in Python, if there is one.
    Models are shown `examples` and `told_default`, which are JSON data.
    """

    name: str
    schema: Schema
    required: bool = True
    default: Any = ABSENT
    doc: str | None = None
    attribute: str | None = None
    examples: tuple[Any, ...] = ()
    told_default: Any = ABSENT

    @property
    def python_name(self) -> str:
        """The name of the attribute that holds the field in Python."""
        return self.attribute or self.name


@dataclass(frozen=True, slots=True)
class ObjectSchema:
    """An object with exactly these fields, or a record.

    `build` is the class of a record. With `validates_itself`, the class is a model or dataclass of
    pydantic, which checks the fields itself.
    """

    name: str | None
    fields: tuple[Field, ...]
    doc: str | None = None
    build: type[Any] | None = None
    validates_itself: bool = False


@dataclass(frozen=True, slots=True)
class RootSchema:
    """A pydantic root model: a class around a single value. JSON has only this value.

    The class checks the value itself.
    """

    name: str
    root: Field
    doc: str | None
    build: type[Any]
    validates_itself: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class UnionSchema:
    """One of several schemas.

    A member that takes a value unchanged wins over a member that has to convert the value.
    """

    members: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class ReferenceSchema:
    """A reference to a schema that contains this reference, in a recursive type.

    `target` returns the schema when its type has been read.
    """

    name: str
    target: Callable[[], Schema] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpaqueSchema:
    """A value without a JSON form: a function, or an instance of the class `python`.

    `gives` is the schema of a function's results, if it is known. With `may_wait`, the function may
    return an awaitable.
    """

    name: str
    accepts: Callable[[Any], bool] = field(compare=False, repr=False)
    python: type | None = None
    gives: Schema | None = None
    may_wait: bool = False


@dataclass(slots=True)
class ReadLater:
    """The `target` of a `ReferenceSchema`. Returns `schema`, which is set after it has been read.

    It is a class and not a closure, so that schemas can be pickled.
    """

    schema: Schema | None = None

    def __call__(self) -> Schema:
        assert self.schema is not None, "the type is still being read"
        return self.schema


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """Tests whether a value is an instance of the class `python`.

    The test is true for all values if `isinstance` does not support the class.
    """

    python: type

    def __call__(self, value: Any) -> bool:
        try:
            return isinstance(value, self.python)
        except TypeError:  # a protocol or the like, which does not support isinstance
            return True


Schema: TypeAlias = (
    AnySchema
    | ScalarSchema
    | LiteralSchema
    | ListSchema
    | TupleSchema
    | MapSchema
    | ObjectSchema
    | RootSchema
    | UnionSchema
    | ReferenceSchema
    | OpaqueSchema
)


def constraints_of(schema: Schema) -> Constraints | None:
    """Returns the constraints of a schema, or None."""
    match schema:
        case ScalarSchema() | ListSchema() | TupleSchema() | MapSchema():
            return schema.constraints
        case _:
            return None


def is_scalar(schema: Schema, kind: ScalarKind) -> bool:
    """True if the schema is a scalar of this kind, with or without constraints."""
    return isinstance(schema, ScalarSchema) and schema.kind == kind


# The kinds of strings that have a date format in JSON Schema.
KINDS_OF_FORMATS: dict[str, Word] = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "duration",
}
_OF_NUMBERS = ("above", "minimum", "below", "maximum")
_COUNTED = ("least", "most")
# The constraints that apply to each kind.
_FOR_KINDS: dict[ScalarKind, tuple[str, ...]] = {
    **dict.fromkeys(("int", "float", "number", "duration"), (*_OF_NUMBERS, "multiple_of")),
    "decimal": (*_OF_NUMBERS, "multiple_of", "digits", "places"),
    **dict.fromkeys(("date", "datetime", "time"), _OF_NUMBERS),
    "string": (*_OF_NUMBERS, *_COUNTED, "pattern", "format"),
}


def constrained(schema: Schema, constraints: Constraints) -> Schema:
    """Adds the constraints that apply to the kind of the schema, and returns the new schema.

    Each member of a union gets the constraints that apply to this member.
    """
    match schema:
        case UnionSchema(members):
            return UnionSchema(tuple(constrained(member, constraints) for member in members))
        case ScalarSchema(kind):
            names = _FOR_KINDS.get(kind, ())
        case ListSchema() | MapSchema():
            names = (*_COUNTED, "are_unique")
        case TupleSchema(rest=rest) if rest is not None:
            names = _COUNTED
        case _:
            return schema
    given = {name: getattr(constraints, name) for name in names}
    said = {name: one for name, one in given.items() if one is not None and one is not False}
    if not said:
        return schema
    known = schema.constraints or Constraints()
    return replace(schema, constraints=replace(known, **said, told_only=constraints.told_only))


def resolved(schema: Schema) -> Schema:
    """Returns the schema that a reference or a root model leads to, or the schema itself."""
    while True:
        match schema:
            case ReferenceSchema(_, target):
                schema = target()
            case RootSchema(root=root):
                schema = root.schema
            case _:
                return schema


def is_key(schema: Schema) -> bool:
    """True if the schema's values can be the keys of a JSON object."""
    if isinstance(schema, ScalarSchema):
        return schema.kind in ("string", "date", "datetime")
    literals = literals_of(schema)
    return bool(literals) and all(isinstance(one.value, str) for one in literals)


def parts_of(schema: Schema) -> tuple[Schema, ...]:
    """Returns the schemas of items, keys, values or fields, or the members of a union."""
    match schema:
        case ListSchema(part):
            return (part,)
        case MapSchema(value, key):
            return (value,) if key == TEXT else (value, key)
        case TupleSchema(items, rest):
            return items if rest is None else (rest,)
        case ObjectSchema(fields=fields):
            return tuple(field.schema for field in fields)
        case RootSchema(root=root):
            return (root.schema,)
        case UnionSchema(members):
            return members
        case _:
            return ()


def members_of(schema: Schema) -> tuple[Schema, ...]:
    """Returns the members of a union. Replaces a union among the members by its members.

    For another schema, returns only this schema.
    """
    schema = resolved(schema)
    if not isinstance(schema, UnionSchema):
        return (schema,)
    return tuple(one for member in schema.members for one in members_of(member))


def scalars_in(schema: Schema) -> set[ScalarKind]:
    """Returns the kinds of all scalars in the schema. A string with a date format is a date."""
    found: set[ScalarKind] = set()
    for current in all_parts(schema):
        if isinstance(current, ScalarSchema):
            form = None if current.constraints is None else current.constraints.format
            found.add(KINDS_OF_FORMATS.get(form or "") or current.kind)
    return found


def all_parts(schema: Schema) -> Iterator[Schema]:
    """Yields the schema and all schemas in it. A reference comes before its target.

    Each schema is yielded only once.
    """
    known, pending = set[int](), [schema]
    while pending:
        current = pending.pop()
        if id(current) not in known:
            known.add(id(current))
            yield current
            pending += (
                [current.target()]
                if isinstance(current, ReferenceSchema)
                else reversed(parts_of(current))
            )


def holds_calls(schema: Schema) -> bool:
    """True if an object in a value may have both `name` and `arguments`, like a tool call."""
    found = [one for one in all_parts(schema) if isinstance(one, ObjectSchema)]
    return any({"name", "arguments"} <= {field.name for field in one.fields} for one in found)


def holds_decimals(schema: Schema) -> bool:
    """True if a value of the schema may contain a decimal, so that digits must be kept."""
    return "decimal" in scalars_in(schema)


def literals_of(schema: Schema) -> tuple[LiteralSchema, ...]:
    """Returns the literals of a schema, or an empty tuple if it is not only literals."""
    members = members_of(schema)
    literals = tuple(one for one in members if isinstance(one, LiteralSchema))
    return literals if len(literals) == len(members) else ()


def admits_nil(schema: Schema) -> bool:
    """True if nil fits the schema. A field of such a type, except `any`, may be missing."""
    match schema:
        case AnySchema() | ScalarSchema("nil") | LiteralSchema(None):
            return True
        case UnionSchema(members):
            return any(admits_nil(member) for member in members)
        case _:
            return False


def class_of(schema: Schema) -> type | None:
    """Returns the Python class of the values that the schema describes, or None."""
    match schema:
        case ObjectSchema(build=build) | RootSchema(build=build):
            return build
        case OpaqueSchema(python=python):
            return python
        case _:
            return None


def without_json_form(name: str) -> CheckError:
    """Returns the error for a type whose values have no JSON form."""
    return CheckError(f"a value of type {name} has no JSON form")
