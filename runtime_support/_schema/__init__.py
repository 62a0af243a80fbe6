"""Schemas: types as data, for checks, contracts and tools.

    schema_of(list[int])                 ListSchema(ScalarSchema("int"))
    json_schema(schema_of(list[int]))    {"type": "array", "items": {"type": "integer"}}
    notation(schema_of(list[int]))       "[int]"
    check([1, "2"], list[int])           CheckError: value[1]: expected int, got string "2"
    decode(json_value, schema)           checks JSON data and builds its records and tuples

`model` defines the schemas, `reading` makes schemas from Python types, `checking` checks values,
and `writing` writes schemas as text. These modules are imported when the first value is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")

# Cached checks by type; two threads may write the same entry without harm. An unhashable type is
# not a type: `schema_of` refuses it.
_compiled: dict[Any, Callable[[Any], Any]] = {}


def check(value: Any, type_: TypeForm[T], *, path: str = "value") -> T:
    """Returns the value as a `type_`, or raises a CheckError whose message begins with `path`.

    Where the type says so, an int becomes a float, a text a date, the value of an Enum its member,
    and an object a record. A missing field that may be None becomes None. Lists, tuples and objects
    are copied only if a part was converted.
    """
    try:
        checked = _compiled.get(type_)
    except TypeError:
        checked = None
    if checked is None:
        checked = _compile(type_)
    try:
        return checked(value)
    except Exception as error:
        from runtime_support._schema.checking import error_of

        failure = error_of(error, path)
    raise failure


def _compile(type_: Any) -> Callable[[Any], Any]:
    from runtime_support._schema.checking import validating
    from runtime_support._schema.reading import remember, schema_of

    schema = schema_of(type_)
    return remember(_compiled, type_, validating.check(schema))
