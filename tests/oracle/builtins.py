"""The builtins of the reference interpreter, by their names in Saft.

Each takes Saft values as they were given and gives one, or raises Wrong. Parameters bear the names
that a script may use.
"""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal, DecimalException
from typing import Any

from tests.oracle import dates
from tests.oracle import values as v
from tests.oracle.values import Builtin, Value, Wrong, is_number, is_sequence, kind_of

_UNITS = {"weeks", "days", "hours", "minutes", "seconds"}
_INTEGER = re.compile(r"\s*[+-]?\d+(_\d+)*\s*")


def builtins(output: list[str]) -> dict[str, Value]:
    """All builtins; what `print` and `write` write is added to `output`."""

    def print_(*values: Value) -> None:
        output.append(" ".join(map(v.text_of, values)) + "\n")

    def write(value: Value) -> None:
        output.append(v.text_of(value))

    own = {"print": print_, "write": write}
    return {name: Builtin(name, run) for name, run in {**_TABLE, **own}.items()}


# Text


def matches(text: Value, pattern: Value) -> bool:
    return re.fullmatch(_text(pattern), _text(text)) is not None


def chars(text: Value) -> list[str]:
    return [*_text(text)]


def unique(items: Value) -> list[Value]:
    if not is_sequence(items):
        raise Wrong(f"expected a list, got {kind_of(items)}")
    found: list[Value] = []
    for one in items:
        found += [] if v.contains(one, found) else [one]
    return found


def upper(text: Value) -> str:
    return _text(text).upper()


def lower(text: Value) -> str:
    return _text(text).lower()


def strip(text: Value) -> str:
    return _text(text).strip()


def split(text: Value, separator: Value = None) -> list[str]:
    if separator is None:
        return _text(text).split()
    if _text(separator) == "":
        raise Wrong("an empty separator")
    return _text(text).split(separator)


def join(items: Value, separator: Value = "") -> str:
    if isinstance(items, str):
        items, separator = separator, items
    return _text(separator).join(map(_text, _sequence(items)))


def replace(text: Value, old: Value, new: Value) -> str:
    return _text(text).replace(_text(old), _text(new))


def contains(container: Value, item: Value) -> bool:
    return v.contains(item, container)


def starts_with(text: Value, part: Value) -> bool:
    return _text(text).startswith(_text(part))


def ends_with(text: Value, part: Value) -> bool:
    return _text(text).endswith(_text(part))


# Collections


def length(value: Value) -> int:
    if not isinstance(value, str | list | tuple | dict):
        raise Wrong(f"no length: {kind_of(value)}")
    return len(value)


def range_(start: Value, stop: Value = None, step: Value = 1) -> list[int]:
    first, last = (0, start) if stop is None else (start, stop)
    if _integer(step) == 0:
        raise Wrong("a step of zero")
    return list(range(_integer(first), _integer(last), step))


def sorted_(items: Value, reverse: Value = False) -> list[Value]:
    v.check_ordered(_sequence(items))
    if not isinstance(reverse, bool):
        raise Wrong("`reverse` is a bool")
    return sorted(items, reverse=reverse)


def reversed_(items: Value) -> list[Value]:
    return list(reversed(_sequence(items)))


def zip_(*lists: Value) -> list[Value]:
    return list(zip(*map(_sequence, lists), strict=False))


def enumerate_(items: Value, start: Value = 0) -> list[Value]:
    return list(enumerate(_sequence(items), _integer(start)))


def keys(value: Value) -> list[Value]:
    return list(_object(value))


def values(value: Value) -> list[Value]:
    return list(_object(value).values())


def items(object: Value) -> list[Value]:
    return list(_object(object).items())


def get(object: Value, key: Value, default: Value = None) -> Value:
    return _object(object).get(_key(key), default)


def sum_(items: Value) -> Value:
    found = list(_sequence(items))
    kinds = set(map(kind_of, found))
    if "decimal" in kinds and kinds <= {"decimal", "int"}:
        return _calculated(sum, found, Decimal(0))
    if kinds == {"duration"}:
        return _calculated(sum, found, timedelta(0))
    return _calculated(sum, list(map(_number, found)))


def min_(*items: Value) -> Value:
    return min(_extreme_of(items))


def max_(*items: Value) -> Value:
    return max(_extreme_of(items))


def any_(items: Value) -> bool:
    return True in _bools(items)


def all_(items: Value) -> bool:
    return False not in _bools(items)


# Kinds


def int_(value: Value) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value):
            raise Wrong(f"no integer: {value!r}")
        return _calculated(int, value)
    if isinstance(value, Decimal):
        return _calculated(int, value)
    return _calculated(int, _number(value))


def float_(value: Value) -> float:
    given = value if isinstance(value, str | Decimal) else _number(value)
    return _calculated(float, given)


def round_(value: Value, digits: Value = None) -> Value:
    number = value if isinstance(value, Decimal) else _number(value)
    if digits is None:
        return _calculated(round, number)
    return _calculated(round, number, _integer(digits))


def abs_(value: Value) -> Value:
    return abs(value if kind_of(value) in ("decimal", "duration") else _number(value))


def div(a: Value, b: Value) -> int:
    """The whole part, rounded down."""
    if _number(b) == 0:
        raise Wrong("division by zero", "zero")
    return _calculated(lambda: int(_number(a) // b))


# Dates


def date(text: Value) -> Value:
    return _read("date", text)


def datetime(text: Value) -> Value:
    return _read("datetime", text)


def time(text: Value) -> Value:
    return _read("time", text)


def duration(text: Value = None, **amounts: Value) -> timedelta:
    if text is not None and not amounts:
        return _read("duration", text)
    if text is not None or not amounts.keys() <= _UNITS:
        raise Wrong("a text, or so much of each unit")
    return _calculated(timedelta, **{unit: _number(one) for unit, one in amounts.items()})


def decimal(value: Value) -> Decimal:
    return Decimal(value) if type(value) is int else _read("decimal", value)


def _read(kind: str, value: Value) -> Value:
    if kind_of(value) == kind:
        return value
    return _calculated(dates.read, kind, _text(value))


def parse(text: Value) -> Value:
    return v.parse_json(_text(text))


def env(name: Value, default: Value = None) -> Value:
    return os.environ.get(_text(name), default)


_TABLE: dict[str, Callable[..., Value]] = {
    "chars": chars,
    "matches": matches,
    "unique": unique,
    "upper": upper,
    "lower": lower,
    "strip": strip,
    "split": split,
    "join": join,
    "replace": replace,
    "contains": contains,
    "starts_with": starts_with,
    "ends_with": ends_with,
    "len": length,
    "range": range_,
    "sorted": sorted_,
    "reversed": reversed_,
    "zip": zip_,
    "enumerate": enumerate_,
    "keys": keys,
    "items": items,
    "get": get,
    "values": values,
    "sum": sum_,
    "min": min_,
    "max": max_,
    "any": any_,
    "all": all_,
    "type": lambda value: kind_of(value),
    "str": lambda value: v.text_of(value),
    "int": int_,
    "float": float_,
    "round": round_,
    "abs": abs_,
    "date": date,
    "datetime": datetime,
    "time": time,
    "duration": duration,
    "decimal": decimal,
    "div": div,
    "json": lambda value: v.json_of(value),
    "parse": parse,
    "env": env,
    "approve": v.approve,
}


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    raise Wrong(f"expected string, got {kind_of(value)}")


def _number(value: Value) -> int | float:
    if is_number(value):
        return value
    raise Wrong(f"expected a number, got {kind_of(value)}")


def _integer(value: Value) -> int:
    if type(value) is int:
        return value
    raise Wrong(f"expected int, got {kind_of(value)}")


def _sequence(value: Value) -> list[Value] | tuple[Value, ...]:
    if is_sequence(value):
        return value
    raise Wrong(f"expected list, got {kind_of(value)}")


def _bools(value: Value) -> list[bool]:
    found = list(_sequence(value))
    for item in found:
        if not isinstance(item, bool):
            raise Wrong(f"expected bool, got {kind_of(item)}")
    return found


def _key(value: Value) -> Value:
    if v.is_key(value):
        return value
    raise Wrong(f"expected a key, got {kind_of(value)}")


def _object(value: Value) -> dict[str, Value]:
    if isinstance(value, dict):
        return value
    raise Wrong(f"expected object, got {kind_of(value)}")


def _extreme_of(items: tuple[Value, ...]) -> list[Value] | tuple[Value, ...]:
    found = _sequence(items[0]) if len(items) == 1 else items
    v.check_ordered(found)
    if not found:
        raise Wrong("no items")
    return found


def _calculated(function: Callable[..., Any], *arguments: Value, **named: Value) -> Value:
    """Numbers are Python's, and so are their limits."""
    try:
        return function(*arguments, **named)
    except (ValueError, OverflowError, DecimalException) as error:
        raise Wrong(str(error)) from None
