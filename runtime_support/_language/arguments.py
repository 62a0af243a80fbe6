"""Checks arguments of the builtins: each function returns the plain value, or raises CheckError.

as_text("upper(text)", "a")     "a"
as_text("upper(text)", None)    CheckError: upper(text): expected string, got nil
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime_support._values.kinds import expected_error, is_key, is_number, is_object, plain


def as_text(path: str, value: Any) -> str:
    """Returns a string; raises CheckError for another value."""
    if type(value) is str:
        return value
    value = plain(value)
    if isinstance(value, str):
        return value
    raise expected_error(path, "string", value)


def _argument(word: str, fits: Callable[[Any], bool]) -> Callable[[str, Any], Any]:
    def checked(path: str, value: Any) -> Any:
        value = plain(value)
        if fits(value):
            return value
        raise expected_error(path, word, value)

    return checked


as_bool: Callable[[str, Any], bool] = _argument("bool", lambda value: isinstance(value, bool))
as_number: Callable[[str, Any], int | float] = _argument("number", is_number)
as_integer: Callable[[str, Any], int] = _argument(
    "int", lambda value: isinstance(value, int) and not isinstance(value, bool)
)
as_text_or_number: Callable[[str, Any], str | int | float] = _argument(
    "string, int or float", lambda value: isinstance(value, str) or is_number(value)
)
as_sequence: Callable[[str, Any], list[Any] | tuple[Any, ...]] = _argument(
    "list", lambda value: isinstance(value, (list, tuple))
)
as_object: Callable[[str, Any], dict[Any, Any]] = _argument("object", is_object)
as_key: Callable[[str, Any], Any] = _argument("string, date or datetime", is_key)


def each_as(
    check: Callable[[str, Any], Any], name: str, items: Any, types: frozenset[type]
) -> Sequence[Any]:
    """Checks each item of the argument `items` with `check`, and returns the checked items.

    To save time, the items are not checked if each of them is of one of the `types`.
    """
    given = as_sequence(f"{name}(items)", items)
    if types.issuperset(map(type, given)):
        return given
    return [check(f"{name}(items[{position}])", item) for position, item in enumerate(given)]
