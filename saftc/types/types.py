"""The types of values, and their notation in Saft.

Types are interned: equal types are the same object, so comparison takes constant time, however
deeply the types are nested. `ANY` is the unknown type; operations on values of unknown type are
checked at run time. `NEVER` is the type without values, such as the item type of an empty list.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, TypeVar, assert_never
from weakref import WeakValueDictionary

from saftc.syntax.nodes import FunctionDef, RecordDef

Kind = Literal[
    "any",
    "never",
    "int",
    "float",
    "bool",
    "string",
    "nil",
    "date",
    "datetime",
    "time",
    "duration",
    "decimal",
    "dataframe",
    "image",
    "file",
]

# `show` truncates longer notations.
MOST_SHOWN = 1_000

_MADE: "WeakValueDictionary[object, Type]" = WeakValueDictionary()

_Function = TypeVar("_Function", bound=Callable[..., Any])
_forgetting: list[Callable[[], None]] = []


def remembered(function: _Function) -> _Function:
    """Decorator that caches the results of a function by its arguments, which are types.

    The cached types keep the syntax trees of their scripts in memory; `forget_remembered` clears
    the caches.
    """
    remembering: Any = lru_cache(maxsize=10_000)(function)
    _forgetting.append(remembering.cache_clear)
    return remembering


def forget_remembered() -> None:
    """Clears the caches of all `remembered` functions."""
    for forget in _forgetting:
        forget()


class _MadeOnce(type):
    """Metaclass that interns instances: equal arguments return the same object."""

    if not TYPE_CHECKING:

        def __call__(cls, *arguments, **named):
            if not named and len(arguments) == len(cls.__match_args__):
                known = _MADE.get((cls, *arguments))
                if known is not None:
                    return known
            made = super().__call__(*arguments, **named)
            values = (getattr(made, name) for name in cls.__match_args__)
            return _MADE.setdefault((cls, *values), made)


class _Type(metaclass=_MadeOnce):
    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        return f"<{show(self)}>" if isinstance(self, Type) else object.__repr__(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scalar(_Type):
    """A type that contains no other types, such as string."""

    kind: Kind


STRING = Scalar("string")
DATE = Scalar("date")
DATETIME = Scalar("datetime")
# The types that keys of objects can have.
KEYS = (STRING, DATE, DATETIME)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LiteralType(_Type):
    """The type of exactly one string, number or bool.

    `base` is the scalar type of the value. It distinguishes `1` from `true`, which are equal in
    Python.
    """

    value: int | float | str | bool
    base: Scalar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ListType(_Type):
    """The type of lists: `[item]`."""

    item: "Type"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TupleType(_Type):
    """The type of tuples: `(A, B)`."""

    items: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FieldType(_Type):
    """A field of an object, with its doc comment.

    `may_lack`: the field may be absent, and is then read as nil. Only types from Python have such
    fields.
    """

    name: str
    type: "Type"
    doc: str | None = None
    may_lack: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ObjectType(_Type):
    """The type of objects with certain fields: `{id: int}`.

    `is_declared`: the script wrote the type as a schema, so the output has a class for it.
    """

    fields: tuple[FieldType, ...]
    is_declared: bool

    def field(self, name: str) -> FieldType | None:
        """The field `name`, or None."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MapType(_Type):
    """The type of objects with any keys: `{[key]: value}`. `key` is one of the types in `KEYS`."""

    value: "Type"
    key: Scalar = STRING


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordType(_Type):
    """The type of a record, as `type Name(...)` defines it.

    `definition`: the node whose entry in the facts has the record's fields, or None for records of
    the runtime. `is_mixed`: the values are also strings or numbers, as the members of some Python
    Enums, so the results of operations on them are unknown. `bases`: the base classes of a Python
    class, to which values of the class can be assigned.
    """

    name: str
    definition: RecordDef | None = None
    is_mixed: bool = False
    bases: tuple[RecordDef, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelfType:
    """A recursive reference to an object type by its alias: `Tree` in `{children: [Tree]}`.

    Only the types of fields contain references; `unrolled` returns the object type that is referred
    to.
    """

    name: str
    # Filled in when the whole type is known.
    whole: "list[Type]" = field(default_factory=list["Type"], repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnionType(_Type):
    """A union of several types; no member is itself a union, `ANY` or `NEVER`."""

    members: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionType(_Type):
    """The type of a known function. The facts have the signature under `definition`.

    `waits`: the function was returned by `approve`, so calls by a model wait for approval.
    """

    name: str
    definition: FunctionDef
    waits: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallableType(_Type):
    """The type of any function with a certain signature: `(A, B) -> C`."""

    parameters: "tuple[Type, ...]"
    result: "Type"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BuiltinType(_Type):
    """The type of a builtin function that is used as a value.

    `waits`: as in `FunctionType`, calls by a model wait for approval.
    """

    name: str
    waits: bool = False


Type = (
    Scalar
    | LiteralType
    | ListType
    | TupleType
    | ObjectType
    | MapType
    | RecordType
    | SelfType
    | UnionType
    | FunctionType
    | BuiltinType
    | CallableType
)

ANY = Scalar("any")
NEVER = Scalar("never")
INT = Scalar("int")
FLOAT = Scalar("float")
BOOL = Scalar("bool")
NIL = Scalar("nil")
NUMBER = UnionType((INT, FLOAT))
TIME = Scalar("time")
DURATION = Scalar("duration")
DECIMAL = Scalar("decimal")
DATAFRAME = Scalar("dataframe")
IMAGE = Scalar("image")
FILE = Scalar("file")

# The type of `{}`.
EMPTY_OBJECT = ObjectType((), is_declared=False)

# A program that a model has written and that has not been run.
PROGRAM = RecordType("Plan")

# Parts of a result: a tool call by the model, and the token usage.
TOOL_CALL = RecordType("ToolCall")
USAGE = RecordType("Usage")
# The declared type `Result`: a prompt's value with its history.
RESULT = RecordType("Result")
# The failure that an `except` has caught.
FAILURE = RecordType("Failure")

# A row of a dataframe: an object with a field for each column.
ROW = MapType(ANY)

BUILT_IN: dict[str, Type] = {
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "string": STRING,
    "nil": NIL,
    "any": ANY,
    "dataframe": DATAFRAME,
    "program": PROGRAM,
}
# Built-in types whose names a script may also give to its own types and variables.
DATES: dict[str, Scalar] = {one.kind: one for one in (DATE, DATETIME, TIME, DURATION, DECIMAL)}
# The types of dates and the like, by the module and name of the Python class of their values.
CLASSES_OF_DATES: dict[tuple[str, str], Scalar] = {
    ("datetime", "date"): DATE,
    ("datetime", "datetime"): DATETIME,
    ("datetime", "time"): TIME,
    ("datetime", "timedelta"): DURATION,
    ("decimal", "Decimal"): DECIMAL,
}


def record_type(definition: RecordDef) -> RecordType:
    """The type that a record definition defines, named as in the definition."""
    return RecordType(definition.name.text, definition)


def literal_type(value: int | float | str | bool | None) -> Type:
    """The type of a literal in a schema. The literal is the type's only value."""
    if value is None:
        return NIL
    return LiteralType(value, base_of_value(value))


def base_of_value(value: int | float | str | bool | None) -> Scalar:
    """The scalar type of a literal's value."""
    match value:
        case None:
            return NIL
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case str():
            return STRING


def members(type_: Type) -> tuple[Type, ...]:
    """The members of a union type. For any other type, the result is the type alone."""
    return type_.members if isinstance(type_, UnionType) else (type_,)


def unrolled(type_: Type) -> Type:
    """`type_`, with a recursive reference replaced by the object type that it refers to."""
    match type_:
        case SelfType():
            return type_.whole[0]
        case UnionType():
            if any(isinstance(member, SelfType) for member in type_.members):
                return union(map(unrolled, type_.members))
            return type_
        case _:
            return type_


def union(types: Iterable[Type]) -> Type:
    """The union of `types`, flat and without duplicates.

    It is `ANY` if one of the types is `ANY`, and `NEVER` if there are no types.
    """
    types = tuple([type_ for type_ in dict.fromkeys(types) if type_ is not NEVER])
    return types[0] if len(types) == 1 else _union(types)


@remembered
def _union(types: tuple[Type, ...]) -> Type:
    found: dict[Type, None] = {}
    for type_ in types:
        for member in members(type_):
            if member == ANY:
                return ANY
            found[member] = None
    flat = [member for member in found if not _is_covered(member, found)]
    if not flat:
        return NEVER
    if len(flat) == 1:
        return flat[0]
    # If one of `types` equals the union, return it: it has the order of its declaration.
    wholes = (one for one in types if set(members(one)) == set(flat))
    return next(wholes, UnionType(tuple(flat)))


def _is_covered(member: Type, others: Iterable[Type]) -> bool:
    """Whether another type includes `member`: string includes `"a"`, and `[int]` includes `[]`."""
    if isinstance(member, LiteralType):
        return member.base in others
    if member == ListType(NEVER):
        return any(isinstance(other, ListType) and other != member for other in others)
    if member == EMPTY_OBJECT:
        return any(isinstance(other, MapType) for other in others)
    return False


def without(type_: Type, removed: Type) -> Type:
    """`type_` without the member `removed`."""
    return union(member for member in members(type_) if member != removed)


def may_be(type_: Type, kind: Scalar) -> bool:
    """Whether a value of `type_` can be of the scalar type `kind`."""
    return any(
        member in (ANY, kind) or (isinstance(member, LiteralType) and member.base == kind)
        for member in members(type_)
    )


def base(type_: Type) -> Type:
    """The scalar type of a literal type. Any other type is returned unchanged."""
    return type_.base if isinstance(type_, LiteralType) else type_


def widened(type_: Type) -> Type:
    """`type_` with literal types replaced by their scalar types: `"a" | "b"` becomes string."""
    return union(base(member) for member in members(type_))


def never_to_any(type_: Type) -> Type:
    """`type_` with `NEVER` replaced by `ANY`, as in the item type of an empty list.

    Fields of objects are not changed.
    """
    match type_:
        case ListType():
            return ListType(never_to_any(type_.item))
        case TupleType():
            return TupleType(tuple(map(never_to_any, type_.items)))
        case MapType():
            return MapType(never_to_any(type_.value), type_.key)
        case UnionType():
            return union(map(never_to_any, type_.members))
        case _:
            return ANY if type_ == NEVER else type_


def kind_word(type_: Type) -> str | None:
    """The result of `type(x)` for a value of type `type_`.

    The result is None if the type is a union or unknown.
    """
    match type_:
        case Scalar():
            return None if type_ in (ANY, NEVER) else type_.kind
        case LiteralType():
            return type_.base.kind
        case ListType():
            return "list"
        case TupleType():
            return "tuple"
        case ObjectType() | MapType() | SelfType():
            return "object"
        case RecordType():
            return "program" if type_ == PROGRAM else type_.name
        case FunctionType() | BuiltinType() | CallableType():
            return "function"
        case UnionType():
            return None
        case _:
            assert_never(type_)


def is_open(type_: Type) -> bool:
    """Whether the kind of a value of `type_` is known only at run time."""
    return type_ == ANY or (isinstance(type_, RecordType) and type_.is_mixed)


def kinds(type_: Type) -> set[str] | None:
    """The kinds, as words such as "int", that a value of `type_` can have, or None if unknown."""
    words: set[str] = set()
    for member in members(type_):
        if is_open(member):
            return None
        word = kind_word(member)
        if word is not None:
            words.add(word)
    return words


def is_only(type_: Type, *wanted: str) -> bool:
    """Whether a value of `type_` is certainly of one of the kinds `wanted`."""
    found = kinds(type_)
    return found is not None and found <= set(wanted)


def is_none_of(type_: Type, *unwanted: str) -> bool:
    """Whether a value of `type_` is certainly of none of the kinds `unwanted`."""
    found = kinds(type_)
    return bool(found) and found.isdisjoint(unwanted)


def item_type(type_: Type) -> Type:
    """The type of the items of a list, a tuple or a dataframe, or `ANY` for any other type."""
    result: list[Type] = []
    for member in members(type_):
        match member:
            case ListType():
                result.append(member.item)
            case TupleType():
                result.extend(member.items)
            case _ if member == DATAFRAME:
                result.append(ROW)
            case _ if member == NEVER:
                pass  # the iterable's type is not inferred yet
            case _:
                return ANY
    return unrolled(union(result))


def is_known(type_: Type) -> bool:
    """Whether the type can be written as an annotation and no part of it is unknown."""
    return not any(
        part in (ANY, NEVER) or isinstance(part, FunctionType | BuiltinType)
        for part in within(type_)
    )


def parts(type_: Type) -> Iterator[Type]:
    """The types directly inside `type_`."""
    match type_:
        case ListType():
            yield type_.item
        case TupleType():
            yield from type_.items
        case UnionType():
            yield from type_.members
        case ObjectType():
            yield from (field.type for field in type_.fields)
        case MapType():
            yield type_.value
            if type_.key != STRING:
                yield type_.key
        case CallableType():
            yield from type_.parameters
            yield type_.result
        case Scalar() | LiteralType() | RecordType() | SelfType() | FunctionType() | BuiltinType():
            return
        case _:
            assert_never(type_)


def within(type_: Type, closed: Container[Type] = ()) -> Iterator[Type]:
    """Yields `type_` and all types inside it, each once.

    The types inside those in `closed` are left out.
    """
    found, pending = {type_}, [type_]
    while pending:
        current = pending.pop()
        yield current
        if current not in closed:
            new = [part for part in parts(current) if part not in found]
            found.update(new)
            pending += new


def values_of(type_: ObjectType | MapType) -> Iterator[Type]:
    """The types of the values of an object."""
    if isinstance(type_, MapType):
        yield type_.value
    else:
        yield from (field.type for field in type_.fields)


def keys_of(type_: ObjectType | MapType) -> Scalar:
    """The type of the keys of an object."""
    return type_.key if isinstance(type_, MapType) else STRING


def is_plain_dict(type_: Type) -> TypeGuard[ObjectType | MapType]:
    """Whether values of `type_` are Python dicts for which the output has no class."""
    return isinstance(type_, MapType) or (isinstance(type_, ObjectType) and not type_.is_declared)


def holds_dataframe(type_: Type) -> bool:
    """Whether a value of `type_` may be or hold a dataframe, which has no form in JSON."""
    return DATAFRAME in within(type_)


def show(type_: Type) -> str:
    """The notation of `type_` in Saft, shortened if it is very long."""
    shown = ""
    for piece in _notation(type_):
        shown += piece
        if len(shown) > MOST_SHOWN:
            return shown[:MOST_SHOWN] + "..."
    return shown


def _notation(type_: Type) -> Iterator[str]:
    match type_:
        case Scalar():
            yield "nothing" if type_ == NEVER else type_.kind
        case LiteralType():
            yield show_value(type_.value)
        case ListType():
            yield "["
            if type_.item != NEVER:
                yield from _notation(type_.item)
            yield "]"
        case TupleType():
            yield "("
            yield from _joined(map(_notation, type_.items), ", ")
            yield ",)" if len(type_.items) == 1 else ")"
        case ObjectType():
            yield "{"
            yield from _joined((_field_notation(field) for field in type_.fields), ", ")
            yield "}"
        case MapType():
            yield f"{{[{type_.key.kind}]: "
            yield from _notation(type_.value)
            yield "}"
        case RecordType():
            yield "program" if type_ == PROGRAM else type_.name
        case SelfType():
            yield type_.name
        case UnionType():
            if len(type_.members) == 2 and NIL in type_.members:
                yield from _member_notation(without(type_, NIL))
                yield "?"
            else:
                yield from _joined(map(_member_notation, type_.members), " | ")
        case CallableType():
            yield "("
            yield from _joined(map(_notation, type_.parameters), ", ")
            yield ") -> "
            yield from _notation(type_.result)
        case FunctionType() | BuiltinType():
            yield f"function `approve({type_.name})`" if type_.waits else f"function `{type_.name}`"
        case _:
            assert_never(type_)


def _member_notation(type_: Type) -> Iterator[str]:
    """Yields the notation of a union's member in pieces.

    A function type gets parentheses, which mark its end.
    """
    is_callable = isinstance(type_, CallableType)
    yield "(" if is_callable else ""
    yield from _notation(type_)
    yield ")" if is_callable else ""


def erased(type_: Type) -> Type:
    """`type_`, or `ANY` if a value may be a function known only by its type.

    The effects of a call of such a function are unknown.
    """
    return ANY if any(isinstance(one, CallableType) for one in members(type_)) else type_


def _field_notation(field: FieldType) -> Iterator[str]:
    yield f"{field.name}: "
    yield from _notation(field.type)


def _joined(shown: Iterable[Iterable[str]], separator: str) -> Iterator[str]:
    for number, pieces in enumerate(shown):
        if number:
            yield separator
        yield from pieces


def show_value(value: int | float | str | bool) -> str:
    """The notation of a value in scripts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return str(value)
