"""Hints for type errors: tables of conditions and hints, of which the first match applies.

The typing rules report the errors; the tables here suggest corrections.
"""

from collections.abc import Callable
from dataclasses import dataclass

from saftc.check.facts import Facts
from saftc.diagnostics.model import Hint
from saftc.diagnostics.near import is_slip, near
from saftc.types.types import (
    BOOL,
    DATE,
    DATES,
    DATETIME,
    DECIMAL,
    FLOAT,
    INT,
    STRING,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Type,
    UnionType,
    item_type,
    keys_of,
    literal_type,
    members,
    show,
)


@dataclass(frozen=True, slots=True)
class _OfOperands:
    """A hint for operands for which `applies` is true; no `operators` means all of them."""

    operators: tuple[str, ...]
    applies: Callable[[Type, Type], bool]
    hint: str


def _has(*types: Type) -> Callable[[Type, Type], bool]:
    return lambda left, right: set(types) <= {left, right}


def _are_in(*types: Type) -> Callable[[Type, Type], bool]:
    return lambda left, right: {left, right} <= set(types)


def _is_text_and_date(left: Type, right: Type) -> bool:
    return STRING in (left, right) and not {left, right}.isdisjoint(DATES.values())


def _key_of(type_: Type) -> str | None:
    return keys_of(type_).kind if isinstance(type_, ObjectType | MapType) else None


_IN, _ORDER = ("in", "not in"), ("<", "<=", ">", ">=")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_READS_TEXT, _MAKES_TEXT = "`{date}(x)` reads a string", "`str(x)` converts any value to a string"
_NOT_EXACT = 'a float is not exact: write `decimal("1.50")`'
# `{date}` is the type of the operand that is a date or the like, `{key}` that of an object's keys.
_OPERANDS: tuple[_OfOperands, ...] = (
    _OfOperands((), _has(DECIMAL, FLOAT), f"{_NOT_EXACT}, or `float(x)` of the decimal"),
    _OfOperands(
        ("+", "-"),
        lambda left, right: bool({left, right} & {DATE, DATETIME} and {left, right} & {INT, FLOAT}),
        "to move a date, add a duration: `duration(days: 3)`",
    ),
    _OfOperands((), _has(DATE, DATETIME), "`x.date` is the date of a datetime"),
    _OfOperands(("+",), _is_text_and_date, "`str(x)` converts it to a string"),
    _OfOperands((*_ARITHMETIC, *_ORDER), _is_text_and_date, _READS_TEXT),
    _OfOperands(
        ("+",),
        lambda left, right: isinstance(left, ListType) or isinstance(right, ListType),
        "`+` joins two lists: `xs + [x]`",
    ),
    _OfOperands(("+",), _has(STRING), _MAKES_TEXT),
    _OfOperands(("%",), lambda left, _: left == STRING, 'write `f"total: {{n}}"`'),
    _OfOperands(("%",), _are_in(INT, FLOAT), "`%` takes ints only"),
    _OfOperands(
        _ORDER,
        _has(STRING),
        "compare two numbers or two strings; `int(x)` reads a number from a string",
    ),
    _OfOperands(_IN, lambda _, right: right == STRING, _MAKES_TEXT),
    _OfOperands(("*",), _has(STRING), "`*` takes numbers only"),
    _OfOperands((*_ARITHMETIC, *_ORDER), _has(BOOL), "a bool is not a number"),
    _OfOperands(
        _IN,
        lambda left, right: _key_of(right) not in (None, "string") and left == STRING,
        "`{key}(x)` reads a string",
    ),
    _OfOperands(
        _IN, lambda _, right: _key_of(right) == "string", "the keys of an object are strings"
    ),
    _OfOperands(
        _IN,
        lambda _, right: _key_of(right) is not None,
        "the keys of an object are of type {key}",
    ),
)


def operand_hint(operator: str, left: Type, right: Type) -> str | None:
    """The hint for an invalid operator on operands of these types, or None."""
    date = next((word for word, one in DATES.items() if one in (left, right)), "")
    meant = (one for one in _OPERANDS if not one.operators or operator in one.operators)
    hints = (one.hint for one in meant if one.applies(left, right))
    return next(hints, "").format(date=date, key=_key_of(right)) or None


@dataclass(frozen=True, slots=True)
class _OfPlace:
    """A hint for a value of one of the types `given` in a place for one of `wanted`."""

    given: tuple[Type, ...]
    wanted: tuple[Type, ...]
    hint: str


# `{wanted}` is the type of the place.
_PLACES = (
    _OfPlace((STRING,), tuple(DATES.values()), "`{wanted}(x)` reads a string"),
    _OfPlace((FLOAT,), (DECIMAL,), _NOT_EXACT),
    _OfPlace((STRING,), (INT, FLOAT), "`{wanted}(x)` reads a number from a string"),
    _OfPlace((FLOAT,), (INT,), "`round(x)` or `int(x)` converts it to an int"),
    _OfPlace((INT, FLOAT, BOOL), (STRING,), _MAKES_TEXT),
)
_DRAFT = "a draft may lack fields: keep the stream, `whole: T = stream $ ... $`, and use `whole`"


def mismatch_hint(facts: Facts, given: Type, wanted: Type) -> str | Hint | None:
    """The hint for a value of type `given` in a place of type `wanted`, or None."""
    records = [member for member in members(wanted) if isinstance(member, RecordType)]
    if isinstance(given, ObjectType) and records:
        name = _called_with(facts, given, records)
        is_draft = any(facts.draft_of(one) == given for one in records)
        return _DRAFT if is_draft else name and f"call the record: `{name}(...)`"
    inner = item_type(given) if isinstance(given, ListType) else given
    asked = item_type(wanted) if isinstance(wanted, ListType) else wanted
    if isinstance(inner, RecordType) and isinstance(asked, ObjectType | MapType):
        return f"a record is not an object; its type is `{show(given)}`"
    if isinstance(given, LiteralType) and isinstance(wanted, UnionType):
        return _intended_literal(given, wanted)
    hints = (one.hint for one in _PLACES if given in one.given and wanted in one.wanted)
    return next(hints, "").format(wanted=show(wanted)) or None


def _called_with(facts: Facts, given: ObjectType, records: list[RecordType]) -> str | None:
    """The script's name for the record whose fields are most like those of an object."""
    names = {field.name for field in given.fields}
    closest = min(records, key=lambda one: len(names ^ set(facts.fields_of(one))))
    return None if closest.definition is None else facts.name_of_record(closest.definition)


def _intended_literal(given: LiteralType, wanted: UnionType) -> Hint | None:
    """The hint with the accepted string of which `given` is a likely misspelling, or None."""
    known = [str(one.value) for one in wanted.members if isinstance(one, LiteralType)]
    meant = near(str(given.value), known)
    if meant is None or not isinstance(given.value, str):
        return None
    is_guess = not is_slip(given.value, meant, known)
    return Hint(f'did you mean "{meant}"?', instead=show(literal_type(meant)), is_guess=is_guess)
