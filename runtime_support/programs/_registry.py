"""The registry: all callables that a program can name, and their descriptions for the model.

    registry = Registry(functions=[add, find_book], types=[Book], pure=[add])
    registry.definitions["find_book"].parameters
    describe(registry)       find_book(title: string, year?: number) -> Book  # a book by title
    classes_of([find_book])  [Book]: the classes in the signatures

Names, parameters, defaults, types and descriptions come from the Python signature and docstring.
Programs can use no other names. A registry never changes after it is built: `extended` and `|`
return a new one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from runtime_support._schema import model as m
from runtime_support._schema.reading import schema_of
from runtime_support._schema.signatures import (
    Parameter,
    Signature,
    bind_call,
    find_documented,
    signature_of,
)
from runtime_support._values.kinds import class_name, is_approved
from runtime_support.errors import CheckError
from runtime_support.programs import _types
from runtime_support.programs._outcomes import CallKind

Function = Callable[..., Any]
Functions = Iterable[Function] | dict[str, Function]


class RegistryError(ValueError):
    """The registry cannot be built: a name is used twice, or a signature is not supported."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A callable of a program: a function, a conversion, or the constructor of a type."""

    name: str
    kind: CallKind
    parameters: tuple[Parameter, ...]
    result: _types.Type
    doc: str
    pure: bool
    function: Function

    def parameter(self, name: str) -> Parameter | None:
        """Returns the parameter of this name, or None."""
        return next((one for one in self.parameters if one.name == name), None)

    @property
    def waits(self) -> bool:
        """True if a program that calls this function needs approval as a whole."""
        return is_approved(self.function)

    @property
    def single(self) -> Parameter | None:
        """The only required parameter, whose argument may be written without its name.

        None if no parameter is required, or if several are.
        """
        required = [one for one in self.parameters if one.required]
        return required[0] if len(required) == 1 else None

    def apply(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the Python function with arguments by their names in the program."""
        if self.kind == "type":  # the class may not give defaults to fields that may be absent
            known = {p.name: p.default for p in self.parameters if p.default is not m.ABSENT}
            arguments = {**known, **arguments}
        return bind_call(self.function, self.parameters, arguments)()


class Registry:
    """The callables of programs, by name.

    Functions and conversions are given as callables, or as a mapping from names to callables.
    `pure` lists the functions and conversions, or their names, that have no side effects and may
    run in parallel. Constructors are always pure. Raises RegistryError if a name or a signature is
    invalid.
    """

    def __init__(
        self,
        functions: Functions = (),
        types: Iterable[type] | dict[str, type] = (),
        conversions: Functions = (),
        pure: Iterable[Function | str] = (),
    ) -> None:
        named_types: list[tuple[str, Any]] = with_names(types)
        self._names: dict[type, str] = {python: name for name, python in named_types}
        self._unknown = {p: name for p, name in self._names.items() if not _is_known(p, name)}
        self._normal = _types.Normal()
        self.definitions: dict[str, Definition] = {}
        pure = list(pure)

        def is_pure(name: str, function: Function) -> bool:
            # A call that needs approval is recorded in a journal, and never runs in parallel.
            return any(one in (function, name) for one in pure) and not is_approved(function)

        try:
            for name, python in named_types:
                self._add(self._constructor(name, python))
            for name, function in with_names(functions):
                self._add(self._function(name, function, "function", is_pure(name, function)))
            for name, function in with_names(conversions):
                self._add(self._conversion(name, function, is_pure(name, function)))
        except CheckError as error:
            raise RegistryError(str(error)) from None
        for one in pure:
            if not any(one in (d.function, d.name) for d in self.definitions.values()):
                raise RegistryError(f"{getattr(one, '__name__', one)} is pure but not registered")

    @property
    def conversions(self) -> tuple[Definition, ...]:
        """The definitions that are conversions."""
        return tuple(d for d in self.definitions.values() if d.kind == "conversion")

    def extended(
        self,
        functions: Functions = (),
        types: Iterable[type] | dict[str, type] = (),
        conversions: Functions = (),
        pure: Iterable[Function | str] = (),
    ) -> Registry:
        """Returns a registry that also has these functions, types and conversions.

        `pure` may also name callables of this registry. Raises RegistryError if two different
        objects would have the same name.
        """
        own_functions, own_types, own_conversions, own_pure = self.parts()
        return Registry(
            _joined(own_functions, functions),
            _joined(own_types, types),
            _joined(own_conversions, conversions),
            [*own_pure, *pure],
        )

    def __or__(self, other: object) -> Registry:
        """Returns a registry with the callables of both registries.

        Raises RegistryError if two different objects would have the same name.
        """
        return self.extended(*other.parts()) if isinstance(other, Registry) else NotImplemented

    def parts(
        self,
    ) -> tuple[dict[str, Function], dict[str, type], dict[str, Function], list[str]]:
        """The functions, types and conversions by their names, and the names of pure callables."""
        known = self.definitions.values()
        functions, types, conversions = (
            {one.name: one.function for one in known if one.kind == kind}
            for kind in ("function", "type", "conversion")
        )
        pure = [one.name for one in known if one.pure and one.kind != "type"]
        return functions, cast("dict[str, type]", types), conversions, pure

    def read_type(self, annotation: Any) -> _types.Type:
        """Converts a Python annotation to a type of programs.

        Raises CheckError if programs have no such type.
        """
        return self._normal.form(schema_of(annotation, names=self._unknown))

    def returned_type(self, annotation: Any) -> _types.Type:
        """Converts the annotation of a program's value to a type of programs.

        Raises CheckError for values without a JSON form, unless a callable returns such values.
        """
        type_ = self.read_type(annotation)
        given = [one for d in self.definitions.values() for one in m.all_parts(d.result)]
        for part in m.all_parts(type_):
            if isinstance(part, m.OpaqueSchema) and not any(_types.fits(o, part) for o in given):
                raise m.without_json_form(part.name)
        return type_

    def constructor_of(self, type_: _types.Type) -> Definition | None:
        """The constructor of a class type. None for other types and for unregistered classes."""
        return self.constructor(m.class_of(type_))

    def constructor(self, python: type | None) -> Definition | None:
        """The constructor of a class, or None if the class is not registered."""
        name = None if python is None else self._names.get(python)
        return None if name is None else self.definitions[name]

    def definition_of(self, function: Function) -> Definition | None:
        """The definition of a function, or None if the function is not registered."""
        known = self.definitions.values()
        return next((one for one in known if one.function == function), None)

    def fields_of(self, type_: _types.Type) -> tuple[m.Field, ...] | None:
        """The fields of a record type, or the parameters of a class type's constructor.

        None for other types.
        """
        if isinstance(type_, m.ObjectSchema) and type_.build is None:
            return type_.fields
        constructor = self.constructor_of(type_)
        return None if constructor is None else constructor.parameters

    def _add(self, definition: Definition) -> None:
        name = definition.name
        if not name.isidentifier():  # excludes `$`, too
            raise RegistryError(f"{name!r} cannot be registered: it is not a plain name")
        if name in _types.BUILT_IN_NAMES:
            raise RegistryError(f"{name!r} cannot be registered: it is a built-in type")
        if name in self.definitions:
            raise RegistryError(f"the name {name!r} is registered twice")
        self.definitions[name] = definition

    def _function(self, name: str, function: Function, kind: CallKind, pure: bool) -> Definition:
        if not callable(function):
            raise RegistryError(f"{name} is not callable")
        signature = self._signature(name, function)
        result = self._normal.form(signature.returns)
        return Definition(
            name,
            kind,
            self._normal.fields(signature.parameters),
            result,
            first_paragraph(function),
            pure,
            function,
        )

    def _conversion(self, name: str, function: Function, pure: bool) -> Definition:
        definition = self._function(name, function, "conversion", pure)
        if definition.waits:
            raise RegistryError(f"the conversion {name} cannot wait for approval")
        if len(definition.parameters) != 1:
            raise RegistryError(f"the conversion {name} needs exactly one parameter")
        types = (definition.parameters[0].schema, definition.result)
        if any(isinstance(one, m.AnySchema) for one in types):
            raise RegistryError(f"the conversion {name} must name the types of both sides")
        return definition

    def _constructor(self, name: str, python: type) -> Definition:
        result = self.read_type(python)
        if isinstance(result, m.ObjectSchema):
            fields = self._normal.fields(result.fields)
            parameters = tuple(_field_parameter(field, python) for field in fields)
        else:
            parameters = self._normal.fields(self._signature(name, python).parameters)
        return Definition(name, "type", parameters, result, first_paragraph(python), True, python)

    def _signature(self, name: str, function: Function) -> Signature:
        signature = signature_of(function, self._unknown)
        if signature.unresolved is not None:
            raise RegistryError(f"{name}: {signature.unresolved}")
        return signature


def _is_known(python: type, name: str) -> bool:
    """True if the class has its registered name, `name`, also in the module that defines the class.

    Annotations with such a name can be read without the registry.
    """
    module = sys.modules.get(python.__module__)
    return name == python.__name__ and getattr(module, name, None) is python


def _field_parameter(field: m.Field, python: Any) -> Parameter:
    """Returns the constructor's parameter for a field of a class.

    If a call omits the field, the class itself calls the field's default factory.
    """
    own: Any = getattr(python, "__dataclass_fields__", None) or getattr(python, "model_fields", {})
    made = own.get(field.python_name)
    factory = getattr(made, "default_factory", None)
    return Parameter(
        field.name,
        field.schema,
        field.required,
        field.default,
        field.doc,
        field.attribute,
        factory=factory if callable(factory) else None,
    )


def first_paragraph(thing: Any) -> str:
    """Returns the first paragraph of an object's docstring on one line, or "" if it has none.

    A docstring that Python generates, such as that of a dataclass, is ignored.
    """
    thing = find_documented(thing)
    is_class = isinstance(thing, type)
    text = vars(thing).get("__doc__") if is_class else getattr(thing, "__doc__", None)
    if not text or text.startswith(f"{getattr(thing, '__name__', '')}("):
        return ""
    return " ".join(text.strip().split("\n\n")[0].split())


def with_names(things: Any) -> list[tuple[str, Any]]:
    """Returns named objects with their names. A mapping has names; others name themselves."""
    if isinstance(things, Mapping):
        return list(cast("Mapping[str, Any]", things).items())
    return [
        (class_name(one) if isinstance(one, type) else getattr(one, "__name__", repr(one)), one)
        for one in things
    ]


def _joined(own: dict[str, Any], others: Any) -> dict[str, Any]:
    """Merges two groups of named objects; an object in both groups counts once.

    Raises RegistryError if two objects have the same name.
    """
    joined = {**own}
    for name, thing in with_names(others):
        if joined.setdefault(name, thing) != thing:
            raise RegistryError(f"the name {name!r} is registered twice")
    return joined


def classes_of(functions: Iterable[Callable[..., Any]], returns: Any = Any) -> list[type]:
    """Returns the record classes in the functions' signatures and in `returns`, each once.

    The classes of the fields of these records are included.
    """
    schemas: list[m.Schema] = []
    for function in functions:
        if isinstance(function, type):
            schemas.append(schema_of(function))
        else:
            signature = signature_of(function)
            schemas += [*(one.schema for one in signature.parameters), signature.returns]
    parts = (part for schema in [*schemas, schema_of(returns)] for part in m.all_parts(schema))
    records = (one.build for one in parts if isinstance(one, m.ObjectSchema | m.RootSchema))
    return list(dict.fromkeys(one for one in records if isinstance(one, type)))


_ORDER = ("type", "function", "conversion")
_PREFIX = {"type": "type ", "function": "", "conversion": "conv "}


def describe(registry: Registry) -> str:
    """Describes the registry to a model: a line for each type, function and conversion."""
    definitions = sorted(registry.definitions.values(), key=lambda one: _ORDER.index(one.kind))
    return "\n".join(map(signature_line, definitions))


def signature_line(definition: Definition) -> str:
    """Describes one callable in one line: its parameters, its result and its documentation."""
    written = ", ".join(_parameter(one, definition) for one in definition.parameters)
    result = "" if definition.kind == "type" else f" -> {_types.type_notation(definition.result)}"
    notes = [definition.doc] if definition.doc else []
    notes += [f"{one.name}: {one.doc}" for one in definition.parameters if one.doc]
    comment = f"  # {'; '.join(notes)}" if notes else ""
    return f"{_PREFIX[definition.kind]}{definition.name}({written}){result}{comment}"


def _parameter(parameter: Parameter, definition: Definition) -> str:
    type_ = parameter.schema
    # For a function, the default None means that no value is given; for a record, null is a value.
    not_given = definition.kind != "type" and parameter.default is None
    if not_given and isinstance(type_, m.UnionSchema):
        type_ = _types.union_of(member for member in type_.members if member != _types.NULL)
    return f"{parameter.name}{'' if parameter.required else '?'}: {_types.type_notation(type_)}"
