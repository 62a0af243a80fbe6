"""Arguments of the builtins, checked: each gives the plain value, or CheckError with the place.

text("upper(text)", 3)      CheckError: upper(text): expected string, got int 3
"""

from __future__ import annotations

from runtime_support._quick_typing import Any, Callable, Sequence
from runtime_support._values import brief, is_list, is_number, is_object, is_tuple, plain
from runtime_support.errors import CheckError


def expected(path: str, word: str, value: Any) -> CheckError:
    """The error of an argument that is something else."""
    return CheckError(f"{path}: expected {word}, got {brief(value)}", path=path)


def as_text(path: str, value: Any) -> str:
    """A string."""
    if type(value) is str:
        return value
    value = plain(value)
    if isinstance(value, str):
        return value
    raise expected(path, "string", value)


def as_bool(path: str, value: Any) -> bool:
    """A bool."""
    value = plain(value)
    if isinstance(value, bool):
        return value
    raise expected(path, "bool", value)


def as_number(path: str, value: Any) -> int | float:
    """An int or a float."""
    value = plain(value)
    if is_number(value):
        return value
    raise expected(path, "number", value)


def as_text_or_number(path: str, value: Any) -> str | int | float:
    """A string, an int or a float."""
    value = plain(value)
    if isinstance(value, str) or is_number(value):
        return value
    raise expected(path, "string, int or float", value)


def as_integer(path: str, value: Any) -> int:
    """An int."""
    value = plain(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise expected(path, "int", value)


def as_sequence(path: str, value: Any) -> list[Any] | tuple[Any, ...]:
    """A list or a tuple."""
    value = plain(value)
    if is_list(value) or is_tuple(value):
        return value
    raise expected(path, "list", value)


def as_object(path: str, value: Any) -> dict[str, Any]:
    """An object."""
    value = plain(value)
    if is_object(value):
        return value
    raise expected(path, "object", value)


def each_as(
    check: Callable[[str, Any], Any], name: str, items: Any, types: frozenset[type]
) -> Sequence[Any]:
    """The argument `items`, each item checked; nothing is to be done where all are of the types."""
    given = as_sequence(f"{name}(items)", items)
    if types.issuperset(map(type, given)):
        return given
    return [check(f"{name}(items[{position}])", item) for position, item in enumerate(given)]
