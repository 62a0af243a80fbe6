"""Assignability and equality of types.

`fit(given, wanted)` says whether a value of the type `given` can be assigned to a variable of the
type `wanted`: always, after a conversion (to float or decimal), after a check at run time, or
never.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import assert_never

from saftc.types.types import (
    ANY,
    DECIMAL,
    FLOAT,
    INT,
    NEVER,
    NIL,
    STRING,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    SelfType,
    TupleType,
    Type,
    UnionType,
    is_open,
    members,
    parts,
    remembered,
    unrolled,
    widened,
    within,
)


class Assignability(IntEnum):
    """Whether a value can be assigned to a type, and what must be done before.

    CONVERT: an int becomes a float or a decimal. When a plan (a program that a model wrote) is
    compiled, CONVERT also means other conversions, by a call of a Python class.
    """

    EXACT = 0
    CONVERT = 1
    CHECK = 2
    NEVER = 3


@remembered
def fit(given: Type, wanted: Type) -> Assignability:
    """How a value of type `given` can be assigned to a variable of type `wanted`."""
    if wanted == ANY or given in (wanted, NEVER):
        return Assignability.EXACT
    if given == ANY or (isinstance(given, SelfType) and isinstance(wanted, SelfType)):
        return Assignability.CHECK
    if isinstance(given, SelfType) or isinstance(wanted, SelfType):
        return fit(unrolled(given), unrolled(wanted))
    if isinstance(given, UnionType):
        fits = {fit(member, wanted) for member in given.members}
        if fits == {Assignability.EXACT}:
            return Assignability.EXACT
        if fits == {Assignability.NEVER}:
            return Assignability.NEVER
        # `float(x)` is right for an int and for a float alike, and so is `Decimal(x)`.
        is_plain = fits <= {Assignability.EXACT, Assignability.CONVERT} and wanted in (
            FLOAT,
            DECIMAL,
        )
        return Assignability.CONVERT if is_plain else Assignability.CHECK
    if isinstance(wanted, UnionType):
        fits = [fit(given, member) for member in wanted.members]
        # If several members may accept the value, the check at run time selects one.
        return (
            Assignability.CHECK
            if min(fits) == Assignability.CONVERT and Assignability.CHECK in fits
            else min(fits)
        )
    return _fit_plain(given, wanted)


def _fit_plain(given: Type, wanted: Type) -> Assignability:
    if is_open(given) and not isinstance(wanted, RecordType):
        return Assignability.CHECK
    match wanted:
        case Scalar():
            if isinstance(given, LiteralType):
                return fit(given.base, wanted)
            return (
                Assignability.CONVERT
                if given == INT and wanted in (FLOAT, DECIMAL)
                else Assignability.NEVER
            )
        case LiteralType():
            # A value of the literal's type may be equal to the literal.
            return Assignability.CHECK if given == wanted.base else Assignability.NEVER
        case ListType():
            return _fit_list(given, wanted)
        case TupleType():
            return _fit_tuple(given, wanted)
        case ObjectType():
            return _fit_object(given, wanted)
        case MapType():
            return _fit_map(given, wanted)
        case RecordType():
            return _fit_record(given, wanted)
        case CallableType():
            return _fit_callable(given, wanted)
        case FunctionType() | BuiltinType():
            return Assignability.NEVER
        case UnionType() | SelfType():
            return fit(given, wanted)
        case _:
            assert_never(wanted)


def _fit_callable(given: Type, wanted: CallableType) -> Assignability:
    """How a value of type `given` can be assigned to a variable of a function type.

    The result for a known function is CHECK, because type inference itself compares its signature.
    """
    if isinstance(given, FunctionType | BuiltinType):
        return Assignability.CHECK
    if not isinstance(given, CallableType) or len(given.parameters) != len(wanted.parameters):
        return Assignability.NEVER
    return fit_call(given.parameters, given.result, wanted)


def fit_call(parameters: Iterable[Type], result: Type, wanted: CallableType) -> Assignability:
    """How a function with these parameters and this result can be assigned to `wanted`.

    If a check is needed, each call checks the arguments and the result.
    """
    fits = {fit(result, wanted.result), *map(fit, wanted.parameters, parameters)}
    return (
        Assignability.NEVER
        if Assignability.NEVER in fits
        else Assignability.EXACT
        if fits == {Assignability.EXACT}
        else Assignability.CHECK
    )


def _fit_record(given: Type, wanted: RecordType) -> Assignability:
    if not isinstance(given, RecordType):
        return Assignability.NEVER
    if wanted.definition in given.bases:
        return Assignability.EXACT
    return Assignability.CHECK if given.definition in wanted.bases else Assignability.NEVER


def _fit_list(given: Type, wanted: ListType) -> Assignability:
    if not isinstance(given, ListType):
        return Assignability.NEVER
    if given.item == NEVER or wanted.item == ANY:
        return Assignability.EXACT
    if isinstance(given.item, RecordType) and isinstance(wanted.item, ObjectType | MapType):
        return Assignability.NEVER  # a record is no object: only an empty list would fit
    # Python's list type is invariant, so a list of another item type is checked even if every item
    # fits. An empty list fits any list type, so no list is certainly wrong.
    return Assignability.CHECK


def _fit_tuple(given: Type, wanted: TupleType) -> Assignability:
    if not isinstance(given, TupleType) or len(given.items) != len(wanted.items):
        return Assignability.NEVER
    worst = max(
        (fit(item, place) for item, place in zip(given.items, wanted.items, strict=True)),
        default=Assignability.EXACT,
    )
    return Assignability.CHECK if worst == Assignability.CONVERT else worst


def _fit_map(given: Type, wanted: MapType) -> Assignability:
    match given:
        case MapType():
            # As for lists: an empty object fits any map type, so no map is certainly wrong.
            is_alike = given.key == wanted.key and wanted.value == ANY
            return Assignability.EXACT if is_alike or given.value == NEVER else Assignability.CHECK
        case ObjectType():
            if given.fields and wanted.key != STRING:
                return Assignability.NEVER
            fits = {fit(field.type, wanted.value) for field in given.fields}
            if Assignability.NEVER in fits:
                return Assignability.NEVER
            is_alike = all(wanted.value in (field.type, ANY) for field in given.fields)
            # Python's type checkers do not accept a TypedDict as a dict.
            return (
                Assignability.EXACT if is_alike and not given.is_declared else Assignability.CHECK
            )
        case _:
            return Assignability.NEVER


def _fit_object(given: Type, wanted: ObjectType) -> Assignability:
    if isinstance(given, MapType):
        if given.key != STRING:
            return Assignability.NEVER
        needed = (f.type for f in wanted.fields if NIL not in members(f.type))
        is_possible = all(fit(given.value, type_) != Assignability.NEVER for type_ in needed)
        return Assignability.CHECK if is_possible else Assignability.NEVER
    if not isinstance(given, ObjectType):
        return Assignability.NEVER
    if any(wanted.field(field.name) is None for field in given.fields):
        return Assignability.NEVER
    for field in wanted.fields:
        own = given.field(field.name)
        if own is None and NIL not in members(field.type) and field.type != ANY:
            return Assignability.NEVER
        if own is not None and fit(own.type, field.type) == Assignability.NEVER:
            return Assignability.NEVER
    return Assignability.CHECK


def can_be_equal(left: Type, right: Type) -> bool:
    """Whether `left == right` can be true for some values of these types."""
    for one in members(left):
        for other in members(right):
            if is_open(one) or is_open(other) or NEVER in (one, other) or _may_equal(one, other):
                return True
    return False


def _may_equal(left: Type, right: Type) -> bool:
    if isinstance(left, LiteralType) and isinstance(right, LiteralType):
        numbers = {left.base, right.base} <= {INT, FLOAT}
        return (left.base == right.base or numbers) and left.value == right.value
    left, right = widened(unrolled(left)), widened(unrolled(right))
    if left == right or {left, right} in ({INT, FLOAT}, {INT, DECIMAL}):
        return True
    match left, right:
        case (ListType(), ListType()) | (ObjectType() | MapType(), ObjectType() | MapType()):
            return True
        case (TupleType(), TupleType()):
            return len(left.items) == len(right.items)
        case (
            FunctionType() | BuiltinType() | CallableType(),
            FunctionType() | BuiltinType() | CallableType(),
        ):
            return True
        case (RecordType(), RecordType()):
            return Assignability.NEVER not in (_fit_record(left, right), _fit_record(right, left))
        case _:
            return False


def python_equality_is_exact(
    left: Type, right: Type, is_loose: Callable[[RecordType], bool]
) -> bool:
    """Whether Python's `==` has the same result as Saft's for all values of these types.

    The results can differ in four cases. In Python, `True == 1` is true, a decimal can equal a
    float, a NaN inside a container equals itself, and dataframes are compared element by element.

    `is_loose` returns whether a record may contain, at any depth, a NaN, or a field that is a bool
    in one value and a number in another.
    """
    if left == right and isinstance(left, RecordType) and left.is_mixed:
        return True  # members of one Enum
    # A record that holds a dataframe is loose, so it is rejected below.
    if any(_may_hold(type_, ("dataframe",), lambda _: False) for type_ in (left, right)):
        return False
    bools, numbers = ("bool", "any"), ("int", "float", "decimal", "any")
    for one, other in ((left, right), (right, left)):
        # Python compares a decimal with a float; in Saft they are never equal.
        if _may_hold(one, ("decimal",), is_loose) and _may_hold(other, ("float",), is_loose):
            return False
    if all(_may_hold_inside(type_, ("float", "any"), is_loose) for type_ in (left, right)):
        return False
    return not (
        (_may_hold(left, bools, is_loose) and _may_hold(right, numbers, is_loose))
        or (_may_hold(left, numbers, is_loose) and _may_hold(right, bools, is_loose))
    )


def _may_hold_inside(
    type_: Type, kinds: tuple[str, ...], is_loose: Callable[[RecordType], bool]
) -> bool:
    inside = (part for member in members(type_) for part in parts(member))
    return any(_may_hold(part, kinds, is_loose) for part in inside)


def _may_hold(type_: Type, kinds: tuple[str, ...], is_loose: Callable[[RecordType], bool]) -> bool:
    for part in within(type_):
        match part:
            case Scalar(kind) | LiteralType(base=Scalar(kind)):
                if kind in kinds:
                    return True
            case RecordType():
                if part.is_mixed or is_loose(part):
                    return True
            case _:
                pass
    return False
