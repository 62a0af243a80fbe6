"""The builtins for dates and decimals; `ops` exports them by their names in Saft.

    >>> to_date("2026-01-31"), to_decimal("12.30")
    (datetime.date(2026, 1, 31), Decimal('12.30'))
    >>> to_decimal("12,30")
    Traceback (most recent call last):
    runtime_support.errors.CheckError: decimal(value): expected such as 12.30, got string "12,30"

Texts must be in the format of ISO 8601. `today` and `now` return the time in `SAFT_NOW` if it is
set; in a run that resumes from a journal, they return the same time as before.
"""

from __future__ import annotations

import os
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from runtime_support._language.arguments import as_number, as_text
from runtime_support._values.dates import (
    EXAMPLES,
    Digits,
    NotReadable,
    Word,
    duration_of,
    is_finite,
    is_naive,
    read,
)
from runtime_support._values.kinds import basic_kind, brief, plain
from runtime_support.errors import CheckError, ConfigError


def to_date(text: str) -> date:
    """Reads a date in the form of ISO 8601, such as `2026-01-31`."""
    return _read("date", text)


def to_datetime(text: str) -> datetime:
    """Reads a datetime in the form of ISO 8601, with an offset.

    An example is `2026-01-31T09:30:00+01:00`.
    """
    return _read("datetime", text)


def to_time(text: str) -> time:
    """Reads a time of day in the form of ISO 8601, such as `09:30`."""
    return _read("time", text)


def to_duration(
    text: str | None = None,
    *,
    weeks: float = 0,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
) -> timedelta:
    """Reads a duration in the form of ISO 8601, such as `P1DT2H`, or adds up the given units."""
    if text is not None:
        return _read("duration", text)
    given = {"weeks": weeks, "days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
    amounts = {unit: as_number(f"duration({unit})", one) for unit, one in given.items()}
    try:
        return duration_of({unit: repr(amount) for unit, amount in amounts.items()})
    except (NotReadable, ValueError) as error:
        raise CheckError(f"duration: {error}") from None


def to_decimal(value: str | int) -> Decimal:
    """Converts a text or an integer to a decimal, with all its digits."""
    given = plain(value)
    if isinstance(given, float) and not isinstance(given, Digits):
        hint = f'a float is not exact: write `decimal("{given}")`, or `decimal(str(x))`'
        raise CheckError(f"decimal(value): expected string or int, got {brief(given)}", hint=hint)
    if basic_kind(given) == "int":
        return read("decimal", str(given))
    return _read("decimal", given)


def _read(word: Word, value: Any) -> Any:
    """Parses a text as a value of the kind `word`. A value of this kind is returned unchanged."""
    given = value.text if isinstance(value, Digits) else plain(value)
    path = f"{word}({'value' if word == 'decimal' else 'text'})"
    if basic_kind(given) == word:
        if (word == "datetime" and is_naive(given)) or (word == "decimal" and not is_finite(given)):
            raise CheckError(f"{path}: {brief(given)} has no offset, or is not a number")
        return given
    try:
        return read(word, as_text(path, given))
    except NotReadable as error:
        wanted = f"{path}: expected such as {EXAMPLES[word]}, got {brief(given)}"
        raise CheckError(wanted, path=path, hint=str(error) or None) from None


def today() -> date:
    """Today's date in the local time zone."""
    return _moment("today").date()


def now() -> datetime:
    """The current date and time, with the offset of the local time zone."""
    return _moment("now")


def _moment(asked: str) -> datetime:
    """The current time, or the time in `SAFT_NOW` if it is set, as in tests.

    `asked` is the name of the builtin that was called.
    """
    from runtime_support._core.hooks import record_moment

    told = os.environ.get("SAFT_NOW")
    if told is None:
        return record_moment(asked, datetime.now().astimezone())
    try:
        return read("datetime", told)
    except NotReadable:
        said = f"SAFT_NOW: {told!r} is not a datetime with an offset"
        raise ConfigError(said, hint="write 2026-01-31T09:30:00+01:00") from None
