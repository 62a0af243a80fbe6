"""The forms of a schema, as plain data.

A schema is a union of small frozen classes; `match` over one ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from runtime_support._values.dates import Word
from runtime_support.errors import CheckError

ScalarKind: TypeAlias = Literal["int", "float", "number", "bool", "string", "nil"] | Word


class _Absent:
    """The default of a field that has none."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"  # pickled by name, so that it stays the one it is


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Constraints:
    """What is asked of a value beside its type: of a number or a date, of how many characters or
    items there are, and of a text.

    `format` is a word of JSON Schema. Those of a class that checks its own values, as pydantic's
    models do, are `told_only`.
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
    """A number, a bool, a string, nil, a date or the like; `number` is `int | float` as programs
    have it."""

    kind: ScalarKind
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class LiteralSchema:
    """Exactly one string, number, bool or nil; `member` is what it stands for in Python: the Enum
    member with this value, or the number whose text is a key."""

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
        """The value in Python: the member of an Enum, else the value itself."""
        return self.value if self.member is ABSENT else self.member


@dataclass(frozen=True, slots=True)
class ListSchema:
    """A list whose items all have one schema.

    In Python, an instance of `also` is taken too: what `Iterable` and its like mean.
    """

    item: Schema
    also: type | None = None
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class TupleSchema:
    """A tuple with a schema for each item; `rest` is for Python's tuples of any length."""

    items: tuple[Schema, ...]
    rest: Schema | None = None
    constraints: Constraints | None = None


TEXT = ScalarSchema("string")


@dataclass(frozen=True, slots=True)
class MapSchema:
    """An object with any keys, whose values have one schema, and so have its keys: in JSON they are
    texts, of which dates can be read.
    """

    value: Schema
    key: Schema = TEXT
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object.

    A field that is not required takes `default` when it is absent; ABSENT leaves it out (a
    record's own default then applies). `attribute` is the name in Python, where there is one.
    A model is told `examples` and the `told_default`, which are JSON data.
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
        """The name of the record's attribute."""
        return self.attribute or self.name


@dataclass(frozen=True, slots=True)
class ObjectSchema:
    """An object of exactly these fields; with `build`, a record made from them by a call.

    A class that `validates_itself` has checked its instances when they were made.
    """

    name: str | None
    fields: tuple[Field, ...]
    doc: str | None = None
    build: Callable[..., Any] | None = None
    validates_itself: bool = False


@dataclass(frozen=True, slots=True)
class RootSchema:
    """What a class makes of one value, which is all that JSON has of it: a root model of pydantic.

    It checks its values itself.
    """

    name: str
    root: Field
    doc: str | None
    build: Callable[..., Any]


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
    """A value that has no JSON form: a function, an instance of a Python class (`python`).

    Of a function, `gives` is what a call of it has to give, if something is asked of that; one that
    `may_wait` may give it when it is awaited.
    """

    name: str
    accepts: Callable[[Any], bool] = field(compare=False, repr=False)
    python: type | None = None
    gives: Schema | None = None
    may_wait: bool = False


@dataclass(slots=True)
class ReadLater:
    """What a reference refers to, once it has been read; a class, so that it pickles."""

    schema: Schema | None = None

    def __call__(self) -> Schema:
        assert self.schema is not None, "the type is still being read"
        return self.schema


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """Tells whether a value is an instance of the class, as far as the class can tell."""

    python: type

    def __call__(self, value: Any) -> bool:
        try:
            return isinstance(value, self.python)
        except TypeError:  # a protocol or another class that has no instances to test
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
    """What is asked of a value beside its type, if anything."""
    match schema:
        case ScalarSchema() | ListSchema() | TupleSchema() | MapSchema():
            return schema.constraints
        case _:
            return None


def is_scalar(schema: Schema, kind: ScalarKind) -> bool:
    """Whether it is a scalar of the kind, whatever else is asked of it."""
    return isinstance(schema, ScalarSchema) and schema.kind == kind


# Of texts, those that are dates and the like by their format in JSON Schema.
KINDS_OF_FORMATS: dict[str, ScalarKind] = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "duration",
}
_OF_NUMBERS = ("above", "minimum", "below", "maximum")
_COUNTED = ("least", "most")
# Which constraints a value of a kind can have.
_FOR_KINDS: dict[ScalarKind, tuple[str, ...]] = {
    **dict.fromkeys(("int", "float", "number", "duration"), (*_OF_NUMBERS, "multiple_of")),
    "decimal": (*_OF_NUMBERS, "multiple_of", "digits", "places"),
    **dict.fromkeys(("date", "datetime", "time"), _OF_NUMBERS),
    "string": (*_OF_NUMBERS, *_COUNTED, "pattern", "format"),
}


def constrained(schema: Schema, constraints: Constraints) -> Schema:
    """The schema with the constraints that its values can have; of a union, its members."""
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
    """The schema itself, where this is a reference to it; of a root model that of its root, which
    is what JSON has."""
    while True:
        match schema:
            case ReferenceSchema(_, target):
                schema = target()
            case RootSchema(root=root):
                schema = root.schema
            case _:
                return schema


def is_key(schema: Schema) -> bool:
    """Whether the texts that are the keys of an object in JSON can be of this schema."""
    if isinstance(schema, ScalarSchema):
        return schema.kind in ("string", "date", "datetime")
    literals = literals_of(schema)
    return bool(literals) and all(isinstance(one.value, str) for one in literals)


def parts_of(schema: Schema) -> tuple[Schema, ...]:
    """The schemas directly inside: of items, values and fields, or the members of a union."""
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
    """The schemas of which a value may have one: those of a union and of unions inside it."""
    schema = resolved(schema)
    if not isinstance(schema, UnionSchema):
        return (schema,)
    return tuple(one for member in schema.members for one in members_of(member))


def scalars_in(schema: Schema) -> set[ScalarKind]:
    """The kinds of scalars that may be in a value; a text in the form of a date is one."""
    found: set[ScalarKind] = set()
    for current in all_parts(schema):
        if isinstance(current, ScalarSchema):
            form = None if current.constraints is None else current.constraints.format
            found.add(KINDS_OF_FORMATS.get(form or "", current.kind))
    return found


def all_parts(schema: Schema) -> Iterator[Schema]:
    """The schema and all that are inside of it, each once; references are before their targets."""
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
    """Whether an object in a value may have both a `name` and `arguments`, as calls of tools do."""
    found = [one for one in all_parts(schema) if isinstance(one, ObjectSchema)]
    return any({"name", "arguments"} <= {field.name for field in one.fields} for one in found)


def holds_decimals(schema: Schema) -> bool:
    """Whether a decimal may be in a value, so that the digits of its numbers are to be kept."""
    return "decimal" in scalars_in(schema)


def literals_of(schema: Schema) -> tuple[LiteralSchema, ...]:
    """The literals that the schema is, or of which it is a union; nothing for any other."""
    members = members_of(schema)
    literals = tuple(one for one in members if isinstance(one, LiteralSchema))
    return literals if len(literals) == len(members) else ()


def admits_nil(schema: Schema) -> bool:
    """Whether nil satisfies the schema; such a field may be absent."""
    match schema:
        case AnySchema() | ScalarSchema("nil") | LiteralSchema(None):
            return True
        case UnionSchema(members):
            return any(admits_nil(member) for member in members)
        case _:
            return False


def class_of(schema: Schema) -> type | None:
    """The Python class whose instances the schema describes, if it describes those of one."""
    match schema:
        case ObjectSchema(build=build) | RootSchema(build=build):
            return build if isinstance(build, type) else None
        case OpaqueSchema(python=python):
            return python
        case _:
            return None


def without_json_form(name: str) -> CheckError:
    """The error of a type whose values JSON cannot hold: the same wherever one is met."""
    return CheckError(f"a value of type {name} has no JSON form")
