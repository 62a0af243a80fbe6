"""Python annotations become types of the language.

    list[Book]                  [Book]
    int | float | None          number | null
    Literal["low", "high"]      "low" | "high"
    class LatLon(TypedDict)     {lat: number, lon: number}
    Annotated[str, "an ISBN"]   string, with the text as its description

A class that the registry does not know is nominal too: its values pass through programs, but a
program cannot write one.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Mapping
from typing import Any

from runtime_support.programs.types import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NULL,
    STRING,
    ClassType,
    Field,
    ListType,
    LiteralType,
    MapType,
    RecordType,
    TupleType,
    Type,
    literal_type,
    union_of,
)

_SIMPLE: dict[Any, Type] = {
    Any: ANY,
    object: ANY,
    None: NULL,
    type(None): NULL,
    bool: BOOLEAN,
    int: INTEGER,
    float: FLOAT,
    str: STRING,
    list: ListType(ANY),
    tuple: ListType(ANY, as_tuple=True),
    dict: MapType(ANY),
    collections.abc.Sequence: ListType(ANY),
    collections.abc.Iterable: ListType(ANY),
    collections.abc.Mapping: MapType(ANY),
}
_LISTS = (
    list,
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.MutableSequence,
)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_UNIONS = (typing.Union, types.UnionType)
_MARKERS = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"}


class UnknownAnnotation(TypeError):
    """An annotation that cannot be read: a name that is not found."""


class Annotations:
    """Reads annotations; knows the classes of one registry by their names."""

    def __init__(self, classes: Mapping[type, str]) -> None:
        self._classes = classes
        self._names: dict[str, Any] = {name: python for python, name in classes.items()}
        self._records: dict[type, RecordType] = {}

    def hints(self, owner: Any) -> dict[str, Any]:
        """The annotations of a function or class by name, with text annotations resolved."""
        try:
            return typing.get_type_hints(owner, localns=self._names, include_extras=True)
        except (NameError, AttributeError, SyntaxError) as error:
            name = getattr(owner, "__name__", repr(owner))
            raise UnknownAnnotation(f"{name}: an annotation cannot be resolved: {error}") from None
        except TypeError:  # not a thing that carries annotations
            return {}

    def read(self, annotation: Any) -> Type:
        """The type that the annotation stands for."""
        try:
            simple = _SIMPLE.get(annotation)
        except TypeError:
            simple = None
        if simple is not None:
            return simple
        if hasattr(annotation, "__supertype__"):  # a NewType
            return self.read(annotation.__supertype__)
        if type(annotation).__name__ == "TypeAliasType":
            return self.read(annotation.__value__)
        origin = typing.get_origin(annotation)
        if origin is not None:
            return self._generic(annotation, origin, typing.get_args(annotation))
        if typing.is_typeddict(annotation):
            return self._record(annotation)
        if isinstance(annotation, type):
            return ClassType(self._classes.get(annotation, annotation.__name__), annotation)
        return ANY  # type variables, protocols of calls and the like say nothing about data

    def doc(self, annotation: Any) -> str:
        """The first text of Annotated[T, ...], empty without one."""
        if typing.get_origin(annotation) is not typing.Annotated:
            return ""
        return next((note for note in annotation.__metadata__ if isinstance(note, str)), "")

    def _generic(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Type:
        if origin is typing.Annotated or getattr(origin, "__name__", "") in _MARKERS:
            return self.read(arguments[0])
        if getattr(origin, "_name", "") in _MARKERS:
            return self.read(arguments[0])
        if origin in _UNIONS:
            return union_of(self.read(argument) for argument in arguments)
        if origin is typing.Literal:
            return union_of(map(_literal, arguments))
        if origin in _LISTS:
            return ListType(self.read(arguments[0]))
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return ListType(self.read(arguments[0]), as_tuple=True)
            return TupleType(tuple(map(self.read, arguments)))
        if origin in _MAPS:
            return MapType(self.read(arguments[1]))
        return self.read(origin) if origin in self._classes else ANY

    def _record(self, declared: Any) -> RecordType:
        if declared not in self._records:
            self._records[declared] = RecordType(lambda: self._fields(declared), declared.__name__)
        return self._records[declared]

    def _fields(self, declared: Any) -> tuple[Field, ...]:
        return tuple(
            Field(name, self.read(hint), name in declared.__required_keys__, self.doc(hint))
            for name, hint in self.hints(declared).items()
        )


def _literal(value: Any) -> Type:
    if value is None or type(value) in (bool, int, str):
        return literal_type(value)
    return LiteralType("string", str(value))
