"""The fields of pydantic models, as JSON.

A pydantic model converts its fields from JSON itself. It receives a date as text, and a set as a
list. For other classes, pydantic's JSON Schema describes the data. Pydantic is imported only if
there is a pydantic model, whose own module has already imported it.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from importlib import import_module
from typing import Any

from runtime_support._schema import model as m
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_object

# The JSON Schema formats of the texts that pydantic reads.
_FORMATS = {kind: form for form, kind in m.KINDS_OF_FORMATS.items()}


def field_arguments(own: Any) -> dict[str, Any]:
    """Returns the doc, default and examples of pydantic's `FieldInfo`, as arguments of `Field`."""
    known: dict[str, Any] = {} if own.description is None else {"doc": own.description}
    if not own.is_required():
        default = m.ABSENT if own.default_factory is not None else own.default
        known |= {"required": False, "default": default}
        if default is not None:
            known["told_default"] = _data_of(default)
    return {**known, "examples": _examples_of(own)}


def alias_of(own: Any) -> str | None:
    """Returns a field's first alias, its name in JSON. Returns None if the field has no alias."""
    for alias in (own.validation_alias, own.alias):
        choices = getattr(alias, "choices", [alias])
        if choices and isinstance(choices[0], str):
            return choices[0]
    return None


def _examples_of(own: Any) -> tuple[Any, ...]:
    extra: Any = own.json_schema_extra
    found: Any = own.examples or (extra.get("examples") if is_object(extra) else None)
    told = map(_data_of, found if is_list(found) else ())
    return tuple(one for one in told if one is not m.ABSENT)


def _data_of(value: Any) -> Any:
    """Returns a value as JSON data, or ABSENT if the value has no JSON form."""
    if value is m.ABSENT:
        return value
    try:
        return import_module("pydantic_core").to_jsonable_python(value)
    except Exception:  # user classes may raise anything
        return m.ABSENT


def with_examples(doc: str | None, class_: Any) -> str | None:
    """Returns the doc of a model, followed by the examples in the model's configuration."""
    extra: Any = getattr(class_, "model_config", {}).get("json_schema_extra")
    examples: Any = extra.get("examples") if is_object(extra) else None
    if not is_list(examples) or not examples:
        return doc
    such = " or ".join(map(to_json, examples))
    return f"{doc} Such as {such}" if doc else f"Such as {such}"


def in_json(schema: m.Schema) -> m.Schema:
    """Returns the schema of the JSON data that pydantic converts to values of the given schema.

    A date becomes a string, for example.
    """
    match schema:
        case m.OpaqueSchema(python=python) if python is not None:
            return _read_by_pydantic(python)
        case m.ScalarSchema("date" | "datetime" | "time" | "duration" as word, constraints):
            constraints = constraints or m.Constraints(told_only=True)
            return m.ScalarSchema("string", replace(constraints, format=_FORMATS[word]))
        case m.ListSchema(item):
            return replace(schema, item=in_json(item))
        case m.MapSchema(value, key):
            key = in_json(key)
            key = key if m.is_key(key) else m.TEXT
            return replace(schema, value=in_json(value), key=key)
        case m.TupleSchema(items, rest):
            rest = None if rest is None else in_json(rest)
            items = tuple(map(in_json, items))
            return replace(schema, items=items, rest=rest)
        case m.UnionSchema(members):
            return m.UnionSchema(tuple(map(in_json, members)))
        case _:
            return schema


@functools.lru_cache(maxsize=1024)
def _read_by_pydantic(class_: type) -> m.Schema:
    """Returns the schema of the JSON scalar that pydantic reads for a class.

    Returns `AnySchema` if pydantic reads something other than a scalar.
    """
    try:
        from pydantic import TypeAdapter

        document = TypeAdapter(class_).json_schema()
    except Exception:  # user classes may raise anything; the model reports it later
        return m.AnySchema()
    kinds: dict[Any, m.ScalarKind] = {
        **{"string": "string", "integer": "int", "number": "float", "boolean": "bool"}
    }
    kind = kinds.get(document.get("type"))
    if kind is None or "enum" in document:
        return m.AnySchema()
    constraints = m.Constraints(
        above=document.get("exclusiveMinimum"),
        minimum=document.get("minimum"),
        below=document.get("exclusiveMaximum"),
        maximum=document.get("maximum"),
        multiple_of=document.get("multipleOf"),
        least=document.get("minLength"),
        most=document.get("maxLength"),
        pattern=document.get("pattern"),
        format=document.get("format"),
        told_only=True,
    )
    return m.constrained(m.ScalarSchema(kind), constraints)
