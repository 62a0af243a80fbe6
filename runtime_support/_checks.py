"""`check(value, int)`: the value, when it is what the type says, or CheckError with the path.

    check({"rows": [{"id": "7"}]}, Table)    CheckError: value.rows[0].id: expected int, ...
    check(3, float)                          3.0, the one conversion there is

A type is compiled once; checking a plain one costs about a function call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")

# Filled as types are met; writing the same entry twice from two threads does no harm. A type that
# cannot be hashed is none, and is refused when it is read.
_compiled: dict[Any, Callable[[Any], Any]] = {}


def check(value: Any, type_: TypeForm[T], *, path: str = "value") -> T:
    """The value as `type_`: an int becomes a float where one is asked for, nothing else converts.

    Lists, tuples and objects are copied only when something in them was converted; an absent
    field that may be None becomes None. Raises CheckError, whose message begins with the path.
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
        report = getattr(error, "report", None)  # a Mismatch, whose module is imported late
        if report is None:
            raise
        failure = report(path)
    raise failure


def _compile(type_: Any) -> Callable[[Any], Any]:
    from runtime_support._schema.checking import compiled
    from runtime_support._schema.reading import remember, schema_of

    schema = schema_of(type_)
    return remember(_compiled, type_, compiled(schema))
