"""Python types and functions to schemas.

    schema_of(str | None)            UnionSchema((ScalarSchema("string"), ScalarSchema("nil")))
    schema_of(Annotated[str, "..."]) as `str`; the text becomes the doc of a field or parameter
    signature_of(look_up)            name, doc and parameters of a function that becomes a tool

TypedDicts and dataclasses become objects of their fields; `Any` field of an object admits nil and
still has to be there, `T | None` may be absent.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from runtime_support.errors import CheckError
from runtime_support.names import field_name, script_name
from runtime_support.schema.model import (
    ABSENT,
    AnySchema,
    Field,
    ListSchema,
    LiteralSchema,
    MapSchema,
    ObjectSchema,
    OpaqueSchema,
    ReferenceSchema,
    ScalarSchema,
    Schema,
    TupleSchema,
    UnionSchema,
    admits_nil,
)
from runtime_support.values import is_dataframe, is_dataframe_class

_PLAIN: dict[Any, Schema] = {
    Any: AnySchema(),
    object: AnySchema(),
    inspect.Parameter.empty: AnySchema(),
    int: ScalarSchema("int"),
    float: ScalarSchema("float"),
    bool: ScalarSchema("bool"),
    str: ScalarSchema("string"),
    None: ScalarSchema("nil"),
    type(None): ScalarSchema("nil"),
    list: ListSchema(AnySchema()),
    dict: MapSchema(AnySchema()),
    tuple: TupleSchema((), rest=AnySchema()),
    collections.abc.Sequence: ListSchema(AnySchema()),
    collections.abc.Mapping: MapSchema(AnySchema()),
    types.FunctionType: OpaqueSchema("function", callable),
    types.BuiltinFunctionType: OpaqueSchema("function", callable),
    vars(collections.abc)["Callable"]: OpaqueSchema("function", callable),
    vars(typing)["Callable"]: OpaqueSchema("function", callable),
}
# What a function that only reads a list or an object is annotated with.
_READ_ONLY = {collections.abc.Sequence: list, collections.abc.Mapping: dict}

Passed: TypeAlias = Literal["by position", "by name", "either way"]

_PASSED: dict[Any, Passed] = {
    inspect.Parameter.POSITIONAL_ONLY: "by position",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either way",
    inspect.Parameter.KEYWORD_ONLY: "by name",
}

# Equal types need not read the same (`int | str == str | int`), so the text is part of the key.
_cache: dict[tuple[Any, str], Schema] = {}
_signatures: WeakKeyDictionary[Any, Signature] = WeakKeyDictionary()
_objects: dict[str, tuple[Mapping[str, Any], ObjectSchema]] = {}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; `passed` tells how Python takes it.

    `name` is its name in the script, `python_name` the one in Python: `class` and `class_`.
    """

    name: str
    schema: Schema
    required: bool
    doc: str | None
    passed: Passed = "either way"
    python_name: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool's description is made of.

    `rest` is the parameter `*args`, as a list; `open_ended` tells that any names may be given.
    """

    parameters: tuple[Parameter, ...]
    returns: Schema
    doc: str | None
    rest: Parameter | None = None
    open_ended: bool = False


def schema_of(type_: Any, namespace: Mapping[str, Any] | None = None) -> Schema:
    """The schema of a Python type; CheckError when it cannot be one.

    `namespace` is where the type was named: annotations that are text may need it.
    """
    try:
        plain = _PLAIN.get(type_)
        if plain is not None:
            return plain
        key = (type_, repr(type_))
        found = _cache.get(key)
    except TypeError:  # cannot be hashed, and is no type
        raise CheckError(f"`{type_!r}` is not a type that values can be checked against") from None
    if found is None:
        found = _cache[key] = _Reader(namespace).read(type_)
    return found


def object_schema(fields: Mapping[str, Any]) -> ObjectSchema:
    """The object with these fields, given as Python types by name."""
    known = _objects.get(key := repr(fields))
    if known is not None and known[0] == fields:
        return known[1]
    schema = ObjectSchema(None, tuple(_Reader().field(name, t) for name, t in fields.items()))
    _objects[key] = (dict(fields), schema)
    return schema


def signature_of(function: Callable[..., Any]) -> Signature:
    """Parameters, return schema and doc of a function, read once; annotations may be strings."""
    try:
        found = _signatures.get(function)
        if found is None:
            found = _signatures[function] = _read_signature(function)
    except TypeError:  # cannot be hashed or referred to weakly
        return _read_signature(function)
    return found


def _read_signature(function: Callable[..., Any]) -> Signature:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return Signature((), AnySchema(), inspect.getdoc(function), None, open_ended=True)
    hints = _hints_of_function(function)
    namespace: Mapping[str, Any] | None = getattr(function, "__globals__", None)
    known_by = field_name if dataclasses.is_dataclass(function) else script_name
    parameters: list[Parameter] = []
    rest: Parameter | None = None
    open_ended = False
    for name, parameter in signature.parameters.items():
        hint = hints.get(name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
            continue
        schema, doc = schema_of(hint, namespace), _doc_of(hint)
        known_as = known_by(name)
        if known_as in signature.parameters:
            known_as = name
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = Parameter(known_as, ListSchema(schema), False, doc, python_name=name)
            continue
        required = parameter.default is parameter.empty
        passed = _PASSED[parameter.kind]
        parameters.append(Parameter(known_as, schema, required, doc, passed, name))
    returns = schema_of(hints["return"], namespace) if "return" in hints else AnySchema()
    doc = _own_doc(function) if isinstance(function, type) else inspect.getdoc(function)
    return Signature(tuple(parameters), returns, doc, rest, open_ended)


class _Reader:
    """Reads one type; classes under way are remembered so that they may refer to themselves."""

    def __init__(self, namespace: Mapping[str, Any] | None = None) -> None:
        self.namespace = namespace
        self.under_way: dict[type, list[Schema]] = {}

    def read(self, type_: Any) -> Schema:
        plain = _PLAIN.get(type_) if type_.__hash__ is not None else None
        if plain is not None:
            return plain
        origin = typing.get_origin(type_)
        if origin is not None:
            return self.generic(type_, origin, typing.get_args(type_))
        if hasattr(type_, "__value__"):  # a `type X = ...` statement
            return self.read(type_.__value__)
        if hasattr(type_, "__supertype__"):  # NewType
            return self.read(type_.__supertype__)
        if isinstance(type_, type):
            return self.named(type_)
        raise CheckError(f"`{type_!r}` is not a type that values can be checked against")

    def generic(self, type_: Any, origin: Any, arguments: tuple[Any, ...]) -> Schema:
        origin = _READ_ONLY.get(origin, origin)
        if origin in (typing.Annotated, typing.Required, typing.NotRequired, typing.Final):
            return self.read(arguments[0])
        if origin in (typing.Union, types.UnionType):
            return UnionSchema(tuple(map(self.read, arguments)))
        if origin is Literal:
            literals = tuple(map(LiteralSchema, arguments))
            return literals[0] if len(literals) == 1 else UnionSchema(literals)
        if origin is list:
            return ListSchema(self.read(arguments[0]))
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return TupleSchema((), rest=self.read(arguments[0]))
            return TupleSchema(tuple(map(self.read, arguments)))
        if origin is dict:
            if arguments[0] is not str:
                raise CheckError(f"`{type_!r}`: the keys of an object are strings")
            return MapSchema(self.read(arguments[1]))
        if origin in _PLAIN:
            return _PLAIN[origin]
        if isinstance(origin, type):
            return self.named(origin)
        raise CheckError(f"`{type_!r}` is not a type that values can be checked against")

    def named(self, class_: type[Any]) -> Schema:
        """A TypedDict, a dataclass, or any other class, which is taken by `isinstance`."""
        is_record = hasattr(class_, "__dataclass_fields__")
        if is_dataframe_class(class_):
            return OpaqueSchema("dataframe", is_dataframe)
        if not (typing.is_typeddict(class_) or is_record):
            return OpaqueSchema(class_.__name__, lambda value: isinstance(value, class_))
        if class_ in self.under_way:
            finished = self.under_way[class_]
            return ReferenceSchema(class_.__name__, lambda: finished[0])
        finished = self.under_way[class_] = []
        fields = self.record(class_) if is_record else self.keys(class_)
        build = class_ if is_record else None
        schema = ObjectSchema(class_.__name__, tuple(fields), _own_doc(class_), build)
        finished.append(schema)
        del self.under_way[class_]
        return schema

    def keys(self, class_: Any) -> Iterable[Field]:
        """The fields of a TypedDict: what admits None may be absent and becomes None."""
        for name, hint in _hints_of_class(class_, self.namespace).items():
            field = self.field(name, hint)
            # Annotations that were text are not yet in `__required_keys__`.
            is_optional = typing.get_origin(hint) is typing.NotRequired
            if field.required and (is_optional or name not in class_.__required_keys__):
                field = dataclasses.replace(field, required=False)
            yield field

    def record(self, class_: Any) -> Iterable[Field]:
        """The fields of a dataclass; a default of its own stays the class's business."""
        hints = _hints_of_class(class_, self.namespace)
        for own in dataclasses.fields(class_):
            if not own.init:
                continue
            name = field_name(own.name)
            field = self.field(name, hints[own.name])
            if name != own.name:
                field = dataclasses.replace(field, attribute=own.name)
            missing = dataclasses.MISSING
            if own.default is not missing:
                field = dataclasses.replace(field, required=False, default=own.default)
            elif own.default_factory is not missing:
                field = dataclasses.replace(field, required=False, default=ABSENT)
            yield field

    def field(self, name: str, hint: Any) -> Field:
        schema = self.read(hint)
        doc = _doc_of(hint)
        if admits_nil(schema) and not isinstance(schema, AnySchema):
            return Field(name, schema, required=False, default=None, doc=doc)
        return Field(name, schema, doc=doc)


def _hints_of_class(class_: Any, namespace: Mapping[str, Any] | None = None) -> dict[str, Any]:
    module = sys.modules.get(class_.__module__)
    names = dict(vars(module)) if module is not None else {}
    try:
        if names.get(class_.__name__) is not class_:
            unregistered = _namespace_of(class_, namespace)
            if unregistered is not None:
                return _hints_within(class_, unregistered)
        names[class_.__name__] = class_
        return typing.get_type_hints(class_, names, include_extras=True)
    except NameError as error:
        raise CheckError(f"the annotations of {class_.__name__}: {error}") from None


def _namespace_of(class_: type, namespace: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The globals of the module of a class, when no module of its name holds it.

    So it is in a script that is run from memory: what calls us, near or far, belongs to it.
    """
    if namespace is not None and namespace.get(class_.__name__) is class_:
        return namespace
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get(class_.__name__) is class_:
            return frame.f_globals
        frame = frame.f_back
    return None


def _hints_within(class_: Any, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """As `typing.get_type_hints`, which looks for the names in the registered module."""
    annotations: dict[str, Any] = {}
    for base in reversed(class_.__mro__):
        for name, hint in inspect.get_annotations(base).items():
            is_text = isinstance(hint, typing.ForwardRef)
            annotations[name] = hint.__forward_arg__ if is_text else hint
    annotated = types.SimpleNamespace(__annotations__=annotations)
    # Locals of their own: else typing takes what an equal annotation elsewhere was found to be.
    return typing.get_type_hints(annotated, dict(namespace), {}, include_extras=True)


def _hints_of_function(function: Any) -> dict[str, Any]:
    if isinstance(function, type):
        return _hints_of_class(function)
    annotated = function if hasattr(function, "__annotations__") else type(function).__call__
    try:
        return typing.get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError):
        return {}


def _doc_of(hint: Any) -> str | None:
    """The text of `Annotated[T, "text"]`, also under `NotRequired`."""
    while typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Final):
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is not typing.Annotated:
        return None
    texts = [extra for extra in typing.get_args(hint)[1:] if isinstance(extra, str)]
    return " ".join(texts) or None


def _own_doc(class_: type) -> str | None:
    """The docstring that was written, not the one that `dataclass` makes up."""
    doc = vars(class_).get("__doc__")
    if not isinstance(doc, str) or doc.startswith(f"{class_.__name__}("):
        return None
    return inspect.cleandoc(doc)
