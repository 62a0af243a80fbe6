"""The members of dates, datetimes, times, durations and decimals, and the methods of their classes.

Each line has an expression of a script and its form in Python:

    issued.year         issued.year
    issued.weekday      issued.weekday(), 0 for a Monday
    issued.isoformat()  issued.isoformat(), as for all methods of Python
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

from saftc.types.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DECIMAL,
    DURATION,
    FLOAT,
    INT,
    STRING,
    TIME,
    TupleType,
    Type,
)


@dataclass(frozen=True, slots=True)
class DateMember:
    """A member of a date, time, duration or decimal.

    `is_called`: in Python, the member is a method.
    """

    type: Type
    is_called: bool = False


def _numbers(names: str) -> dict[str, DateMember]:
    return {name: DateMember(INT) for name in names.split()}


MEMBERS_OF_DATES: Mapping[Type, Mapping[str, DateMember]] = {
    DATE: {**_numbers("year month day"), "weekday": DateMember(INT, is_called=True)},
    DATETIME: {
        **_numbers("year month day hour minute second microsecond"),
        "weekday": DateMember(INT, is_called=True),
        "date": DateMember(DATE, is_called=True),
        "time": DateMember(TIME, is_called=True),
    },
    TIME: _numbers("hour minute second microsecond"),
    DURATION: {
        **_numbers("days seconds"),
        "total_seconds": DateMember(FLOAT, is_called=True),
    },
    DECIMAL: {},
}

_TEXTS = {"isoformat": STRING, "strftime": STRING, "__format__": STRING}
_OF_DAYS: dict[str, Type] = {
    **_TEXTS,
    **dict.fromkeys(("weekday", "isoweekday", "toordinal"), INT),
    **dict.fromkeys(("isocalendar", "timetuple"), ANY),
    "ctime": STRING,
}
# The result types of Python's methods, as far as scripts need them.
METHODS_OF_DATES: Mapping[Type, Mapping[str, Type]] = {
    DATE: {**_OF_DAYS, "replace": DATE},
    DATETIME: {
        **_OF_DAYS,
        # `astimezone()` without an argument also returns a datetime with an offset.
        **dict.fromkeys(("astimezone",), DATETIME),
        **dict.fromkeys(("replace", "tzname", "timetz", "utctimetuple"), ANY),
        **{"timestamp": FLOAT, "date": DATE, "time": TIME, "utcoffset": DURATION},
    },
    TIME: {**_TEXTS, **dict.fromkeys(("replace", "utcoffset", "tzname"), ANY)},
    DURATION: {"total_seconds": FLOAT},
    DECIMAL: {
        **dict.fromkeys(("quantize", "normalize", "copy_abs", "sqrt"), DECIMAL),
        "to_integral_value": DECIMAL,
        **dict.fromkeys(("is_zero", "is_signed", "is_finite", "is_nan"), BOOL),
        **{"adjusted": INT, "as_integer_ratio": TupleType((INT, INT)), "as_tuple": ANY},
    },
}

# Examples of strings that the conversions accept.
EXAMPLES_OF_DATES = {
    "date": "2026-01-31",
    "datetime": "2026-01-31T09:30:00+01:00",
    "time": "09:30",
    "duration": "P1DT2H30M",
    "decimal": "12.30",
}

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_DURATION = re.compile(r"[+-]?P(?=.)(?:[0-9.,]+W)?(?:[0-9.,]+D)?(?:T(?=.)(?:[0-9.,]+[HMS]){1,3})?")


def is_read(type_: Type, text: str) -> bool:
    """Whether a string can be read as a value of `type_`: in ISO 8601, or as a decimal number."""
    try:
        match type_:
            case _ if type_ == DATE:
                return bool(date.fromisoformat(text)) and text.isascii()
            case _ if type_ == TIME:
                time.fromisoformat(text)
                return text.isascii()
            case _ if type_ == DATETIME:
                return datetime.fromisoformat(text).tzinfo is not None and text.isascii()
            case _ if type_ == DURATION:
                return _DURATION.fullmatch(text) is not None
            case _:
                return _DECIMAL.fullmatch(text) is not None
    except ValueError:
        return False
