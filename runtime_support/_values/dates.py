"""Dates, datetimes, times, durations and decimals: their names, their texts, and parsing.

    >>> read("date", "2026-01-31")
    datetime.date(2026, 1, 31)
    >>> read("duration", "P1DT2H").total_seconds()
    93600.0
    >>> text_of(read("decimal", "12.30"))
    '12.30'

The values are instances of the classes in `datetime` and `decimal`. Their texts follow ISO 8601,
and decimals keep their digits. A datetime has an offset, a duration has no months or years, and a
decimal is finite. `datetime` and `decimal` are imported only when a text is parsed. A `Word` is the
name of such a type in Saft: `date`, `duration`.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, get_args

if TYPE_CHECKING:
    from datetime import timedelta
    from decimal import Decimal

    from typing_extensions import TypeIs

Word: TypeAlias = Literal["date", "datetime", "time", "duration", "decimal"]
WORDS: tuple[Word, ...] = get_args(Word)

_CLASSES: dict[tuple[str, str], Word] = {
    ("datetime", "date"): "date",
    ("datetime", "datetime"): "datetime",
    ("datetime", "time"): "time",
    ("datetime", "timedelta"): "duration",
    ("decimal", "Decimal"): "decimal",
}
# Example texts for messages and for models.
EXAMPLES: dict[Word, str] = {
    "date": "2026-01-31",
    "datetime": "2026-01-31T09:30:00+01:00",
    "time": "09:30:00",
    "duration": "P1DT2H30M",
    "decimal": "12.30",
}
# By type: the members of a value, and whether a member is a method in Python, to be called.
MEMBERS: dict[str, dict[str, bool]] = {
    "date": {"year": False, "month": False, "day": False, "weekday": True},
    "datetime": {
        **dict.fromkeys(("year", "month", "day", "hour", "minute", "second"), False),
        **dict.fromkeys(("microsecond",), False),
        **dict.fromkeys(("weekday", "date", "time"), True),
    },
    "time": dict.fromkeys(("hour", "minute", "second", "microsecond"), False),
    "duration": {"days": False, "seconds": False, "total_seconds": True},
    "decimal": {},
}

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>[0-9.,]+)W)?(?:(?P<days>[0-9.,]+)D)?"
    r"(?:T(?:(?P<hours>[0-9.,]+)H)?(?:(?P<minutes>[0-9.,]+)M)?(?:(?P<seconds>[0-9.,]+)S)?)?"
)
_AMOUNT = re.compile(r"[0-9]{1,15}(?:[.,][0-9]{1,9})?")
_OF_CALENDAR = re.compile(r"[+-]?P[0-9.,]*[YM0-9.,]*[YM]")
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_TOO_FINE = re.compile(r"[.,][0-9]{6}[0-9]*[1-9]")
# Longer texts are refused.
_LONGEST = 1_000


class NotReadable(ValueError):
    """Raised for a text that is no date, datetime, time, duration or decimal.

    The message is the reason, or is empty.
    """


class Digits(float):
    """A JSON number with a fraction or an exponent. Keeps its `text`, for use as a decimal."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Digits:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (self.text,)


def is_word(kind: str) -> TypeIs[Word]:
    """True if the kind is one of `WORDS`: the names of date types and of `decimal`."""
    return kind in WORDS


def word_of(value: object) -> Word | None:
    """The name in `WORDS` of the value's type or of a base class. None for any other value."""
    return word_of_class(value.__class__)


@lru_cache(maxsize=1_000)
def word_of_class(class_: type[Any]) -> Word | None:
    """The name in `WORDS` of the class or of a base class. None for any other class."""
    names = ((one.__module__, one.__qualname__) for one in class_.__mro__)
    return next((_CLASSES[name] for name in names if name in _CLASSES), None)


def is_decimal(value: object) -> TypeGuard[Decimal]:
    """True if the value is a Decimal. Never imports `decimal`."""
    class_ = getattr(sys.modules.get("decimal"), "Decimal", None)
    return class_ is not None and isinstance(value, class_)


def is_naive(value: Any) -> bool:
    """True if a datetime has no offset, and therefore does not define a moment."""
    return value.utcoffset() is None


def class_for(word: Word) -> type[Any]:
    """Returns the Python class of the type with this name: `timedelta` for `duration`."""
    if word == "decimal":
        import decimal

        return decimal.Decimal
    import datetime

    name = "timedelta" if word == "duration" else word
    class_: type[Any] = getattr(datetime, name)
    return class_


# Texts


def text_of(value: Any) -> str:
    """Returns the ISO 8601 text of the value, or the digits of a decimal."""
    match word_of(value):
        case "decimal":
            return str(value)
        case "duration":
            return _duration_text(value)
        case _:
            text: str = value.isoformat()
            return text


def _duration_text(value: timedelta) -> str:
    """Returns the ISO 8601 text of a duration: `P1DT2H30M`, or `-P1D` if it is negative."""
    if value.days < 0:
        return f"-{_duration_text(-value)}"
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    date = f"{value.days}D" if value.days else ""
    last = f"{seconds}{fraction}" if seconds or fraction else ""
    parts = ((hours, "H"), (minutes, "M"), (last, "S"))
    time = "".join(f"{amount}{unit}" for amount, unit in parts if amount)
    if not date and not time:
        return "PT0S"
    return f"P{date}T{time}" if time else f"P{date}"


# Reading


def read(word: Word, text: str) -> Any:
    """Parses the text of a value of the type `word`. Raises NotReadable for any other text."""
    if len(text) > _LONGEST or not text.isascii():
        raise NotReadable
    if word == "decimal":
        return _read_decimal(text)
    if word == "duration":
        return _read_duration(text)
    class_ = class_for(word)
    if "W" in text:
        raise NotReadable("a week is not a day")
    if word != "date" and _TOO_FINE.search(text):
        raise NotReadable("parts of a second are counted in millionths")
    try:
        value = class_.fromisoformat(text)
    except ValueError:
        raise NotReadable from None
    if word == "datetime" and is_naive(value):
        raise NotReadable("a datetime has an offset, such as `Z` or `+01:00`")
    return value


def is_finite(value: Any) -> bool:
    """True if a decimal is neither NaN nor infinite."""
    return bool(value.is_finite())


def _read_decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise NotReadable
    from decimal import Decimal

    return Decimal(text)


def _read_duration(text: str) -> timedelta:
    if _OF_CALENDAR.match(text):
        raise NotReadable("a duration has no months or years, which are not always as long")
    match = _DURATION.fullmatch(text)
    given = {} if match is None else {unit: match[unit] for unit in _SECONDS if match[unit]}
    *_, last = ("", *given)
    if match is None or not given or text.endswith("T"):
        raise NotReadable
    for unit, amount in given.items():
        is_plain = amount.isdecimal() and len(amount) <= 15
        if not is_plain and (unit != last or not _AMOUNT.fullmatch(amount)):
            raise NotReadable
    amounts = {unit: amount.replace(",", ".") for unit, amount in given.items()}
    return duration_of(amounts, is_negative=match["sign"] == "-")


def duration_of(amounts: dict[str, str], *, is_negative: bool = False) -> timedelta:
    """Returns the exact sum of amounts. `amounts` maps units, from weeks to seconds, to numbers.

    Raises NotReadable if the sum has parts of a microsecond or is too large.
    """
    from datetime import timedelta
    from fractions import Fraction

    micros = sum(Fraction(amount) * _SECONDS[unit] for unit, amount in amounts.items()) * 1_000_000
    if micros.denominator != 1:
        raise NotReadable("parts of a second are counted in millionths")
    try:
        value = timedelta(microseconds=int(micros))
        return -value if is_negative else value
    except OverflowError:
        raise NotReadable("the duration is too long") from None
