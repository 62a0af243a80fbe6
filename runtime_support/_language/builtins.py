"""The builtins of Saft as functions that check their arguments; `ops` exports them by Saft's names.

    >>> upper(3)
    Traceback (most recent call last):
    runtime_support.errors.CheckError: upper(text): expected string, got int 3
    >>> join(["a", "b"], ", "), join(", ", ["a", "b"])      # in either order
    ('a, b', 'a, b')
    >>> round_(2.5)                                         # as in Python
    2

If a builtin is offered as a tool, models see its annotations and docstring.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from runtime_support._core.tasks import turns
from runtime_support._core.tasks.turns import in_turn
from runtime_support._language.arguments import (
    as_bool,
    as_integer,
    as_key,
    as_number,
    as_object,
    as_sequence,
    as_text,
    as_text_or_number,
    each_as,
)
from runtime_support._language.files import unwritable
from runtime_support._language.operators import call, is_in
from runtime_support._values.dates import is_decimal, is_finite, is_naive, read
from runtime_support._values.kinds import (
    basic_kind,
    brief,
    expected_error,
    has_length,
    is_dataframe,
    is_number,
    is_object,
    kind,
    plain,
    show,
)
from runtime_support.errors import CheckError, ZeroError

if TYPE_CHECKING:
    from datetime import date, timedelta
    from decimal import Decimal
    from typing import overload

    from polars import DataFrame

    Summed: TypeAlias = Sequence[int | float | Decimal | timedelta] | DataFrame
    Key: TypeAlias = Callable[[Any], Any] | None
    Named = TypeVar("Named", bound=str | date)
    Kind = TypeVar("Kind", bound=date)
else:
    # Models can send neither dataframes nor functions, and their objects have strings as keys.
    Summed = list[int | float]
    Key = None
    Named = str

Item = TypeVar("Item")
Record = TypeVar("Record")

# A longer list of numbers would take more memory than most machines have.
MOST_NUMBERS = 100_000_000
# No float has digits farther from its decimal point than this.
_MOST_DIGITS = 400

_BOOL = frozenset((bool,))
_NUMBERS = frozenset((int, float))
_STRING = frozenset((str,))

# text


def upper(text: str) -> str:
    """The text in upper case."""
    return as_text("upper(text)", text).upper()


def lower(text: str) -> str:
    """The text in lower case."""
    return as_text("lower(text)", text).lower()


def strip(text: str) -> str:
    """The text without blanks at both ends."""
    return as_text("strip(text)", text).strip()


def split(text: str, separator: str | None = None) -> list[str]:
    """The parts of the text between the separators, or its words if no separator is given."""
    text, separator = as_text("split(text)", text), plain(separator)
    if separator is None:
        return text.split()
    if as_text("split(separator)", separator) == "":
        raise CheckError("split(separator): the separator is empty")
    return text.split(separator)


def join(items: Sequence[str], separator: str | Sequence[str] = "") -> str:
    """The strings as one text, with the separator between them."""
    first, second = plain(items), plain(separator)
    if isinstance(first, str) and not isinstance(second, str):
        first, second = second, first  # either order, as only one of the two can be the list
    strings = each_as(as_text, "join", first, _STRING)
    return as_text("join(separator)", second).join(strings)


def replace(text: str, old: str, new: str) -> str:
    """The text with every `old` replaced by `new`."""
    old = as_text("replace(old)", old)
    return as_text("replace(text)", text).replace(old, as_text("replace(new)", new))


def contains(container: Any, item: Any) -> bool:
    """Whether the item is in a list or tuple, a key of an object, or part of a text."""
    return is_in(item, container)


def matches(text: str, pattern: str) -> bool:
    """Whether the regular expression matches the whole text."""
    import re

    given = as_text("matches(text)", text)
    try:
        return re.fullmatch(as_text("matches(pattern)", pattern), given) is not None
    except re.error as error:
        words = f"matches(pattern): not a regular expression: {error}"
        raise CheckError(words, path="matches(pattern)") from None


def chars(text: str) -> list[str]:
    """The characters of the text."""
    return list(as_text("chars(text)", text))


def starts_with(text: str, part: str) -> bool:
    """Whether the text begins with the part."""
    return as_text("starts_with(text)", text).startswith(as_text("starts_with(part)", part))


def ends_with(text: str, part: str) -> bool:
    """Whether the text ends with the part."""
    return as_text("ends_with(text)", text).endswith(as_text("ends_with(part)", part))


# collections


def len_(value: Any) -> int:
    """The number of characters, items, fields or rows."""
    value = plain(value)
    if has_length(value):
        return builtins.len(value)
    if is_dataframe(value):
        return value.height
    raise CheckError(f"len(value): expected string, list, tuple or object, got {brief(value)}")


def range_(start: int, stop: int | None = None, step: int = 1) -> list[int]:
    """The integers from start up to, but not including, stop; from 0 if only stop is given."""
    first, last = (0, start) if stop is None else (start, stop)
    given = {"start": first, "stop": last, "step": step}
    first, last, step = (as_integer(f"range({name})", value) for name, value in given.items())
    if step == 0:
        raise CheckError("range(step): the step is zero")
    numbers = builtins.range(first, last, step)
    if numbers[MOST_NUMBERS:]:
        raise CheckError(f"range: {MOST_NUMBERS:,} numbers at most")
    return list(numbers)


def sorted_(items: list[Any], reverse: bool = False, *, by: Key = None) -> list[Any]:
    """The items in ascending order: all numbers, all strings or all dates.

    With a function, the items are in the order of what the function returns for them.
    """
    reverse = as_bool("sorted(reverse)", reverse)
    if by is None:
        return builtins.sorted(_comparable("sorted(items)", items), reverse=reverse)
    sequence = as_sequence("sorted(items)", items)
    keys = _keys("sorted", sequence, by)
    order = builtins.sorted(builtins.range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return [sequence[position] for position in order]


def unique(items: Sequence[Item]) -> list[Item]:
    """The items without duplicates, in the order in which they first occur."""
    given = as_sequence("unique(items)", items)
    if _STRING.issuperset(map(type, given)):
        return list(dict.fromkeys(given))
    found: list[Item] = []
    for item in given:
        if not is_in(item, found):
            found.append(item)
    return found


def reversed_(items: list[Any]) -> list[Any]:
    """The items from last to first."""
    return list(as_sequence("reversed(items)", items))[::-1]


def zip_(*lists: list[Any]) -> list[tuple[Any, ...]]:
    """The first items as a tuple, then the second items, up to the end of the shortest list."""
    sequences = [as_sequence(f"zip({n + 1})", items) for n, items in builtins.enumerate(lists)]
    return list(builtins.zip(*sequences, strict=False))


def enumerate_(items: list[Any], start: int = 0) -> list[tuple[int, Any]]:
    """Each item with its number."""
    first = as_integer("enumerate(start)", start)
    return list(builtins.enumerate(as_sequence("enumerate(items)", items), first))


def keys(value: Mapping[Named, Any]) -> list[Named]:
    """The names of an object's fields, in order."""
    return list(as_object("keys(value)", value))


def values(value: Mapping[Named, Any]) -> list[Any]:
    """The values of an object's fields, in order."""
    return list(as_object("values(value)", value).values())


def items(object: Mapping[Named, Any]) -> list[tuple[Named, Any]]:
    """The names of an object's fields with their values, in order."""
    return list(as_object("items(object)", object).items())


def get(object: Mapping[Named, Any], key: Named, default: Any = None) -> Any:
    """The value of an object's field, or the default if there is no such field."""
    return as_object("get(object)", object).get(as_key("get(key)", key), default)


def spread(value: Any) -> list[Any] | tuple[Any, ...]:
    """The items of a list or tuple, for `[...value]`."""
    return as_sequence("`...` in a list", value)


if TYPE_CHECKING:

    @overload
    def fields(value: Any) -> dict[str, Any]: ...
    @overload
    def fields(value: Any, kind: type[Kind]) -> dict[Kind, Any]: ...
    @overload
    def key(value: Any) -> str: ...
    @overload
    def key(value: Any, kind: type[Kind]) -> Kind: ...


def fields(value: Any, kind: Any = str) -> dict[Any, Any]:
    """The fields of an object, for `{...value}`.

    Raises CheckError if a key does not have the type `kind`.
    """
    place = "`...` in an object"
    found = as_object(place, value)
    if kind is not str:
        return _validated(found, dict[kind, Any], place)
    for one in found:
        if not isinstance(one, str):
            raise _wrong_key(f"{place} needs strings as keys", one)
    return found


def key(value: Any, kind: Any = str) -> Any:
    """A key of an object, for `{[value]: 1}`.

    Raises CheckError if the key does not have the type `kind`.
    """
    given = plain(value)
    if kind is not str:
        return _validated(given, kind, "a key of this object")
    if isinstance(given, str):
        return given
    raise _wrong_key("a key of an object is a string", given)


def _validated(value: Any, type_: Any, place: str) -> Any:
    from runtime_support._schema.checking import validate
    from runtime_support._schema.reading import schema_of

    return validate(value, schema_of(type_), path=place)


def _wrong_key(words: str, found: Any) -> CheckError:
    is_date = kind(found) in ("date", "datetime")
    hint = f"`x: {{[{kind(found)}]: T}}` says that keys are of this type" if is_date else None
    return CheckError(f"{words}, got {brief(found)}", hint=hint)


def changed(record: Record, changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Record:
    """Returns a copy of a record or an object in which these fields have other values.

    The copy of a record has the same class, and the class checks it: a dataclass runs
    `__post_init__`, and a pydantic model validates the whole copy. Raises MissingError for a field
    that the record does not have.
    """
    value: Any = plain(record)
    news = {**(changes or {}), **fields}
    if is_object(value):
        made: Any = {**value, **news}
        if len(set(map(type, made))) > 1:
            raise CheckError("the keys of one object are all strings, all dates or all datetimes")
        return made
    from runtime_support._schema.copies import change_record

    return change_record(value, {name: plain(one) for name, one in news.items()})


def sum_(items: Summed, column: str | None = None) -> Any:
    """The sum of numbers or durations, or of a column of a dataframe. Without any, it is 0."""
    table: Any = plain(items)
    if is_dataframe(table):
        return _tables().sum_of_column(table, column)
    if column is not None:
        raise expected_error("sum(table)", "dataframe with a column", items)
    given = as_sequence("sum(items)", items)
    if not _NUMBERS.issuperset(map(type, given)):
        word = _common_kind(list(map(plain, given)))
        if word in ("decimal", "duration"):
            total = builtins.sum(given[1:], given[0])
            return total + read("decimal", "0") if word == "decimal" else total
    numbers = each_as(as_number, "sum", items, _NUMBERS)
    try:
        return builtins.sum(numbers)
    except OverflowError:
        raise CheckError("sum(items): the number is too large for a float") from None


def min_(*items: Any, by: Key = None) -> Any:
    """The smallest item of a list, or the smallest argument.

    All are numbers, all strings or all dates. With a function, the first item for which the
    function returns the smallest number or string.
    """
    return _extreme("min", items, builtins.min, by)


def max_(*items: Any, by: Key = None) -> Any:
    """The largest item of a list, or the largest argument.

    All are numbers, all strings or all dates. With a function, the first item for which the
    function returns the largest number or string.
    """
    return _extreme("max", items, builtins.max, by)


def any_(items: list[bool]) -> bool:
    """Whether at least one of the bools is true. An empty list gives false."""
    return builtins.any(each_as(as_bool, "any", items, _BOOL))


def all_(items: list[bool]) -> bool:
    """Whether all of the bools are true. An empty list gives true."""
    return builtins.all(each_as(as_bool, "all", items, _BOOL))


# kinds


def type_(value: Any) -> str:
    """The name of a value's type: int, float, bool, string, list, tuple, object, ..."""
    return kind(value)


def str_(value: Any) -> str:
    """Converts a value to the text that `print` writes."""
    return show(value)


def int_(value: str | int | float) -> int:
    """Converts a text or a number to an integer. A fraction is cut off."""
    given = plain(value)
    if not is_decimal(given):
        given = as_text_or_number("int(value)", given)
    elif is_finite(given) and given.adjusted() > _MOST_DIGITS:
        raise CheckError(f"int(value): no integer for {brief(given)}")
    try:
        return builtins.int(given)
    except ValueError:  # not an integer, thousands of digits, or a NaN
        raise CheckError(f"int(value): expected an integer, got {brief(given)}") from None
    except OverflowError:
        raise CheckError(f"int(value): no integer for {brief(given)}") from None


def float_(value: str | int | float) -> float:
    """Converts a text or a number to a float."""
    if is_decimal(plain(value)):
        return builtins.float(plain(value))
    given = as_text_or_number("float(value)", value)
    try:
        return builtins.float(given)
    except ValueError:
        raise CheckError(f"float(value): expected a number, got {brief(given)}") from None
    except OverflowError:
        raise CheckError(f"float(value): {brief(given)} is too large") from None


def round_(value: int | float, digits: int | None = None) -> int | float:
    """The nearest integer, or the nearest number with `digits` decimal digits."""
    given = plain(value)
    is_exact = basic_kind(given) == "decimal"
    number = given if is_exact else as_number("round(value)", given)
    places = None if digits is None else as_integer("round(digits)", digits)
    if places is not None and not is_exact:
        # Python would compute 10 to the power of `places` first.
        most = max(_MOST_DIGITS, number.bit_length() if isinstance(number, builtins.int) else 0)
        places = max(-most, min(places, most))
    try:
        return builtins.round(number, places)
    except (ArithmeticError, ValueError):
        what = "integer" if places is None else "such number"
        raise CheckError(f"round(value): no {what} for {brief(number)}") from None


def abs_(value: int | float) -> int | float:
    """The number or duration without its sign."""
    given = plain(value)
    if basic_kind(given) in ("decimal", "duration"):
        return builtins.abs(given)
    return builtins.abs(as_number("abs(value)", value))


def div(a: int | float, b: int | float) -> int:
    """The whole part of `a / b`, rounded down."""
    left, right = as_number("div(a)", a), as_number("div(b)", b)
    try:
        return builtins.int(left // right)
    except ZeroDivisionError:
        raise ZeroError(f"`div` by zero: div({left}, {right})") from None
    except (ValueError, OverflowError):
        raise CheckError(f"div: no integer for {brief(left)} by {brief(right)}") from None


# outside


def _tables() -> Any:
    from runtime_support._core.hooks import load_part

    return load_part("tables")


def _printed(*values: Any) -> None:
    """Prints the values with blanks between them."""


@wraps(_printed, assigned=())  # hides `end` and `flush` from models
def print_(*values: Any, end: str = "\n", flush: bool = False) -> None:
    """Prints the values with blanks between them."""
    shown = " ".join(map(show, values))
    in_turn(lambda: _print("print", shown, end, flush=flush))


def write(value: Any) -> None:
    """Prints the value at once, without ending the line."""
    shown = show(value)
    in_turn(lambda: _print("write", shown, "", flush=True))


def _print(name: str, shown: str, end: str, *, flush: bool) -> None:
    try:
        turns.print_values(shown, end=end, flush=flush)
    except UnicodeEncodeError as error:
        raise CheckError(f"{name}: {unwritable(error)}") from None


def env(name: str, default: str | None = None) -> str | None:
    """The value of an environment variable, or the default if the variable is not set."""
    try:
        return os.environ.get(as_text("env(name)", name), plain(default))
    except UnicodeEncodeError:
        raise CheckError(f"env(name): no variable is named {brief(plain(name))}") from None


def _comparable(path: str, value: Any) -> list[Any]:
    sequence = as_sequence(path, value)
    types = set(map(type, sequence))
    if types <= _NUMBERS or types <= _STRING:
        return list(sequence)
    items = [plain(item) for item in sequence]
    if all(map(is_number, items)) or all(isinstance(item, str) for item in items):
        return items
    if _common_kind(items) is not None:
        return items
    kinds = " and ".join(dict.fromkeys(map(kind, items)))
    raise CheckError(f"{path}: expected all numbers or all strings, got {kinds}", path=path)


def _common_kind(items: Sequence[Any]) -> str | None:
    """The kind that items such as dates or decimals share, if they can be ordered.

    The kind is "date", "datetime", "time" or "duration" if all items are of this kind, and
    "decimal" for decimals with or without ints. It is None for all other items, for datetimes
    without an offset, and for times of which only some have an offset.
    """
    words = set(map(basic_kind, items))
    if "decimal" in words and words <= {"decimal", "int"}:
        return "decimal"
    (word,) = words if builtins.len(words) == 1 else ("",)
    if word == "datetime" and builtins.any(map(is_naive, items)):
        return None
    if word == "time" and builtins.len({is_naive(item) for item in items}) > 1:
        return None
    return word if word in ("date", "datetime", "time", "duration") else None


def _keys(name: str, items: Sequence[Any], by: Key) -> list[Any]:
    """Calls `by` with each item, and returns the results.

    Raises CheckError if the results cannot be ordered.
    """
    path = f"{name}(by)"
    if not callable(plain(by)):
        raise expected_error(path, "function", by)
    keys = [call(by, item) for item in items]
    for position, key in builtins.enumerate(keys):
        if not (is_number(key) or isinstance(key, str) or _common_kind([key])):
            found = f"got {brief(key)} for {brief(items[position])}"
            raise CheckError(f"{path}: expected a number, a string or a date, {found}", path=path)
    return _comparable(path, keys)


def _extreme(name: str, arguments: tuple[Any, ...], choose: Callable[..., Any], by: Key) -> Any:
    if by is None and arguments and is_dataframe(plain(arguments[0])) and len(arguments) <= 2:
        return _tables().extreme_of_column(name, *map(plain, arguments))
    path = f"{name}(items)"
    given = arguments[0] if len(arguments) == 1 else arguments
    items = _comparable(path, given) if by is None else as_sequence(path, given)
    if not items:
        raise CheckError(f"{path}: there are no items")
    if by is None:
        return choose(items)
    keys = _keys(name, items, by)
    return items[choose(builtins.range(len(keys)), key=keys.__getitem__)]
