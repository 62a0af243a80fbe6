"""What a prompt needs to know of the kinds of Saft values. `kinds` has all of it.

    >>> is_list([1, 2])
    True
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from polars import DataFrame


def is_list(value: object) -> TypeGuard[list[Any]]:
    """True if the value is a Saft list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """True if the value is a Saft tuple."""
    return isinstance(value, tuple)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """True if the value is a Saft object."""
    return isinstance(value, dict)


def has_length(value: object) -> TypeGuard[str | list[Any] | tuple[Any, ...] | dict[str, Any]]:
    """True if the value is a string, a list, a tuple or an object."""
    return isinstance(value, (str, list, tuple, dict))


def is_number(value: object) -> TypeGuard[int | float]:
    """True if the value is an int or a float. A bool is not a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_record(value: object) -> bool:
    """True if the value is an instance of a dataclass."""
    return hasattr(type(value), "__dataclass_fields__")


def is_dataframe(value: object) -> TypeGuard[DataFrame]:
    """True if the value is a polars dataframe. Never imports polars."""
    class_ = getattr(sys.modules.get("polars"), "DataFrame", None)
    return class_ is not None and isinstance(value, class_)


def is_dataframe_class(class_: type) -> bool:
    """True if the class is polars' DataFrame."""
    return class_ is getattr(sys.modules.get("polars"), "DataFrame", None)


def is_function(value: object) -> bool:
    """True if the value is a Saft function."""
    return callable(value) and not is_record(value)


def is_approved(value: Any) -> bool:
    """True if the value is a function that models may call only after approval."""
    return getattr(value.__class__, "__saft_approved__", False) is True


def is_result(value: object) -> bool:
    """True if the value is the `Result` of a prompt, which scripts may use like its value."""
    return getattr(type(value), "__saft_result__", False)


def plain(value: Any) -> Any:
    """Returns the value that a `Result` holds. Returns any other value unchanged."""
    return value.value if is_result(value) else value


def holds_halves(value: Any) -> bool:
    """True if JSON data contains half of a surrogate pair, which cannot be printed or sent."""
    import json

    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return not text.isascii() and not text.encode()
    except UnicodeEncodeError:
        return True


def without_halves(text: str) -> str:
    """Returns the text with each half of a surrogate pair replaced by U+FFFD."""
    if not holds_halves(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def class_name(class_: type) -> str:
    """Returns the name of a class in scripts, which may differ from its name in Python."""
    return getattr(class_, "__saft_kind__", class_.__name__)
