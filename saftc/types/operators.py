"""The result types of Saft's operators: the only place that defines them.

    operate("+", STRING, union((STRING, NIL)))

This operation has the result string and is not proved: the addition is valid if the right operand
is a string, and an error if it is nil, so the compiled code checks at run time.
`operate("+", STRING, INT)` has no result, as the addition is an error for all values.
"""

from collections.abc import Callable
from dataclasses import dataclass

from saftc.types.relations import can_be_equal
from saftc.types.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DECIMAL,
    DURATION,
    EMPTY_OBJECT,
    FLOAT,
    INT,
    KEYS,
    NEVER,
    STRING,
    TIME,
    ListType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    base,
    is_open,
    keys_of,
    members,
    remembered,
    union,
)


@dataclass(frozen=True, slots=True)
class Operation:
    """The result type of an operation, or None if the operation is an error for all values.

    `is_proved`: the operation is valid for all values, and the operands' types are known.
    """

    result: Type | None
    is_proved: bool


_NUMBERS = (INT, FLOAT)
# Result types for dates, durations and decimals, by the types of the operands.
_OF_DECIMALS: dict[tuple[Type, Type], Type] = dict.fromkeys(
    ((DECIMAL, DECIMAL), (DECIMAL, INT), (INT, DECIMAL)), DECIMAL
)
_MOVED: dict[tuple[Type, Type], Type] = {
    (one, DURATION): one for one in (DATE, DATETIME, DURATION)
}
_OF_DATES: dict[str, dict[tuple[Type, Type], Type]] = {
    "+": {**_OF_DECIMALS, **_MOVED, **{(DURATION, one): one for one in (DATE, DATETIME)}},
    "-": {**_OF_DECIMALS, **_MOVED, **{(one, one): DURATION for one in (DATE, DATETIME)}},
    "*": {
        **_OF_DECIMALS,
        **{(DURATION, one): DURATION for one in _NUMBERS},
        **{(one, DURATION): DURATION for one in _NUMBERS},
    },
    "/": {
        **_OF_DECIMALS,
        **{(DURATION, one): DURATION for one in _NUMBERS},
        (DURATION, DURATION): FLOAT,
    },
    "%": {},
    "<": {
        **dict.fromkeys(_OF_DECIMALS, BOOL),
        **{(one, one): BOOL for one in (DATE, DATETIME, TIME, DURATION)},
    },
}
# The types that an operator accepts if the other operand is unknown.
_TAKEN: dict[str, frozenset[Type]] = {
    operator: frozenset(one for pair in found for one in pair)
    for operator, found in _OF_DATES.items()
}


@remembered
def operate(operator: str, left: Type, right: Type) -> Operation:
    """The result type of a binary operator or a comparison on operands of these types."""
    if operator in ("==", "!="):
        return Operation(BOOL, True)
    rule = _RULES[operator]
    results: list[Type] = []
    is_proved = True
    for one in members(left):
        for other in members(right):
            if NEVER in (one, other):
                results.append(NEVER)
                continue
            one, other = _operand(one), _operand(other)
            result = rule(one, other)
            is_proved = is_proved and result is not None and ANY not in (one, other)
            if result is not None:
                results.append(result)
    return Operation(union(results) if results else None, is_proved)


@remembered
def wrong_members(operator: str, left: Type, right: Type) -> tuple[Type, Type]:
    """For each operand, the union of the members of its type that are wrong.

    A member is wrong if the operation is an error with every member of the other operand's type.
    """
    rule = _RULES[operator]

    def is_wrong(one: Type, other: Type) -> bool:
        return NEVER not in (one, other) and rule(_operand(one), _operand(other)) is None

    lefts, rights = members(left), members(right)
    return (
        union(one for one in lefts if all(is_wrong(one, other) for other in rights)),
        union(other for other in rights if all(is_wrong(one, other) for one in lefts)),
    )


def _operand(type_: Type) -> Type:
    """The type of an operand, with a literal type replaced by its scalar type.

    The result is `ANY` if the operand's kind is known only at run time.
    """
    return ANY if is_open(type_) else base(type_)


def negate(operand: Type) -> Operation:
    """The result type of `-x` for an operand of this type."""
    return operate("-", DURATION if operand == DURATION else INT, operand)


def _rule(
    operator: str, wanted: tuple[Type, ...], result: Type, of_ints: Type | None = None
) -> Callable[[Type, Type], Type | None]:
    """Makes the typing rule of an operator on numbers, dates, durations and decimals.

    The rule maps the types of two operands to the result type, or to None for an error. `wanted`:
    the number types that the operator accepts. `result`: the result type for numbers. `of_ints`:
    the result type for two ints, if that is different.
    """
    found, taken = _OF_DATES[operator], {*wanted, ANY, *_TAKEN[operator]}

    def rule(left: Type, right: Type) -> Type | None:
        if (left, right) in found:
            return found[left, right]
        if ANY in (left, right):
            unknown = BOOL if result == BOOL else ANY
            return unknown if {left, right} <= taken else None
        if left == right == INT and of_ints is not None:
            return of_ints
        return result if left in wanted and right in wanted else None

    return rule


_add_numbers = _rule("+", _NUMBERS, FLOAT, INT)
_order_numbers = _rule("<", _NUMBERS, BOOL)


def _add(left: Type, right: Type) -> Type | None:
    if left == right == STRING:
        return STRING
    if isinstance(left, ListType) and isinstance(right, ListType):
        return ListType(union((left.item, right.item)))
    other = right if left == ANY else left
    if ANY in (left, right) and (other == STRING or isinstance(other, ListType)):
        return ANY
    return _add_numbers(left, right)


def _order(left: Type, right: Type) -> Type | None:
    is_text = STRING in (left, right) and {left, right} <= {STRING, ANY}
    return BOOL if is_text else _order_numbers(left, right)


def _contains(item: Type, container: Type) -> Type | None:
    match container:
        case ListType() | TupleType():
            is_possible = True
        case ObjectType() | MapType():
            # An empty object may have keys of any type.
            keys = KEYS if container == EMPTY_OBJECT else (keys_of(container),)
            is_possible = item in (*keys, ANY)
        case _:
            is_possible = container == ANY or (container == STRING and item in (STRING, ANY))
    return BOOL if is_possible else None


_RULES: dict[str, Callable[[Type, Type], Type | None]] = {
    "+": _add,
    "-": _rule("-", _NUMBERS, FLOAT, INT),
    "*": _rule("*", _NUMBERS, FLOAT, INT),
    "/": _rule("/", _NUMBERS, FLOAT),
    "%": _rule("%", (INT,), INT),
    "<": _order,
    "<=": _order,
    ">": _order,
    ">=": _order,
    "in": _contains,
    "not in": _contains,
}


def is_constant(operator: str, left: Type, right: Type) -> bool:
    """Whether `==` or `!=` has the same result for all values of these types."""
    return operator in ("==", "!=") and not can_be_equal(left, right)
