"""The operators of the reference interpreter: the semantics table, line by line.

calculated("+", 1, "7")     Wrong: int + string
"""

from decimal import DecimalException

from tests.oracle import dates
from tests.oracle import values as v
from tests.oracle.values import Failure, Record, Value, Wrong, is_number, kind_of


def item(value: Value, key: Value) -> Value:
    """`value[key]`."""
    if isinstance(value, str | list | tuple):
        if type(key) is not int:
            raise Wrong(f"an index is an int, not {kind_of(key)}")
        if not -len(value) <= key < len(value):
            raise Wrong(f"index {key} is out of range", "missing")
        return value[key]
    if not isinstance(value, dict):
        raise Wrong(f"cannot index {kind_of(value)}")
    if not v.is_key(key):
        raise Wrong(f"a key is a string or a date, not {kind_of(key)}")
    if key not in value:
        raise Wrong(f"no key {key!r}", "missing")
    return value[key]


def member(value: Value, name: str) -> Value:
    """`value.name`."""
    fields = value.fields if isinstance(value, Record | Failure) else value
    if isinstance(fields, dict) and name in fields:
        return fields[name]
    if dates.is_date(value) and name in dates.members_of(value):
        return dates.members_of(value)[name](value)
    if name == "length" and isinstance(value, str | list | tuple | dict):
        return len(value)
    has_fields = isinstance(fields, dict) or dates.is_date(value)
    raise Wrong(f"no field `{name}`", "missing" if has_fields else "value")


def negated(value: Value) -> Value:
    """`-value`."""
    if is_number(value) or kind_of(value) in ("decimal", "duration"):
        return -value
    raise Wrong(f"expected a number, got {kind_of(value)}")


def calculated(operator: str, left: Value, right: Value) -> Value:
    """Arithmetic."""
    both = (type(left), type(right))
    if operator == "+" and both in ((str, str), (list, list)):
        return left + right
    are_dates = dates.is_date(left) or dates.is_date(right)
    takes = dates.takes if are_dates else _takes_numbers
    if not takes(operator, left, right):
        raise Wrong(f"{kind_of(left)} {operator} {kind_of(right)}")
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case _:
                return left % right
    except ZeroDivisionError as error:
        raise Wrong(str(error), "zero") from None
    except DecimalException as error:
        is_by_zero = operator == "/" and right == 0
        raise Wrong(str(error), "zero" if is_by_zero else "value") from None
    except (OverflowError, ValueError) as error:
        raise Wrong(str(error)) from None


def _takes_numbers(operator: str, left: Value, right: Value) -> bool:
    """Whether both are numbers; for the remainder, whole ones."""
    if operator == "%":
        return type(left) is type(right) is int
    return is_number(left) and is_number(right)


def compared(operator: str, left: Value, right: Value) -> bool:
    """Equality, order and `in`."""
    match operator:
        case "==":
            return v.equal(left, right)
        case "!=":
            return not v.equal(left, right)
        case "in":
            return v.contains(left, right)
        case "not in":
            return not v.contains(left, right)
        case _:
            v.check_ordered((left, right))
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right
