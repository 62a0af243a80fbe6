"""Types as data: what a value must look like, for checks, contracts and tools.

    schema_of(list[int])                 ListSchema(ScalarSchema("int"))
    json_schema(schema_of(list[int]))    {"type": "array", "items": {"type": "integer"}}
    notation(schema_of(list[int]))       "[int]"
    check([1, "2"], list[int])           CheckError: value[1]: expected int, got string "2"
    decode(json_value, schema)           as a check, but builds records and tuples from JSON

The data is in `model`, Python types are read in `reading`, values looked at in `checking`, texts
written in `writing`. They are imported when the first value is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from runtime_support.errors import CheckError

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


def require(condition: object, message: str | Callable[[], str]) -> None:
    """A rule that a record keeps: CheckError with the message, or what gives it, if it does not."""
    if condition:
        return
    error = CheckError(message if isinstance(message, str) else message())
    rules, broken = _tested.get()
    if sys._getframe(1).f_code is not rules:  # pyright: ignore[reportPrivateUsage]
        raise error
    broken.append(error)


# The code with the rules of the record all of whose broken rules are looked for, and these.
_tested: ContextVar[tuple[Any, list[CheckError]]] = ContextVar("saft_tested", default=(None, []))


def broken_rules(build: Callable[..., Any], fields: Mapping[str, Any]) -> list[CheckError]:
    """The rules that the record of these fields breaks; a rule may count on those before it.

    Nothing for a class whose constructor objects in another way.
    """
    rules = getattr(getattr(build, "__post_init__", None), "__code__", None)
    if rules is None:
        return []
    broken: list[CheckError] = []
    token = _tested.set((rules, broken))
    try:
        build(**fields)
    except Exception:  # a rule that cannot be judged where one before it does not hold
        return broken
    finally:
        _tested.reset(token)
    return broken


def _compile(type_: Any) -> Callable[[Any], Any]:
    from runtime_support._schema.checking import compiled
    from runtime_support._schema.reading import remember, schema_of

    schema = schema_of(type_)
    return remember(_compiled, type_, compiled(schema))
