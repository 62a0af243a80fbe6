"""The registry: all that a program can name, and its signature lines for the model.

    registry = Registry(functions=[add, find_book], types=[Book], pure=[add])
    registry.definitions["find_book"].parameters
    describe(registry)       find_book(title: string, year?: number) -> Book  # a book by title
    classes_of([find_book])  [Book]: the classes that signatures speak of

Names, parameters, defaults, types and descriptions come from the Python signature and docstring.
Names are looked up here and nowhere else. A registry never changes after it is built.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from runtime_support.programs.annotations import Annotations, UnknownAnnotation
from runtime_support.programs.outcomes import CallKind
from runtime_support.programs.types import (
    ANY,
    BUILT_IN_NAMES,
    NULL,
    AnyType,
    ClassType,
    Field,
    ListType,
    Type,
    UnionType,
    notation,
    union_of,
)
from runtime_support.values import is_object

Function = Callable[..., Any]
Functions = Iterable[Function] | dict[str, Function]

REQUIRED: Any = inspect.Parameter.empty


class RegistryError(ValueError):
    """The registry cannot be built: a name is taken, or a signature is not usable."""


@dataclass(frozen=True, slots=True)
class Parameter(Field):
    """A parameter of a callable; `default` is REQUIRED or a value, `factory` makes one."""

    default: Any = REQUIRED
    factory: Function | None = None
    by_position: bool = False
    takes_rest: bool = False

    def default_value(self) -> Any:
        return self.factory() if self.factory is not None else self.default


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a program may call: a function, a conversion, or the constructor of a type."""

    name: str
    kind: CallKind
    parameters: tuple[Parameter, ...]
    result: Type
    doc: str
    pure: bool
    function: Function

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters if one.name == name), None)

    @property
    def single(self) -> Parameter | None:
        """The one required parameter, for which a bare argument may stand."""
        required = [one for one in self.parameters if one.required]
        return required[0] if len(required) == 1 else None

    def apply(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the Python function with arguments by name."""
        named = dict(arguments)
        positional: list[Any] = []
        for one in self.parameters:
            if one.takes_rest:
                positional += named.pop(one.name, ())
            elif one.by_position:
                given = named.pop(one.name) if one.name in named else one.default_value()
                positional.append(given)
        return self.function(*positional, **named)


class Registry:
    """The callables of a program by name; raises RegistryError when they do not go together.

    Functions and conversions are given as callables, or as a mapping that names them. `pure`
    lists those functions (or their names) that have no effects and may run together;
    constructors and conversions always count as pure.
    """

    def __init__(
        self,
        functions: Functions = (),
        types: Iterable[type] | dict[str, type] = (),
        conversions: Functions = (),
        pure: Iterable[Function | str] = (),
    ) -> None:
        named_types: list[tuple[str, Any]] = _named(types)
        self.annotations = Annotations({python: name for name, python in named_types})
        self.definitions: dict[str, Definition] = {}
        pure = list(pure)
        try:
            for name, python in named_types:
                self._add(self._constructor(name, python))
            for name, function in _named(functions):
                is_pure = any(one in (function, name) for one in pure)
                self._add(self._function(name, function, "function", is_pure))
            for name, function in _named(conversions):
                self._add(self._conversion(name, function))
        except UnknownAnnotation as error:
            raise RegistryError(str(error)) from None
        for one in pure:
            if not any(one in (d.function, d.name) for d in self.definitions.values()):
                raise RegistryError(f"{getattr(one, '__name__', one)} is pure but not registered")

    @property
    def conversions(self) -> tuple[Definition, ...]:
        return tuple(d for d in self.definitions.values() if d.kind == "conversion")

    def read_type(self, annotation: Any) -> Type:
        """The type of the language that a Python annotation stands for."""
        return self.annotations.read(annotation)

    def constructor_of(self, type_: Type) -> Definition | None:
        """The constructor that gives this class, when it is registered."""
        if not isinstance(type_, ClassType):
            return None
        found = self.definitions.get(type_.name)
        return found if found is not None and found.function is type_.python else None

    def _add(self, definition: Definition) -> None:
        name = definition.name
        if not name.isidentifier():  # which also keeps $ out
            raise RegistryError(f"{name!r} cannot be registered: it is not a plain name")
        if name in BUILT_IN_NAMES:
            raise RegistryError(f"{name!r} cannot be registered: it is a built-in type")
        if name in self.definitions:
            raise RegistryError(f"the name {name!r} is registered twice")
        self.definitions[name] = definition

    def _function(self, name: str, function: Function, kind: CallKind, pure: bool) -> Definition:
        if not callable(function):
            raise RegistryError(f"{name} is not callable")
        hints = self.annotations.hints(_defined(function))
        parameters = self._parameters(name, function, hints)
        result = self.annotations.read(hints["return"]) if "return" in hints else ANY
        return Definition(
            name, kind, parameters, result, summary(_defined(function)), pure, function
        )

    def _conversion(self, name: str, function: Function) -> Definition:
        definition = self._function(name, function, "conversion", pure=True)
        if len(definition.parameters) != 1:
            raise RegistryError(f"the conversion {name} needs exactly one parameter")
        types = (definition.parameters[0].type, definition.result)
        if any(isinstance(one, AnyType) for one in types):
            raise RegistryError(f"the conversion {name} must name the types of both sides")
        return definition

    def _constructor(self, name: str, python: type) -> Definition:
        hints = self.annotations.hints(python) or self.annotations.hints(python.__init__)
        result = self.annotations.read(python)
        return Definition(
            name,
            "type",
            self._parameters(name, python, hints, result),
            result,
            summary(python),
            True,
            python,
        )

    def _parameters(
        self, name: str, function: Any, hints: dict[str, Any], result: Type = ANY
    ) -> tuple[Parameter, ...]:
        fields = getattr(result, "fields", None)
        if fields is not None:  # a typed dictionary is called with its fields
            return tuple(Parameter(f.name, f.type, f.required, f.doc) for f in fields)
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError) as error:
            raise RegistryError(f"{name} has no signature to read: {error}") from None
        factories = {
            one.name: one.default_factory
            for one in getattr(function, "__dataclass_fields__", {}).values()
            if callable(one.default_factory)
        }
        kinds = [one.kind for one in signature.parameters.values()]
        return tuple(
            self._parameter(
                one,
                hints.get(one.name, Any),
                factories.get(one.name),
                one.kind is one.POSITIONAL_ONLY
                or (one.kind is one.POSITIONAL_OR_KEYWORD and one.VAR_POSITIONAL in kinds),
            )
            for one in signature.parameters.values()
            if one.kind is not one.VAR_KEYWORD
        )

    def _parameter(
        self, one: inspect.Parameter, hint: Any, factory: Function | None, by_position: bool
    ) -> Parameter:
        type_ = self.annotations.read(hint)
        takes_rest = one.kind is one.VAR_POSITIONAL
        return Parameter(
            one.name,
            ListType(type_) if takes_rest else type_,
            required=one.default is one.empty and not takes_rest,
            doc=self.annotations.doc(hint),
            default=one.default,
            factory=factory,
            by_position=by_position,
            takes_rest=takes_rest,
        )


def _defined(function: Any) -> Any:
    """Where the annotations and the docstring of a callable stand."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    function = inspect.unwrap(function)
    called = type(function).__call__
    is_instance = not hasattr(function, "__annotations__") and hasattr(called, "__annotations__")
    return called if is_instance else function


def summary(thing: Any) -> str:
    """The first paragraph of the docstring on one line, empty for one that Python wrote."""
    is_class = isinstance(thing, type)
    text = vars(thing).get("__doc__") if is_class else getattr(thing, "__doc__", None)
    if not text or text.startswith(f"{getattr(thing, '__name__', '')}("):
        return ""
    return " ".join(text.strip().split("\n\n")[0].split())


def _named(things: Any) -> list[tuple[str, Any]]:
    if is_object(things):
        return list(things.items())
    return [(getattr(thing, "__name__", repr(thing)), thing) for thing in things]


def classes_of(functions: Iterable[Callable[..., Any]], returns: Any = Any) -> list[type]:
    """The record classes in the signatures and in the fields of records, each once."""
    found: dict[type, None] = {}
    for function in functions:
        if isinstance(function, type):
            _collect(function, found)
        else:
            for hint in _hints(inspect.unwrap(function)):
                _collect(hint, found)
    _collect(returns, found)
    return list(found)


def _collect(annotation: Any, found: dict[type, None]) -> None:
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        if annotation in found or not _is_record(annotation):
            if typing.is_typeddict(annotation):
                _collect_fields(annotation, found)
            return
        found[annotation] = None
        _collect_fields(annotation, found)
        return
    if type(annotation).__name__ == "TypeAliasType":
        _collect(getattr(annotation, "__value__", Any), found)
    for argument in typing.get_args(annotation):
        _collect(argument, found)


def _collect_fields(owner: Any, found: dict[type, None]) -> None:
    for hint in _hints(owner):
        _collect(hint, found)


def _is_record(python: type[Any]) -> bool:
    is_model = hasattr(python, "model_fields") and hasattr(python, "model_validate")
    is_named_tuple = tuple in python.__mro__ and hasattr(python, "_fields")
    return dataclasses.is_dataclass(python) or is_model or is_named_tuple


def _hints(owner: Any) -> list[Any]:
    try:
        return list(typing.get_type_hints(owner, include_extras=True).values())
    except (NameError, TypeError, AttributeError):
        return []


_ORDER = ("type", "function", "conversion")
_PREFIX = {"type": "type ", "function": "", "conversion": "conv "}


def describe(registry: Registry) -> str:
    """The signature lines: types, then functions, then conversions."""
    definitions = sorted(registry.definitions.values(), key=lambda one: _ORDER.index(one.kind))
    return "\n".join(map(signature_line, definitions))


def signature_line(definition: Definition) -> str:
    """One callable with its parameters, its result and what its documentation says."""
    written = ", ".join(_parameter(one, definition) for one in definition.parameters)
    result = "" if definition.kind == "type" else f" -> {notation(definition.result)}"
    notes = [definition.doc] if definition.doc else []
    notes += [f"{one.name}: {one.doc}" for one in definition.parameters if one.doc]
    comment = f"  # {'; '.join(notes)}" if notes else ""
    return f"{_PREFIX[definition.kind]}{definition.name}({written}){result}{comment}"


def _parameter(parameter: Parameter, definition: Definition) -> str:
    type_ = parameter.type
    # For a function, None as the default means "not given"; for a record, null is a value.
    not_given = definition.kind != "type" and parameter.default is None
    if not_given and isinstance(type_, UnionType):
        type_ = union_of(member for member in type_.members if member != NULL)
    return f"{parameter.name}{'' if parameter.required else '?'}: {notation(type_)}"
