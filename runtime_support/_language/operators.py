"""Saft's operators on values of any kind, and calls of any function.

    >>> add(1, 2.5), eq(True, 1), eq([1], [1.0])
    (3.5, False, True)
    >>> neg("7")
    Traceback (most recent call last):
    runtime_support.errors.CheckError: `-` takes a number, got string "7"
    >>> call(len, [1, 2])
    2

The table of operators in docs/language.md lists the operands that each operator takes. Most
operands have plain types, and often both have the same type. Each function handles such operands
first, by `__class__`, which takes less time than a call of `type`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runtime_support._values.dates import MEMBERS, is_decimal, is_naive, word_of
from runtime_support._values.kinds import (
    attributes_of,
    basic_kind,
    brief,
    counted,
    has_length,
    is_dataframe,
    is_function,
    is_key,
    is_list,
    is_number,
    is_object,
    is_record,
    is_result,
    is_tuple,
    kind,
    known_attributes,
    plain,
    record_fields,
    show,
)
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError, MissingError, ZeroError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import TypeVar, overload

    from runtime_support._core.results import Result

    T = TypeVar("T")

_PLAIN_TYPES = frozenset((int, float, str, bool, type(None)))
_ADDED = frozenset((int, float, str, list))
_ORDERED = frozenset((int, float, str))
_INDEXED = frozenset((list, tuple, str))
_KEYED = frozenset((dict,))
_BOUNDS = frozenset((int, type(None)))
_NO_ATTRIBUTES: dict[str, str] = {}

# The fields of a Result besides those of its value, by their names in Saft.
_HISTORY = {
    "value": "data",
    "text": "text",
    "toolCalls": "tool_calls",
    "usage": "usage",
    "model": "model",
    "finish": "finish",
}
_HISTORY_ONLY = ("toolCalls", "usage")


def truthy(value: object) -> bool:
    """True for every value except nil and false."""
    if type(value) in _PLAIN_TYPES:
        return value is not None and value is not False
    if is_result(value):
        value = plain(value)
    return value is not None and value is not False


if TYPE_CHECKING:

    @overload
    def add(left: str, right: Any) -> str: ...
    @overload
    def add(left: Any, right: str) -> str: ...
    @overload
    def add(left: Any, right: Any) -> Any: ...


def add(left: Any, right: Any) -> Any:
    """Adds two numbers, strings or lists, or a duration and a date, datetime or duration."""
    if left.__class__ is right.__class__ and left.__class__ in _ADDED:
        return left + right
    left, right = plain(left), plain(right)
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if is_list(left) and is_list(right):
        return left + right
    return _numbers("+", left, right, operator.add, "two numbers, two strings or two lists")


def sub(left: Any, right: Any) -> Any:
    """Subtracts two numbers, dates or datetimes.

    A duration can also be subtracted from a date, a datetime or a duration.
    """
    if left.__class__ is int and right.__class__ is int:
        return left - right
    return _numbers("-", left, right, operator.sub)


def mul(left: Any, right: Any) -> Any:
    """Multiplies two numbers, or a duration and a number."""
    if left.__class__ is int and right.__class__ is int:
        return left * right
    return _numbers("*", left, right, operator.mul)


def div(left: Any, right: Any) -> Any:
    """Divides two numbers, or a duration by a number or by a duration.

    The quotient of two numbers is a decimal if one of them is a decimal, and otherwise a float. A
    duration divided by a number is a duration; divided by a duration, it is a float.
    """
    return _numbers("/", left, right, lambda a, b: a / b)


def mod(left: Any, right: Any) -> int:
    """The remainder of the division of two integers. It has the sign of the divisor."""
    if left.__class__ is int and right.__class__ is int and right != 0:
        return left % right
    left, right = plain(left), plain(right)
    if basic_kind(left) != "int" or basic_kind(right) != "int":
        raise _operands("%", "two integers", left, right)
    return _calculated("%", left, right, operator.mod)


def neg(value: Any) -> Any:
    """The negative of a number or a duration."""
    value = plain(value)
    if not is_number(value) and basic_kind(value) not in ("decimal", "duration"):
        raise CheckError(f"`-` takes a number, got {brief(value)}")
    return -value


def lt(left: Any, right: Any) -> bool:
    """True if `left < right`, for two numbers, strings, dates, datetimes, times or durations."""
    if left.__class__ is right.__class__ and left.__class__ in _ORDERED:
        return left < right
    return _ordered("<", left, right, operator.lt)


def le(left: Any, right: Any) -> bool:
    """True if `left <= right`, for two numbers, strings, dates, datetimes, times or durations."""
    if left.__class__ is right.__class__ and left.__class__ in _ORDERED:
        return left <= right
    return _ordered("<=", left, right, operator.le)


def gt(left: Any, right: Any) -> bool:
    """True if `left > right`, for two numbers, strings, dates, datetimes, times or durations."""
    if left.__class__ is right.__class__ and left.__class__ in _ORDERED:
        return left > right
    return _ordered(">", left, right, operator.gt)


def ge(left: Any, right: Any) -> bool:
    """True if `left >= right`, for two numbers, strings, dates, datetimes, times or durations."""
    if left.__class__ is right.__class__ and left.__class__ in _ORDERED:
        return left >= right
    return _ordered(">=", left, right, operator.ge)


def eq(left: Any, right: Any) -> bool:
    """True if the values and all their parts are equal.

    1 equals 1.0, but true does not equal 1, and a list never equals a tuple.
    """
    if left.__class__ is right.__class__ and left.__class__ in _PLAIN_TYPES:
        return left == right
    try:
        return _equal(left, right)
    except RecursionError:
        raise CheckError("`==`: the values are nested too deeply") from None


def ne(left: Any, right: Any) -> bool:
    """The opposite of `eq`."""
    if left.__class__ is right.__class__ and left.__class__ in _PLAIN_TYPES:
        return left != right
    return not eq(left, right)


def is_in(item: Any, container: Any) -> bool:
    """True if the container has the item.

    The item is an element of a list or tuple, a key of an object, or a part of a string.
    """
    item, container = plain(item), plain(container)
    if is_list(container) or is_tuple(container):
        return any(eq(item, element) for element in container)
    if is_object(container):
        if not is_key(item):
            raise CheckError(f"`in` with object takes a string or a date, got {brief(item)}")
        return item in container
    if isinstance(container, str):
        if not isinstance(item, str):
            raise CheckError(f"`in` with string takes a string, got {brief(item)}")
        return item in container
    raise CheckError(f"`in` takes a list, tuple, object or string, got {brief(container)}")


def member(value: Any, name: str) -> Any:
    """The value of `value.name`.

    The name is a field of an object or record, `length`, or an attribute of a Python object.
    """
    if value.__class__ in _KEYED or is_object(value):
        if name in value:
            return value[name]
    elif name in (attributes := known_attributes.get(value.__class__, _NO_ATTRIBUTES)):
        return getattr(value, attributes[name])
    elif is_result(value):
        return getattr(value, _HISTORY[name]) if name in _HISTORY else member(value.data, name)
    elif is_record(value) and not isinstance(value, type):
        attribute = attributes_of(value.__class__).get(name)
        if attribute is not None:
            return getattr(value, attribute)
    elif is_dataframe(value) and name == "length":
        return value.height
    elif (members := MEMBERS.get(word_of(value) or "")) is not None:
        if name in members:
            found = getattr(value, name)
            return found() if members[name] else found
        raise _missing_member(value, name)
    elif kind(value) not in _WITHOUT_ATTRIBUTES and not name.startswith("_"):
        if hasattr(value, name):
            return getattr(value, name)
        raise _missing_member(value, name)
    if name == "length" and has_length(value):
        return len(value)
    raise _missing_member(value, name)


def _is_mapping(value: object) -> bool:
    """True for a mapping that is not an object of Saft, such as `os.environ`."""
    return isinstance(value, Mapping)


def index(value: Any, key: Any) -> Any:
    """The value of `value[key]`.

    The key is the number of an item in a list, tuple or string, or a key of an object. For a
    dataframe, the key is the name of a column, whose values are returned as a list.
    """
    if key.__class__ is int:
        if value.__class__ in _INDEXED:
            try:
                return value[key]
            except IndexError:
                pass  # reported below
    elif key.__class__ is str and value.__class__ in _KEYED and key in value:
        return value[key]
    value, key = value.data if is_result(value) else value, plain(key)
    if is_list(value) or is_tuple(value) or isinstance(value, str):
        if basic_kind(key) != "int":
            raise CheckError(f"an index into {kind(value)} is an int, got {brief(key)}")
        return _item_at(value, key)
    if is_object(value) or _is_mapping(value):
        if not is_key(key):
            raise CheckError(f"a key of an object is a string or a date, got {brief(key)}")
        if key not in value:
            names = list(map(show, value))
            raise MissingError(
                f"no key {brief(key)}: the object has {listed(names)}",
                name=show(key),
                hint=did_you_mean(show(key), names),
            )
        return value[key]
    if is_dataframe(value):
        from runtime_support._core.hooks import load_part

        return load_part("tables").column(value, key)
    raise CheckError(f"cannot index {brief(value)}")


def item(value: Any, position: int) -> Any:
    """The item of a tuple at this position, for `value.0`."""
    value = plain(value)
    if is_tuple(value):
        return _item_at(value, position)
    hint = f"write `[{position}]`" if is_list(value) or isinstance(value, str) else None
    raise CheckError(f"`.{position}` takes a tuple, got {brief(value)}", hint=hint)


def format(value: Any, spec: str) -> str:
    """Formats a number, string, date, datetime or time: `format(1234, ",")` returns "1,234".

    `spec` is one of Python's format specifications.
    """
    value = plain(value)
    kind_of = basic_kind(value)
    if kind_of not in _FORMATTED:
        takes = "a number, a string, a date, a datetime or a time"
        raise CheckError(f"`{spec}` formats {takes}, got {brief(value)}")
    try:
        if kind_of in ("date", "datetime", "time") and "%" not in spec:
            raise ValueError
        return value.__format__(spec)
    except ValueError:
        raise CheckError(f"`{spec}` cannot format {brief(value)}") from None


def slice(value: Any, start: Any, stop: Any, step: Any = None) -> Any:
    """The slice `value[start:stop:step]` of a list, tuple or string. A missing bound is nil."""
    bounds = type(start) in _BOUNDS and type(stop) in _BOUNDS and step is None
    if bounds and type(value) in _INDEXED:
        return value[start:stop]
    value, start, stop, step = plain(value), plain(start), plain(stop), plain(step)
    for bound in (start, stop, step):
        if bound is not None and basic_kind(bound) != "int":
            raise CheckError(f"a slice takes ints, got {brief(bound)}")
    if step == 0:
        raise CheckError("the step of a slice cannot be zero")
    if is_list(value) or is_tuple(value) or isinstance(value, str):
        return value[start:stop:step]
    hint = "`head(x, count)` returns the first rows" if is_dataframe(value) else None
    raise CheckError(f"cannot slice {brief(value)}", hint=hint)


def each(value: Any) -> Iterable[Any]:
    """The items that a `for` loop iterates over.

    They are the items of a list or tuple, the rows of a dataframe as objects, or the items of an
    iterable from imported Python code.
    """
    if is_list(value) or is_tuple(value):
        return value
    inner = plain(value)
    if is_list(inner) or is_tuple(inner):
        return inner
    if is_dataframe(inner):
        return inner.iter_rows(named=True)
    if basic_kind(inner) not in _WITHOUT_ATTRIBUTES and hasattr(inner, "__iter__"):
        return inner
    if is_result(value):
        raise CheckError("cannot iterate over a result", hint="use .toolCalls or .value")
    hint = "`keys(x)` gives the keys of an object" if is_object(value) else None
    raise CheckError(f"`for` needs a list or a tuple, got {brief(value)}", hint=hint)


def each_of(value: Any, shape: int | tuple[Any, ...]) -> Iterator[list[Any] | tuple[Any, ...]]:
    """Returns the items of `each` in a form that Python can unpack for a pattern of names.

    The iterator raises CheckError at an item that is not a list or tuple of the right length.
    `shape` is the number of names or, for a nested pattern, the names: `("id", ("a", "b"))`.
    """
    elements = enumerate(each(value))
    return (_fitted(one, shape, f"element {number} of the `for`") for number, one in elements)


def unpack(value: Any, shape: int | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    """Returns a value in a form that Python can unpack, for `a, b = value`.

    Raises CheckError if the value is not a list or tuple of the right length. `shape` is the number
    of names or, for a nested pattern, the names: `("id", ("a", "b"))`.
    """
    return _fitted(value, shape, "what is unpacked")


if TYPE_CHECKING:

    @overload
    def call(function: Callable[..., Result[T]], /, *arguments: Any, **named: Any) -> T: ...
    @overload
    def call(function: Callable[..., T], /, *arguments: Any, **named: Any) -> T: ...
    @overload
    def call(function: Any, /, *arguments: Any, **named: Any) -> Any: ...


def call(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """Calls a function and returns the result. Raises CheckError if the arguments do not fit.

    If the result is awaitable, it is awaited in the event loop of the run.
    """
    from runtime_support._schema.calls import call_checked
    from runtime_support._schema.checking import validate

    result: Any = call_checked(function, arguments, named, validate)
    if not hasattr(result, "__await__"):
        return result
    from runtime_support._values.awaiting import in_loop

    return plain(in_loop(result))


if TYPE_CHECKING:

    @overload
    async def acall(
        function: Callable[..., Awaitable[T] | T], /, *arguments: Any, **named: Any
    ) -> T: ...
    @overload
    async def acall(function: Any, /, *arguments: Any, **named: Any) -> Any: ...


async def acall(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """Calls a function as `call` does, from a coroutine. Awaits the result if it is awaitable."""
    from runtime_support._core.tasks.loops import maybe_await
    from runtime_support._schema.calls import call_checked
    from runtime_support._schema.checking import validate

    if function is send:
        function, arguments = member(*arguments[:2]), arguments[2:]
    return plain(await maybe_await(call_checked(function, arguments, named, validate)))


def send(value: Any, name: str, /, *arguments: Any, **named: Any) -> Any:
    """Calls `value.name(...)`: a method of a Python object, or a function in a field."""
    owner = plain(value)
    if word_of(owner) is not None and not name.startswith("_") and hasattr(owner, name):
        return call(getattr(owner, name), *arguments, **named)
    return call(member(value, name), *arguments, **named)


_FORMATTED = frozenset(("int", "float", "string", "date", "datetime", "time", "decimal"))
_WITHOUT_ATTRIBUTES = frozenset(
    ("bool", "int", "float", "string", "list", "tuple", "object", "nil")
)


def _equal(left: Any, right: Any) -> bool:
    left, right = plain(left), plain(right)
    if is_number(left) and is_number(right):
        return left == right
    if is_decimal(left) or is_decimal(right):
        return all(basic_kind(one) in ("decimal", "int") for one in (left, right)) and bool(
            left == right
        )
    if (is_list(left) and is_list(right)) or (is_tuple(left) and is_tuple(right)):
        return len(left) == len(right) and all(map(eq, left, right))
    if is_object(left) and is_object(right):
        return left.keys() == right.keys() and all(eq(v, right[k]) for k, v in left.items())
    if is_record(left) and type(left) is type(right):
        return eq(record_fields(left), record_fields(right))
    if is_dataframe(left) and is_dataframe(right):
        return left.equals(right)
    return basic_kind(left) == basic_kind(right) and bool(left == right)


def _item_at(value: str | list[Any] | tuple[Any, ...], position: int) -> Any:
    if -len(value) <= position < len(value):
        return value[position]
    raise MissingError(out_of_range(value, position), name=position)


def out_of_range(value: str | list[Any] | tuple[Any, ...], position: int) -> str:
    """The message for an index out of range."""
    items = counted(len(value), "character" if isinstance(value, str) else "item")
    asked = brief(position).removeprefix("int ")
    return f"index {asked} is out of range: the {kind(value)} has {items}"


def _fitted(element: Any, shape: int | tuple[Any, ...], place: str) -> list[Any] | tuple[Any, ...]:
    """Returns the element in a form that Python can unpack as the pattern requires.

    Raises CheckError if the element is not a list or tuple of the right length. The same applies to
    its parts if the pattern is nested.
    """
    element = plain(element)
    count = shape if isinstance(shape, int) else len(shape)
    if not (is_list(element) or is_tuple(element)) or len(element) != count:
        raise CheckError(f"{place} has to be a list or tuple of {count}, got {brief(element)}")
    if isinstance(shape, int):
        return element
    return [
        part if isinstance(inner, str) else _fitted(part, inner, f"`{_pattern(inner)}` in {place}")
        for part, inner in zip(element, shape, strict=True)
    ]


def _pattern(shape: str | tuple[Any, ...]) -> str:
    return shape if isinstance(shape, str) else f"({', '.join(map(_pattern, shape))})"


def _operands(symbol: str, takes: str, left: object, right: object) -> CheckError:
    hint = None
    if {basic_kind(left), basic_kind(right)} == {"decimal", "float"}:
        hint = "a decimal and a float do not mix: write `float(x)` of the decimal, or use decimals"
    return CheckError(f"`{symbol}` takes {takes}, got {brief(left)} and {brief(right)}", hint=hint)


# The operands of the operators besides numbers, strings and lists, as pairs of kinds.
_WITH_DECIMAL = frozenset((("decimal", "decimal"), ("decimal", "int"), ("int", "decimal")))
_MOVED = frozenset((one, "duration") for one in ("date", "datetime", "duration"))
_KINDS_FOR: dict[str, frozenset[tuple[str, str]]] = {
    "+": _WITH_DECIMAL | _MOVED | {("duration", "date"), ("duration", "datetime")},
    "-": _WITH_DECIMAL | _MOVED | {("date", "date"), ("datetime", "datetime")},
    "*": _WITH_DECIMAL
    | {(one, "duration") for one in ("int", "float")}
    | {("duration", one) for one in ("int", "float")},
    "/": _WITH_DECIMAL | {("duration", one) for one in ("int", "float", "duration")},
    "<": _WITH_DECIMAL | {(one, one) for one in ("date", "datetime", "time", "duration")},
}


def _are_kinds_for(symbol: str, left: Any, right: Any) -> bool:
    """True if an operator takes these two values because of their kinds, such as date and duration.

    Raises CheckError for a datetime without an offset.
    """
    kinds = basic_kind(left), basic_kind(right)
    if kinds not in _KINDS_FOR[symbol]:
        return False
    for operand, word in zip((left, right), kinds, strict=True):
        if word == "datetime" and is_naive(operand):
            hint = "`x.astimezone()` adds the local offset"
            raise CheckError(f"`{symbol}` takes datetimes with an offset, got {operand}", hint=hint)
    return True


def _numbers(
    symbol: str,
    left: Any,
    right: Any,
    calculate: Callable[[Any, Any], Any],
    takes: str = "two numbers",
) -> Any:
    left, right = plain(left), plain(right)
    if (is_number(left) and is_number(right)) or _are_kinds_for(symbol, left, right):
        return _calculated(symbol, left, right, calculate)
    raise _operands(symbol, takes, left, right)


def _calculated(symbol: str, left: Any, right: Any, calculate: Callable[[Any, Any], Any]) -> Any:
    try:
        return calculate(left, right)
    except ZeroDivisionError:
        raise _by_zero(symbol, left, right) from None
    except (OverflowError, ValueError) as error:  # also a duration times a NaN
        if is_number(left) and is_number(right):
            words = "the number is too large for a float"
        else:
            words = str(error)
        raise CheckError(f"`{symbol}`: {words}") from None
    except ArithmeticError:  # the result is no decimal, or too large
        if symbol == "/" and right == 0:
            raise _by_zero(symbol, left, right) from None
        words = f"no decimal for {brief(left)} {symbol} {brief(right)}"
        raise CheckError(f"`{symbol}`: {words}") from None


def _by_zero(symbol: str, left: Any, right: Any) -> ZeroError:
    return ZeroError(f"`{symbol}` by zero: {brief(left)} {symbol} {brief(right)}")


def _ordered(symbol: str, left: Any, right: Any, compare: Callable[[Any, Any], bool]) -> bool:
    left, right = plain(left), plain(right)
    numbers = is_number(left) and is_number(right)
    if numbers or (isinstance(left, str) and isinstance(right, str)):
        return compare(left, right)
    if _are_kinds_for("<", left, right):
        try:
            return compare(left, right)
        except TypeError:  # only one of two times has an offset
            pass
    raise _operands(symbol, "two numbers or two strings", left, right)


def _missing_member(value: Any, name: str) -> MissingError | CheckError:
    if name in _HISTORY_ONLY:
        return CheckError(
            f"{brief(value)} has no `{name}`: it is a plain value",
            hint="annotate it as a whole result: `r: Result` for a name or parameter, "
            "`-> Result` for a function, `[Result]` for a list",
        )
    if is_object(value):
        fields = list(map(show, value))
    elif is_record(value):
        fields = list(record_fields(value))
    elif (members := MEMBERS.get(word_of(value) or "")) is not None:
        fields = list(members)
    elif is_function(value) or kind(value) not in _WITHOUT_ATTRIBUTES:
        fields = [field for field in dir(value) if not field.startswith("_")]
    else:
        return CheckError(f"{brief(value)} has no field `{name}`")
    found = f"its fields are {listed(fields)}"
    return MissingError(
        f"no field `{name}` in {kind(value)}: {found}", name=name, hint=did_you_mean(name, fields)
    )
