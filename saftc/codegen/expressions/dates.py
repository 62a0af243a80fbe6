"""Emits date, duration and decimal literals as calls of Python's classes.

    date("2026-01-31")      dt.date(2026, 1, 31)
    duration(days: 3)       dt.timedelta(days=3)
    decimal("12.30")        Decimal("12.30")
    decimal(text)           to_decimal(text)

Literals are parsed here; other texts are parsed at run time.
"""

import re
from datetime import date, time

from saftc.codegen import python as py
from saftc.codegen.annotations import class_of_date
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.syntax import nodes as n
from saftc.types.builtins import Overload
from saftc.types.dates import is_read
from saftc.types.types import DATE, DATES, DATETIME, DECIMAL, DURATION, TIME, Scalar, Type

# A duration in whole numbers of at most five digits.
_WHOLE = re.compile(
    r"P(?:(?P<weeks>\d{1,5})W)?(?:(?P<days>\d{1,5})D)?"
    r"(?:T(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,5})M)?(?:(?P<seconds>\d{1,5})S)?)?"
)


def date_call(context: Context, node: n.Call, way: Overload) -> Expression | None:
    """Emits a call of `date`, `duration` or the like as a call of Python's class.

    Returns None if the text must be parsed at run time.
    """
    made = way.gives
    if not isinstance(made, Scalar) or made not in DATES.values() or not way.parameters:
        return None
    values = [argument.value for argument in node.arguments]
    if made == DURATION and way.is_named:
        named = [(one.name.text, context.emit(one.value)) for one in node.arguments if one.name]
        return py.call(class_of_date(context, made), [], named)
    match made, values:
        case _, [n.Literal(value=str() as text)] if is_read(made, text):
            return _written(context, made, text)
        case _, [value] if made == DECIMAL and context.choices.values.are("int", value):
            return py.call(class_of_date(context, made), [context.emit(value)])
        case _:
            return None


def _written(context: Context, made: Scalar, text: str) -> Expression | None:
    class_ = class_of_date(context, made)
    match made:
        case _ if made == DATE:
            day = date.fromisoformat(text)
            return py.call(class_, [py.constant(one) for one in (day.year, day.month, day.day)])
        case _ if made == TIME:
            clock = time.fromisoformat(text)
            if clock.tzinfo is not None or clock.microsecond:
                return py.call(py.attribute(class_, "fromisoformat"), [py.constant(text)])
            parts = (clock.hour, clock.minute, *([clock.second] if clock.second else []))
            return py.call(class_, [py.constant(one) for one in parts])
        case _ if made == DATETIME:
            return py.call(py.attribute(class_, "fromisoformat"), [py.constant(text)])
        case _ if made == DECIMAL:
            return py.call(class_, [py.constant(text)])
        case _:
            plain = _WHOLE.fullmatch(text)
            given = {} if plain is None else plain.groupdict()
            named = [(unit, py.constant(int(one))) for unit, one in given.items() if one]
            return py.call(class_, [], named) if named else None


def nothing_of(context: Context, type_: Type) -> Expression:
    """The start value of a sum: `Decimal(0)` for decimals, `dt.timedelta()` for durations."""
    assert isinstance(type_, Scalar)
    start = [py.constant(0)] if type_ == DECIMAL else []
    return py.call(class_of_date(context, type_), start)
