"""Converts Saft values to JSON text and back.

    >>> to_json((1, "é"))
    '[1,"é"]'
    >>> parse('{"a": 1}')
    {'a': 1}

An error names the path of the part that has no JSON form:

    >>> to_json({"a": [1, float("inf")]})
    Traceback (most recent call last):
    runtime_support.errors.CheckError: value.a[1]: float inf has no JSON form
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from runtime_support._values.dates import Digits
from runtime_support._values.kinds import (
    brief,
    data_of,
    holds_halves,
    is_dataframe,
    is_list,
    is_object,
    is_record,
    is_result,
    is_tuple,
    kind,
    member_path,
    plain,
    record_fields,
)
from runtime_support.errors import CheckError

_HALF = "parse(text): half of a surrogate pair is not a character"
# Patterns of numbers that may be too large for a float: jiter reads those as infinity.
_HAS_DIGITS = re.compile(r"\d[.eE]")
_MAY_BE_INFINITE = re.compile(r"\d[eE]\+?\d{3}|\d{309}")


def to_json(value: Any) -> str:
    """Returns the value as compact JSON text, in which non-ASCII characters are not escaped.

    Tuples become lists. Records, NamedTuples and pydantic models become objects of their fields. An
    Enum member becomes its value, and a dataframe becomes a summary of limited length.

    Raises CheckError for non-finite numbers, functions and other values without a JSON form.
    """
    import json

    try:
        return json.dumps(
            _with_data(value),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            default=_as_json,
        )
    except CheckError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise _refusal(value) from error


def parse(text: str) -> Any:
    """Parses JSON text. If a key is repeated, its last value is used.

    Raises CheckError if the text is not JSON.
    """
    return _loaded(_text_of(text))


def parse_unambiguous(text: str, *, keeps_digits: bool = False) -> Any:
    """Parses the JSON text of a reply. Raises CheckError for other text and for repeated keys.

    Also refuses text that is nested 200 levels deep, because no reply contains this on purpose.
    With `keeps_digits`, numbers with a fraction or an exponent become `Digits`, which can be
    converted to decimals without loss.
    """
    text = _text_of(text)
    if (keeps_digits and _HAS_DIGITS.search(text)) or _MAY_BE_INFINITE.search(text):
        return _loaded(text, _members)
    import jiter

    try:
        return jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except UnicodeEncodeError:
        raise CheckError(_HALF) from None
    except ValueError as error:
        raise CheckError(f"parse(text): not JSON: {error}") from None


def _loaded(
    text: str, object_of: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None
) -> Any:
    """Parses JSON text. Numbers with a fraction or an exponent become `Digits`.

    `object_of` makes an object of pairs of a key and a value, by default with the last value of a
    repeated key.
    """
    import json

    try:
        value = json.loads(
            text, object_pairs_hook=object_of, parse_constant=_refuse_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CheckError(f"parse(text): not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise CheckError("parse(text): nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise CheckError(f"parse(text): {error}") from None
    if holds_halves(value if "\\u" in text else text):
        raise CheckError(_HALF)
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CheckError("parse(text): an object has a key twice")
    return found


def _text_of(text: object) -> str:
    given: Any = plain(text)
    if not isinstance(given, str):
        raise CheckError(f"parse(text): expected string, got {brief(given)}")
    return given


def _refuse_constant(name: str) -> NoReturn:
    raise CheckError(f"parse(text): {name} is not JSON")


def _finite(text: str) -> float:
    number = Digits(text)
    if number in (float("inf"), float("-inf")):
        raise CheckError(f"parse(text): {text} is too large for a float")
    return number


_SCALARS = frozenset((bool, int, float, str, type(None)))
_TEXTS = frozenset((str,))


def _with_data(value: Any) -> Any:
    """Replaces Enum members, dates, NamedTuples and pydantic models by their JSON data."""
    value = data_of(value)
    if is_object(value):
        keys = value if _TEXTS.issuperset(map(type, value)) else _texts_of_keys(value)
        if keys is value and _SCALARS.issuperset(map(type, value.values())):
            return value
        return dict(zip(keys, map(_with_data, value.values()), strict=True))
    if is_list(value) or is_tuple(value):
        if _SCALARS.issuperset(map(type, value)):
            return value
        return list(map(_with_data, value))
    return value


def _texts_of_keys(value: dict[Any, Any]) -> list[Any]:
    """Returns an object's keys as JSON data: a date becomes its text.

    Raises CheckError if two keys become equal.
    """
    keys = list(map(data_of, value))
    if len(set(keys)) < len(keys):
        twice = next(one for one in keys if keys.count(one) > 1)
        raise CheckError(f"two keys of an object have the text {brief(twice)} in JSON")
    return keys


def _as_json(value: Any) -> Any:
    """Converts a value that the json module cannot write. It is the `default` of `json.dumps`."""
    if is_result(value):
        return _with_data(plain(value))
    if is_record(value) and not isinstance(value, type):
        return _with_data(record_fields(value))
    own = getattr(value, "__saft_json__", None)
    if own is not None and not isinstance(value, type):
        return own()
    if is_dataframe(value):
        from runtime_support._core.hooks import load_part

        return load_part("tables").summary(value)
    raise TypeError


def _refusal(value: Any) -> CheckError:
    """Returns the error for a value without a JSON form, with the path to the part at fault."""
    path, part = _culprit("value", value, 0)
    hint = _ON_ITS_OWN.get(kind(part))
    return CheckError(f"{path}: {brief(part)} has no JSON form", path=path, hint=hint)


_ON_ITS_OWN = {
    "image": "interpolate it on its own",
    "file": "interpolate it on its own",
    "function": "write each tool in its own braces: `{f} {g}`",
}


def _culprit(path: str, value: Any, depth: int) -> tuple[str, Any]:
    with suppress(Exception):  # a pydantic model may contain a value without a JSON form
        value = data_of(plain(value))
    parts: list[tuple[str, Any]] = []
    if is_list(value) or is_tuple(value):
        parts = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    elif is_object(value):
        parts = [(member_path(path, str(key)), item) for key, item in value.items()]
    elif is_record(value):
        fields = record_fields(value)
        parts = [(member_path(path, name), item) for name, item in fields.items()]
    if depth > 100:
        return path, "nested too deeply"
    for part_path, part in parts:
        if not _is_writable(part):
            return _culprit(part_path, part, depth + 1)
    return path, value


def _is_writable(value: Any) -> bool:
    import json

    try:
        json.dumps(_with_data(value), allow_nan=False, default=_as_json)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
