"""Reads classes as schemas: TypedDicts, dataclasses, NamedTuples, pydantic models and Enums.

    read_class(reader, "Person", Person)        ObjectSchema("Person", ...)
    hints_of_class(Person)                      the types of its fields, with names looked up

The module is loaded with the first class. `reading` reads all other types.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from runtime_support._schema import model as m
from runtime_support._values.names import field_name
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from runtime_support._schema.reading import TypeReader


def read_class(
    reader: TypeReader, name: str, class_: type[Any], arguments: tuple[Any, ...]
) -> m.Schema:
    """Returns the schema of a class, which messages call `name`.

    If the class has no fields and is not an Enum, the schema is an `OpaqueSchema`, which tests
    values with `isinstance`. `arguments` are the types in `Page[int]`.
    """
    if isinstance(class_, enum.EnumMeta):
        return _enumeration(name, class_)
    fields_of = _fields_of(class_)
    if fields_of is None:
        return m.OpaqueSchema(name, m.InstanceOf(class_), class_)
    given = tuple(map(reader.read, arguments))
    is_of_model = reader.is_of_model

    def read() -> m.Schema:
        bound, reader.bound = reader.bound, dict(zip(_variables_of(class_), given, strict=False))
        reader.is_of_model = is_model(class_)
        fields = tuple(fields_of(reader, class_))
        reader.is_of_model, reader.bound = is_of_model, bound
        doc = _doc_of_class(class_)
        if getattr(class_, "__pydantic_root_model__", False):
            # A model converts the value of a root model among its fields itself.
            (root,) = fields
            return root.schema if is_of_model else m.RootSchema(name, root, doc, class_)
        build = None if is_typed_dict(class_) else class_
        return m.ObjectSchema(name, fields, doc, build, is_model(class_))

    return reader.read_once((class_, given, is_of_model), name, read)


def _variables_of(class_: Any) -> tuple[Any, ...]:
    return getattr(class_, "__parameters__", ())


def _fields_of(class_: Any) -> Callable[[TypeReader, Any], Iterable[m.Field]] | None:
    """Returns the function that reads the fields of a class, or None if it has no fields."""
    if is_typed_dict(class_):
        return _keys
    if is_model(class_):
        return _model
    is_named_tuple = tuple in class_.__mro__ and hasattr(class_, "_fields")
    return _record if is_named_tuple or hasattr(class_, "__dataclass_fields__") else None


def _keys(reader: TypeReader, class_: Any) -> Iterable[m.Field]:
    """Yields the fields of a TypedDict. A missing field that admits None becomes None."""
    for name, hint in hints_of_class(class_, reader.namespace, reader.names).items():
        # Annotations that were text are not yet in `__required_keys__`.
        said, is_required = typing.get_origin(hint), name in class_.__required_keys__
        is_optional = said is not typing.Required and (
            said is typing.NotRequired or not is_required
        )
        yield reader.field(name, hint, **({"required": False} if is_optional else {}))


def _record(reader: TypeReader, class_: Any) -> Iterable[m.Field]:
    """Yields the fields of a dataclass or a NamedTuple."""
    hints = hints_of_class(class_, reader.namespace, reader.names)
    for name, default in _defaults_of(class_):
        known: dict[str, Any] = {"attribute": name}
        if default is not dataclasses.MISSING:
            known |= {"required": False, "default": default}
        yield reader.field(field_name(name), hints.get(name, Any), **known)


def _defaults_of(class_: Any) -> Iterable[tuple[str, Any]]:
    """Yields the names of a constructor's fields with their defaults, or MISSING.

    A field with a `default_factory` has the default ABSENT, as the class calls the factory.
    """
    if not hasattr(class_, "__dataclass_fields__"):
        for name in class_._fields:
            yield name, class_._field_defaults.get(name, dataclasses.MISSING)
        return
    for own in dataclasses.fields(class_):
        if own.init:
            is_made = own.default_factory is not dataclasses.MISSING
            yield own.name, m.ABSENT if is_made else own.default


def _model(reader: TypeReader, class_: Any) -> Iterable[m.Field]:
    """Yields the fields of a model or a dataclass of pydantic, with their aliases as names."""
    from runtime_support._schema import models

    for name, own in class_.__pydantic_fields__.items():
        field = reader.field(
            models.alias_of(own) or name, own.annotation, **models.field_arguments(own)
        )
        if field.doc is None and getattr(own.annotation, "__pydantic_root_model__", False):
            field = dataclasses.replace(field, doc=_doc_of_class(own.annotation))
        schema = models.in_json(field.schema)
        constrained = m.constrained(schema, reader.constraints(own.metadata))
        yield dataclasses.replace(field, schema=constrained)


def is_typed_dict(class_: type) -> bool:
    """True for a TypedDict of `typing` or `typing_extensions`.

    Before Python 3.12, these are different classes, and pydantic needs the TypedDict of
    `typing_extensions`. This function does not import `typing_extensions`.
    """
    extensions = sys.modules.get("typing_extensions")
    known = (typing,) if extensions is None else (typing, extensions)
    return any(module.is_typeddict(class_) for module in known)


def is_model(class_: type) -> bool:
    """True for a model or a dataclass of pydantic. Never imports pydantic."""
    return hasattr(class_, "__pydantic_fields__")


def _enumeration(name: str, class_: Any) -> m.Schema:
    """Returns a union of an Enum's values. Each literal also holds the member of the Enum.

    Returns an `OpaqueSchema` if a value has no JSON form.
    """
    values = [member.value for member in class_]
    if not values or not all(type(one) in (bool, int, float, str) for one in values):
        return m.OpaqueSchema(name, m.InstanceOf(class_), class_)
    literals = tuple(m.LiteralSchema(member.value, member) for member in class_)
    return literals[0] if len(literals) == 1 else m.UnionSchema(literals)


def hints_of_class(
    class_: Any,
    namespace: Mapping[str, Any] | None = None,
    known: Mapping[type, str] | None = None,
) -> dict[str, Any]:
    """Returns the types of a class's fields. `known` maps classes to the names that texts use.

    Raises CheckError if a name in an annotation is unknown.
    """
    module = sys.modules.get(class_.__module__)
    names = dict(vars(module)) if module is not None else {}
    try:
        if names.get(class_.__name__) is not class_:
            unregistered = _namespace_of(class_, namespace)
            if unregistered is not None:
                return _hints_within(class_, unregistered)
        names |= {name: python for python, name in (known or {}).items()}
        names[class_.__name__] = class_
        return typing.get_type_hints(class_, names, include_extras=True)
    except (NameError, AttributeError, SyntaxError) as error:
        raise CheckError(f"the annotations of {class_.__name__}: {error}") from None


def _namespace_of(class_: type, namespace: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Returns the globals of the module that holds a class, or None if they are not found.

    Looks in `namespace` and in the frames of the callers. This finds a class that no module in
    `sys.modules` holds, for example a class of a script that was run from memory.
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
    """Returns the type hints of a class, with names resolved in `namespace`.

    `typing.get_type_hints` alone would resolve the names in the module that `sys.modules` has.
    """
    annotations: dict[str, Any] = {}
    for base in reversed(class_.__mro__):
        for name, hint in inspect.get_annotations(base).items():
            is_text = isinstance(hint, typing.ForwardRef)
            annotations[name] = hint.__forward_arg__ if is_text else hint
    annotated = types.SimpleNamespace(__annotations__=annotations)
    # Separate locals: otherwise typing reuses its cached result for an equal annotation elsewhere.
    return typing.get_type_hints(annotated, dict(namespace), {}, include_extras=True)


def _doc_of_class(class_: Any) -> str | None:
    """Returns the class's docstring, or None.

    For a pydantic model, the examples in its configuration follow.
    """
    doc = own_doc(class_)
    if not is_model(class_):
        return doc
    from runtime_support._schema import models

    return models.with_examples(doc, class_)


def own_doc(class_: type) -> str | None:
    """Returns the class's docstring, or None if `dataclass` generated it."""
    doc = vars(class_).get("__doc__")
    if not isinstance(doc, str) or doc.startswith(f"{class_.__name__}("):
        return None
    return inspect.cleandoc(doc)
