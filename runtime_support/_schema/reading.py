"""Reads Python types as schemas.

    schema_of(str | None)            UnionSchema((ScalarSchema("string"), ScalarSchema("nil")))
    schema_of(Annotated[str, "..."]) ScalarSchema("string")

The text in `Annotated` becomes the doc of a field or parameter. TypedDicts, dataclasses,
NamedTuples and pydantic models become an `ObjectSchema`, and a root model becomes a `RootSchema`. A
field of type `T | None` may be missing. An `Any` field is required, but may be nil. An Enum becomes
a union of its values. A type without a JSON form (a set, bytes, another class) is checked by
`isinstance`.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

from runtime_support._schema import model as m
from runtime_support._values.dates import class_for, word_of_class
from runtime_support._values.kinds import (
    class_name,
    is_dataframe,
    is_dataframe_class,
    is_list,
    literal,
)
from runtime_support.errors import CheckError

_FUNCTION = m.OpaqueSchema("function", callable)
_PLAIN: dict[Any, m.Schema] = {
    Any: m.AnySchema(),
    object: m.AnySchema(),
    inspect.Parameter.empty: m.AnySchema(),
    int: m.ScalarSchema("int"),
    float: m.ScalarSchema("float"),
    bool: m.ScalarSchema("bool"),
    str: m.ScalarSchema("string"),
    None: m.ScalarSchema("nil"),
    type(None): m.ScalarSchema("nil"),
    list: m.ListSchema(m.AnySchema()),
    dict: m.MapSchema(m.AnySchema()),
    tuple: m.TupleSchema((), rest=m.AnySchema()),
    types.FunctionType: _FUNCTION,
    types.BuiltinFunctionType: _FUNCTION,
    vars(collections.abc)["Callable"]: _FUNCTION,
    vars(typing)["Callable"]: _FUNCTION,
    type: m.OpaqueSchema("type", m.InstanceOf(type)),
    typing.LiteralString: m.ScalarSchema("string"),
    typing.NoReturn: m.AnySchema(),
    typing.Never: m.AnySchema(),
    vars(typing)["Self"]: m.AnySchema(),
}
# Abstract classes that stand for list or dict in annotations.
_READ_ONLY: dict[Any, Any] = {
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}
# The collections that a model makes from a JSON list.
_GATHERED: tuple[Any, ...] = (set, frozenset, collections.deque)
_BARE = (list, dict, tuple, *_GATHERED)
_AWAITED = (collections.abc.Awaitable, collections.abc.Coroutine)
_ITERABLES = (collections.abc.Iterable, collections.abc.Collection)
_MARKERS = (typing.Annotated, typing.Required, typing.NotRequired, typing.Final, typing.ClassVar)

# Constraints by their names in `annotated_types` and pydantic.
_CONSTRAINTS = {
    **{"gt": "above", "ge": "minimum", "lt": "below", "le": "maximum"},
    **{
        "multiple_of": "multiple_of",
        "min_length": "least",
        "max_length": "most",
        "pattern": "pattern",
    },
    **{"max_digits": "digits", "decimal_places": "places"},
}
_CONSTRAINING = ("annotated_types", "pydantic", "pydantic_extra_types")

T = TypeVar("T")
# Equal types may differ in order (`int | str == str | int`), so the text is part of the key.
_cache: dict[Any, m.Schema] = {}
_objects: dict[str, tuple[Mapping[str, Any], m.ObjectSchema]] = {}
_MOST_REMEMBERED = 1024


def remember(cache: dict[Any, T], key: Any, value: T) -> T:
    """Stores the value in a cache and returns it. Clears the cache first if it is full."""
    if len(cache) >= _MOST_REMEMBERED:
        cache.clear()
    cache[key] = value
    return value


def schema_of(
    type_: Any,
    namespace: Mapping[str, Any] | None = None,
    names: Mapping[type, str] | None = None,
) -> m.Schema:
    """Returns the schema of a Python type. Raises CheckError if `type_` is not a type.

    Names in annotations that are strings are looked up in `namespace`. `names` maps classes to
    other names, which messages show and annotations may use.
    """
    key = (type_, repr(type_))
    try:
        found = None if names else _cache.get(key)
    except TypeError:  # cannot be hashed, so it is not a type
        raise _no_type(type_) from None
    if found is not None:
        return found
    schema = TypeReader(namespace, names).read(type_)
    return schema if names else remember(_cache, key, schema)


def object_schema(fields: Mapping[str, Any]) -> m.ObjectSchema:
    """Returns the schema of an object. `fields` maps the names of fields to Python types."""
    known = _objects.get(key := repr(fields))
    if known is not None and known[0] == fields:
        return known[1]
    schema = m.ObjectSchema(None, tuple(TypeReader().field(name, t) for name, t in fields.items()))
    return remember(_objects, key, (dict(fields), schema))[1]


class TypeReader:
    """Reads a type. Tracks the classes that are being read, so that they may contain themselves."""

    def __init__(
        self,
        namespace: Mapping[str, Any] | None = None,
        names: Mapping[type, str] | None = None,
    ) -> None:
        self.namespace = namespace
        self.names = names or {}
        self.under_way: dict[Any, m.ReadLater] = {}
        self.done: dict[Any, m.Schema] = {}  # so that shared classes are read once
        self.bound: dict[Any, m.Schema] = {}  # the arguments of a generic class, by its variables
        # True inside a model, which converts its fields from JSON itself.
        self.is_of_model = False

    def read(self, type_: Any) -> m.Schema:
        """Returns the schema of a type. Raises CheckError if it is not a type."""
        try:
            plain = _PLAIN.get(type_)
        except TypeError:
            raise _no_type(type_) from None
        if plain is not None:
            return plain
        origin = typing.get_origin(type_)
        if origin is not None:
            return self.generic(type_, origin, typing.get_args(type_))
        if hasattr(type_, "__value__"):  # a `type X = ...` statement
            return self.read_once(type_, type_.__name__, lambda: self.read(type_.__value__))
        if hasattr(type_, "__supertype__"):  # NewType
            return self.read(type_.__supertype__)
        if isinstance(type_, typing.TypeVar):
            return self.bound.get(type_) or self.read(type_.__bound__ or Any)
        if isinstance(type_, type):
            return self.named(type_)
        raise _no_type(type_)

    def generic(self, type_: Any, origin: Any, arguments: tuple[Any, ...]) -> m.Schema:
        """Returns the schema of a type with arguments, such as `list[int]`."""
        origin = _READ_ONLY.get(origin, origin)
        if origin is typing.Annotated:
            return m.constrained(self.read(arguments[0]), self.constraints(arguments[1:]))
        if origin in _MARKERS or getattr(origin, "_name", "") == "ReadOnly":
            return self.read(arguments[0])
        if origin in (typing.Union, types.UnionType):
            return m.UnionSchema(tuple(map(self.read, arguments)))
        if origin is Literal:
            literals = tuple(_literal(type_, value) for value in arguments)
            return literals[0] if len(literals) == 1 else m.UnionSchema(literals)
        if not arguments and origin in (*_BARE, *_ITERABLES):
            return self.read(origin)  # `typing.List` and the like, without type arguments
        if origin is list:
            return m.ListSchema(self.read(arguments[0]))
        if origin in _ITERABLES:
            return m.ListSchema(self.read(arguments[0]), also=origin)
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return m.TupleSchema((), rest=self.read(arguments[0]))
            return m.TupleSchema(tuple(map(self.read, arguments)))
        if origin in _GATHERED and self.is_of_model:
            is_set = origin is not collections.deque
            constraints = m.Constraints(are_unique=True, told_only=True) if is_set else None
            return m.ListSchema(self.read(arguments[0]), constraints=constraints)
        if origin is dict:
            key = _as_key(self.read(arguments[0]))
            if isinstance(key, m.AnySchema):
                return m.MapSchema(self.read(arguments[1]))
            if m.is_key(key) or self.is_of_model:
                return m.MapSchema(self.read(arguments[1]), key)
            return m.OpaqueSchema(_written(type_), m.InstanceOf(dict), dict)
        plain = _PLAIN.get(origin)
        if plain is not None:
            return self.function(arguments[-1]) if plain is _FUNCTION else plain
        if isinstance(origin, type):
            schema = self.named(origin, arguments)
            if isinstance(schema, m.OpaqueSchema) and origin.__module__ == "builtins":
                return dataclasses.replace(schema, name=_written(type_))
            return schema
        raise _no_type(type_)

    def function(self, given: Any) -> m.Schema:
        """Returns the schema of a function. `given` is its return type.

        The function may return an awaitable if the type is `Awaitable[int]`, or a union with it.
        """
        is_union = typing.get_origin(given) in (typing.Union, types.UnionType)
        members = typing.get_args(given) if is_union else (given,)
        waiting = (one for one in members if typing.get_origin(one) in _AWAITED)
        awaited = [typing.get_args(one)[-1] for one in waiting]
        schema: m.Schema = m.AnySchema()
        with suppress(CheckError):  # a type variable or the like: any value
            schema = self.read(awaited[0] if awaited else given)
        if isinstance(schema, m.AnySchema):
            return _FUNCTION
        return dataclasses.replace(_FUNCTION, gives=schema, may_wait=bool(awaited))

    def read_once(self, key: Any, name: str, read: Callable[[], m.Schema]) -> m.Schema:
        """Returns `read()`, or what it returned. A type that contains itself gets a reference."""
        if key in self.under_way:
            return m.ReferenceSchema(name, self.under_way[key])
        if key not in self.done:
            later = self.under_way[key] = m.ReadLater()
            later.schema = self.done[key] = read()
            del self.under_way[key]
        return self.done[key]

    def named(self, class_: type[Any], arguments: tuple[Any, ...] = ()) -> m.Schema:
        """Returns the schema of a class, which is generic if it has arguments."""
        if is_dataframe_class(class_):
            return m.OpaqueSchema("dataframe", is_dataframe, class_)
        if class_ in _ITERABLES:
            return m.ListSchema(m.AnySchema(), also=class_)
        if class_ in _READ_ONLY:
            return _PLAIN[_READ_ONLY[class_]]
        name = self.names.get(class_, class_name(class_))
        word = word_of_class(class_)
        if word is not None and class_ is class_for(word):
            return m.ScalarSchema(word)
        from runtime_support._schema.classes import read_class

        return read_class(self, name, class_, arguments)

    def constraints(self, metadata: Iterable[Any]) -> m.Constraints:
        """Returns the constraints in the metadata of a type or a field."""
        said: dict[str, Any] = {"told_only": self.is_of_model}
        for one in _flat(metadata):
            for name, limit in _CONSTRAINTS.items():
                value = getattr(one, name, None)
                if value is not None:
                    said[limit] = getattr(value, "pattern", value) if name == "pattern" else value
        return m.Constraints(**said)

    def field(self, name: str, hint: Any, **known: Any) -> m.Field:
        """Returns a field whose type is `hint`. `known` overrides attributes of this `Field`."""
        found: dict[str, Any] = {"schema": self.read(hint), "doc": doc_of(hint)}
        if m.admits_nil(found["schema"]) and not isinstance(found["schema"], m.AnySchema):
            found |= {"required": False, "default": None}
        return m.Field(name, **{**found, **known})


def _no_type(type_: Any) -> CheckError:
    return CheckError(f"`{type_!r}` is not a type that values can be checked against")


def _written(type_: Any) -> str:
    """Returns a generic type as Python source: `dict[int, str]`, `set[Book]`."""
    origin = typing.get_origin(type_)
    if origin is None:
        return getattr(type_, "__name__", repr(type_))
    inner = ", ".join(map(_written, typing.get_args(type_)))
    return f"{getattr(origin, '__name__', repr(origin))}[{inner}]"


def _literal(type_: Any, value: Any) -> m.LiteralSchema:
    """Returns the schema of a value in a `Literal`, which may be the member of an Enum."""
    plain = value.value if isinstance(value, enum.Enum) else value
    if plain is None or type(plain) in (bool, int, float, str):
        return m.LiteralSchema(plain, m.ABSENT if plain is value else value)
    raise CheckError(f"`{type_!r}`: a literal is a string, a number, a bool or nil")


def _as_key(schema: m.Schema) -> m.Schema:
    """Returns the schema of an object's keys. Literal numbers and bools become their JSON texts."""
    literals = m.literals_of(schema)
    if not literals or any(one.value is None for one in literals):
        return schema
    return m.UnionSchema(
        tuple(
            m.LiteralSchema(
                one.value if isinstance(one.value, str) else literal(one.value),
                one.member if isinstance(one.value, str) else one.python_value,
            )
            for one in literals
        )
    )


def _flat(metadata: Iterable[Any]) -> Iterable[Any]:
    """Yields the constraints in metadata, also those inside an `Interval` or a `FieldInfo`."""
    for one in metadata:
        if type(one).__module__.partition(".")[0] not in _CONSTRAINING:
            continue
        if hasattr(one, "__is_annotated_types_grouped_metadata__"):
            yield from _flat(one)
        inner = getattr(one, "metadata", None)
        if is_list(inner):
            yield from _flat(inner)
        yield one


def doc_of(hint: Any) -> str | None:
    """Returns the text in `Annotated[T, "text"]` or `NotRequired[Annotated[...]]`, or else None."""
    while typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Final):
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is not typing.Annotated:
        return None
    said = (getattr(extra, "description", extra) for extra in typing.get_args(hint)[1:])
    texts = [one for one in said if isinstance(one, str)]
    return " ".join(texts) or None
