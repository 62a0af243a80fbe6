"""Checks values against JSON Schema if their Python types are not available.

    fits({"type": "integer", "minimum": 1}, 0)      False

`fits` tests the keywords that `writing` writes, and ignores all other keywords.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from runtime_support._schema.model import KINDS_OF_FORMATS
from runtime_support._values.dates import NotReadable, read
from runtime_support._values.kinds import is_list

JSONSchema = dict[str, Any]

_REFERENCE = "#/$defs/"


def is_of_form(form: str, text: str) -> bool:
    """True if the text has this format of JSON Schema, or if the format is unknown."""
    if form not in KINDS_OF_FORMATS:
        return True
    try:
        read(KINDS_OF_FORMATS[form], text)
    except NotReadable:
        return False
    return True


def resolved(schema: JSONSchema, definitions: JSONSchema) -> JSONSchema:
    """Returns the definition that a `$ref` names, or the schema itself."""
    return definitions[schema["$ref"][len(_REFERENCE) :]] if "$ref" in schema else schema


def fits(
    schema: Any,
    value: Any,
    definitions: JSONSchema,
    is_form: Callable[[str, str], bool] = is_of_form,
) -> bool:
    """True if the value satisfies the schema.

    `definitions` maps the names in references to schemas. `is_form(form, text)` tests a format.
    """
    takes = partial(fits, definitions=definitions, is_form=is_form)
    schema = {"not": {}} if schema is False else resolved(schema, definitions)
    value = float(value) if isinstance(value, float) else value  # it may be `Digits`
    if isinstance(value, str) and not is_form(schema.get("format", ""), value):
        return False
    tests = {**_KEYWORDS, **_KEYWORDS_OF.get(value.__class__, {})}
    return all(tests[one](schema[one], value, schema, takes) for one in tests.keys() & schema)


# Tests of keywords: (the keyword's value, the value, the schema, the test of an inner schema).
_TYPES = {
    "null": {type(None)},
    "boolean": {bool},
    "integer": {int},
    "number": {int, float},
    "string": {str},
    "array": {list},
    "object": {dict},
}
_Test = Callable[[Any, Any, JSONSchema, Callable[[Any, Any], bool]], bool]
_KEYWORDS: dict[str, _Test] = {
    "type": lambda kind, v, s, t: any(
        type(v) in _TYPES[one] for one in (kind if is_list(kind) else [kind])
    ),
    "const": lambda const, v, s, t: type(v) is type(const) and v == const,
    "enum": lambda enum, v, s, t: any(type(v) is type(one) and v == one for one in enum),
    "not": lambda inner, v, s, t: not t(inner, v),
    "allOf": lambda members, v, s, t: all(t(one, v) for one in members),
    "anyOf": lambda members, v, s, t: any(t(one, v) for one in members),
}
LIMITS: dict[str, _Test] = {
    "minimum": lambda least, v, s, t: v >= least,
    "maximum": lambda most, v, s, t: v <= most,
    "exclusiveMinimum": lambda below, v, s, t: v > below,
    "exclusiveMaximum": lambda above, v, s, t: v < above,
}
_OF_A_NUMBER: dict[str, _Test] = {
    **LIMITS,
    "multipleOf": lambda step, v, s, t: math.isclose(v / step, round(v / step)),
}
_KEYWORDS_OF: dict[type[Any], dict[str, _Test]] = {
    int: _OF_A_NUMBER,
    float: _OF_A_NUMBER,
    str: {
        "minLength": lambda least, v, s, t: len(v) >= least,
        "maxLength": lambda most, v, s, t: len(v) <= most,
        "pattern": lambda pattern, v, s, t: re.search(pattern, v) is not None,
    },
    list: {
        "minItems": lambda least, v, s, t: len(v) >= least,
        "maxItems": lambda most, v, s, t: len(v) <= most,
        "uniqueItems": lambda is_set, v, s, t: not is_set or all(v.count(one) == 1 for one in v),
        "prefixItems": lambda items, v, s, t: all(map(t, items, v)),
        "items": lambda item, v, s, t: all(t(item, one) for one in v),
    },
    dict: {
        "minProperties": lambda least, v, s, t: len(v) >= least,
        "maxProperties": lambda most, v, s, t: len(v) <= most,
        "required": lambda names, v, s, t: {*names} <= {*v},
        "propertyNames": lambda name, v, s, t: all(t(name, key) for key in v),
        "properties": lambda fields, v, s, t: all(t(fields[k], v[k]) for k in v if k in fields),
        "additionalProperties": lambda other, v, s, t: all(
            t(other, v[k]) for k in v if k not in s.get("properties", {})
        ),
    },
}
