"""Dates, datetimes, times, durations and decimals in the reference interpreter.

They are values of Python's own classes. What they are called, how they are read and written, and
what can be calculated with them is said here once more, from the language's reference.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

KINDS: dict[type, str] = {
    date: "date",
    datetime: "datetime",
    time: "time",
    timedelta: "duration",
    Decimal: "decimal",
}
# In Python a datetime is a date: what is asked for is the class itself.
_POINTS = (date, datetime)

_MEMBERS: dict[type, dict[str, Callable[[Any], Any]]] = {
    date: {
        "year": lambda day: day.year,
        "month": lambda day: day.month,
        "day": lambda day: day.day,
        "weekday": lambda day: day.weekday(),
    },
    time: {
        "hour": lambda clock: clock.hour,
        "minute": lambda clock: clock.minute,
        "second": lambda clock: clock.second,
        "microsecond": lambda clock: clock.microsecond,
    },
    timedelta: {
        "days": lambda length: length.days,
        "seconds": lambda length: length.seconds,
        "total_seconds": lambda length: length.total_seconds(),
    },
    Decimal: {},
}
_MEMBERS[datetime] = {
    **_MEMBERS[date],
    **_MEMBERS[time],
    "date": lambda moment: moment.date(),
    "time": lambda moment: moment.time(),
}

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DURATION = re.compile(
    r"(-?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?", re.ASCII
)


class Digits(float):
    """A number of JSON with a fraction: a decimal is made of its `text`."""

    text: str = ""

    @classmethod
    def of(cls, text: str) -> "Digits":
        """The number, which remembers how it was written."""
        number = cls(text)
        number.text = text
        return number


def is_date(value: Any) -> bool:
    """Whether it is of one of the five kinds."""
    return type(value) in KINDS


def members_of(value: Any) -> dict[str, Callable[[Any], Any]]:
    """What gives the members of such a value, by name."""
    return _MEMBERS[type(value)]


def read(kind: str, text: str) -> Any:
    """The value that a text says in the form of ISO 8601; ValueError where it says none."""
    match kind:
        case "date":
            return date.fromisoformat(text)
        case "datetime":
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                raise ValueError("no offset")
            return moment
        case "time":
            return time.fromisoformat(text)
        case "decimal":
            if not _DECIMAL.fullmatch(text):
                raise ValueError("not a number")
            return Decimal(text)
        case _:
            return _read_duration(text)


def _read_duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]) or text.endswith("T"):
        raise ValueError("not a duration")
    weeks, days, hours, minutes, seconds = (Fraction(one or 0) for one in found.groups()[1:])
    whole = ((7 * weeks + days) * 24 + hours) * 60 + minutes
    length = timedelta(microseconds=int((whole * 60 + seconds) * 1_000_000))
    return -length if found[1] else length


def written(value: Any) -> str:
    """The text of such a value."""
    if isinstance(value, Decimal):
        return str(value)
    if not isinstance(value, timedelta):
        return str(value.isoformat())
    if value < timedelta(0):
        return "-" + written(-value)
    if not value:
        return "PT0S"
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f"{value.microseconds / 1_000_000:.6f}".rstrip("0").lstrip("0").rstrip(".")
    parts = (f"{hours}H" if hours else "", f"{minutes}M" if minutes else "")
    last = f"{seconds}{fraction}S" if seconds or value.microseconds else ""
    rest = "".join((*parts, last))
    return "P" + (f"{value.days}D" if value.days else "") + (f"T{rest}" if rest else "")


def are_ordered(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether `<` takes them: decimals and ints, or all of one of the other kinds."""
    found = {type(value) for value in values}
    if Decimal in found:
        return found <= {Decimal, int}
    if found == {time}:
        return len({value.tzinfo is None for value in values}) == 1
    return len(found) == 1 and found <= {date, datetime, timedelta}


def takes(operator: str, left: Any, right: Any) -> bool:
    """Whether an operator of arithmetic takes the two, of which one is such a value."""
    one, other = type(left), type(right)
    if Decimal in (one, other):
        return operator != "%" and {one, other} <= {Decimal, int}
    match operator:
        case "+":
            is_first = one in (*_POINTS, timedelta) and other is timedelta
            return is_first or (one is timedelta and other in _POINTS)
        case "-":
            return other in (one, timedelta) and one in (*_POINTS, timedelta)
        case "*":
            return {one, other} in ({timedelta, int}, {timedelta, float})
        case "/":
            return one is timedelta and other in (timedelta, int, float)
        case _:
            return False
