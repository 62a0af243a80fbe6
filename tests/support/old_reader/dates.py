"""Dates, times, durations and decimals as models write them, where they can mean one thing only.

    read_loosely("date", "31 January 2026")     "2026-01-31"
    read_loosely("date", "31.01.2026")          the same: there is no month 31
    read_loosely("date", "03/04/2026")          None: the third of April, or the fourth of March
    read_loosely("duration", "2 hours")         "PT2H"
    read_loosely("decimal", "$1,234.50")        "1234.50"

What is given is the text in the standard's form. A year has four digits, and a datetime its offset.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, time

from runtime_support._values.dates import NotReadable, Word, duration_of, read, text_of
from tests.support.old_reader.nodes import Bare, Node
from tests.support.old_reader.tokens import JSON_NUMBER
from tests.support.old_reader.words import (
    LONGEST_ITEM,
    NotANumber,
    Scalar,
    read_as,
    read_digits,
    without_markup,
)

_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTHS = {short: at for at, name in enumerate(_NAMES, 1) for short in (name, name[:3])} | {
    "sept": 9
}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAYS = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+"
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_WRITTEN = re.compile(
    rf"(?:{_DAYS})?(?:(?:the\s+)?{_DAY}(?:\s+of)?[\s-]+{_MONTH},?[\s-]+(?P<year>\d{{4}})"
    rf"|{_MONTH.replace('month', 'month_before')}\s+{_DAY.replace('day', 'day_behind')},?\s+"
    r"(?P<year_behind>\d{4}))",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_MIDNIGHT = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?\Z")
_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d{1,6})?))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?P<before>.*?)\s*(?P<offset>Z|UTC|GMT|[+-]\d{2}:?\d{2})", re.IGNORECASE)
_CLOCK = re.sub(r"\?P<\w+>", "?:", _TIME.pattern)
_PARTS = re.compile(rf"(?P<before>.+?)(?:\s*T\s*|,?\s+(?:at\s+)?)(?P<time>{_CLOCK})", re.IGNORECASE)
_AMOUNTS = re.compile(
    r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]+)\.?(?:\s*,?\s*(?:and\s+)?|\Z)"
)
_UNITS = {
    **dict.fromkeys(("w", "week", "weeks"), "weeks"),
    **dict.fromkeys(("d", "day", "days"), "days"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hours"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "seconds"),
}


def read_loosely(word: Word, text: str) -> str | None:
    """The value that a text can only mean, in the standard's form."""
    if len(text) > 100:
        return None
    text = without_markup(text).strip()
    found = _read(word, text)
    # The end of a sentence.
    return _read(word, text[:-1]) if found is None and text.endswith(".") else found


def _read(word: Word, text: str) -> str | None:
    try:
        return text_of(read(word, text))
    except NotReadable:
        pass
    try:
        found = _READERS[word](text)
        return None if found is None else text_of(read(word, found))
    except (NotReadable, NotANumber, ValueError):
        return None


def take_date(node: Node, word: Word) -> Scalar | None:
    """What a node can only mean, in the standard's form."""
    if not isinstance(node, str) or len(node) > LONGEST_ITEM:
        return None
    if isinstance(node, Bare) and JSON_NUMBER.fullmatch(node):
        return Scalar(str(node)) if word == "decimal" else None
    found = read_loosely(word, node)
    if found is None:
        return None
    cost = 1 if isinstance(node, Bare) else 0
    return Scalar(found, cost=cost) if found == node else Scalar(found, read_as(node, found), 3)


def objection(word: Word, text: str) -> str | None:
    """Why a text is no such value, where there is more to say than that."""
    if word == "date" and (match := _YEAR_LAST.fullmatch(text.strip())) is not None:
        return f"`{match[1]}` and `{match[3]}` may each be the month"
    if word == "date" and (written := _WRITTEN.fullmatch(text.strip())) is not None:
        with suppress(ValueError):
            day = _day_of(written)
            if day is not None and not _is_on(day, written["weekday"]):
                return f"{day} is a {_WEEKDAYS[day.weekday()]}"
    try:
        read(word, text.strip())
    except NotReadable as error:
        return str(error) or None
    return None


def _date(text: str) -> str | None:
    text = _MIDNIGHT.sub("", text)
    if match := _WRITTEN.fullmatch(text):
        day = _day_of(match)
        return day.isoformat() if day is not None and _is_on(day, match["weekday"]) else None
    if match := _YEAR_FIRST.fullmatch(text):
        return _made(match[1], match[3], match[4])
    if match := _YEAR_LAST.fullmatch(text):
        first, second = int(match[1]), int(match[3])
        if first > 12 or first == second:
            return _made(match[4], second, first)
        return _made(match[4], first, second) if second > 12 else None
    return None


def _day_of(match: re.Match[str]) -> date | None:
    month = _MONTHS.get((match["month"] or match["month_before"]).lower())
    day, year = match["day"] or match["day_behind"], match["year"] or match["year_behind"]
    return None if month is None else date(int(year), month, int(day))


def _is_on(day: date, weekday: str | None) -> bool:
    """Whether the weekday that is said with a day, if any, is the one that it is on."""
    return weekday is None or _WEEKDAYS[day.weekday()][:3].lower() == weekday[:3].lower()


def _made(year: str | int, month: str | int, day: str | int) -> str:
    return date(int(year), int(month), int(day)).isoformat()


def _time(text: str) -> str | None:
    match = _TIME.fullmatch(text)
    if match is None or (match["minute"] is None and match["half"] is None):
        return None
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    whole = f"{hour:02}:{match['minute'] or '00'}:{match['second'] or '00'}"
    return time.fromisoformat(whole).isoformat()


def _datetime(text: str) -> str | None:
    found = _OFFSET.fullmatch(text)
    parts = None if found is None else _PARTS.fullmatch(found["before"])
    if found is None or parts is None:
        return None
    day, clock = read_loosely("date", parts["before"]), read_loosely("time", parts["time"])
    if day is None or clock is None:
        return None
    offset = found["offset"].upper()
    return f"{day}T{clock}{'+00:00' if offset in ('Z', 'UTC', 'GMT') else offset}"


def _duration(text: str) -> str | None:
    amounts: dict[str, str] = {}
    end = 0
    while end < len(text):
        match = _AMOUNTS.match(text, end)
        unit = None if match is None else _UNITS.get(match["unit"].lower())
        if match is None or unit is None or unit in amounts:
            return None
        amounts[unit] = match["amount"]
        end = match.end()
    return text_of(duration_of(amounts)) if amounts else None


def _decimal(text: str) -> str | None:
    return None if "/" in text else read_digits(text)  # a ratio need not come out even


_READERS = {
    "date": _date,
    "datetime": _datetime,
    "time": _time,
    "duration": _duration,
    "decimal": _decimal,
}
