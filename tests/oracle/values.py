"""Saft values in the reference interpreter: their kinds, equality, order, text and JSON.

bool, int, float, str, None, list, tuple and dict stand for Saft's own; functions and records are
the classes below. A `Fault` is an error of the script: a kind word and the place that failed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NoReturn

from saftc.source import Span
from saftc.syntax import nodes as n
from tests.oracle import dates

Value = Any
Bound = dict[str, Value]

_KINDS = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    type(None): "nil",
    list: "list",
    tuple: "tuple",
    dict: "object",
    **dates.KINDS,
}
_KEYWORDS = frozenset(
    (
        *("if", "elif", "else", "for", "in", "while", "break", "continue", "ret", "assert"),
        *("and", "or", "not", "true", "false", "nil"),
    )
)
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class Fault(Exception):
    """An error of the script; `said` are the script's own words.

    `kind` is `value` (something is not what its place takes), `missing` (no such field, key or
    index), `zero`, `assert`, `fail`, `name` (nothing is bound to it yet), `prompt`, or `depth`.
    `failure` is the kind that an `except` sees.
    `is_order_open`: the language does not say whether something beside it comes first.
    """

    def __init__(
        self,
        kind: str,
        span: Span,
        message: str,
        *,
        failure: str = "check",
        is_order_open: bool = False,
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.failure = failure
        self.kind = kind
        self.said = message
        self.span = span
        self.is_order_open = is_order_open


class Wrong(Exception):
    """A fault whose place the caller knows."""

    def __init__(self, message: str, kind: str = "value") -> None:
        super().__init__(message)
        self.kind = kind

    def at(self, span: Span) -> Fault:
        """The fault at `span`."""
        return Fault(self.kind, span, str(self))


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said in a prompt and those before it, and the tools that it had."""

    lines: tuple[str, ...] = ()
    tools: "dict[str, Callable_]" = field(default_factory=dict[str, "Callable_"])


@dataclass(slots=True, eq=False)
class Stream:
    """A prompt that is asked when its parts are gone through, or its value is read."""

    ask: "Callable[[Span], tuple[Value, Talk]]"
    answer: "tuple[Value, Talk] | None" = None

    def read(self, span: Span) -> "tuple[Value, Talk]":
        """The value and what was said; a failure is that of this place."""
        if self.answer is None:
            self.answer = self.ask(span)
        return self.answer


class Frame:
    """The names of the module, a call or a comprehension; what is not there is looked up outside.

    There is no more to scoping than this: a name belongs to a call from the moment it is assigned
    in it, and whoever looks later sees what is there then.
    """

    def __init__(self, outer: "Frame | None" = None, home: "Frame | None" = None) -> None:
        self.outer = outer
        # What is assigned in an `except` is the call's; the failure of each has a place of its own.
        self.home: Frame = home or self
        self.failures: dict[n.TryStmt, Frame] = {}
        self.names: Bound = {}
        # What was said in the prompts that names are bound to.
        self.talks: dict[str, Talk] = {}

    def bind(self, name: str, value: Value, talk: "Talk | None" = None) -> None:
        """Gives a name its value, with what was said when a prompt has given it."""
        self.home.names[name] = value
        self.home.talks.pop(name, None)
        if talk is not None:
            self.home.talks[name] = talk

    def find(self, name: str) -> "Frame | None":
        """The innermost frame that has the name by now."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame
            frame = frame.outer
        return None


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of what was written."""
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the script and the frame it was defined in."""

    definition: n.FunctionDef
    frame: Frame
    defaults: Bound

    @property
    def name(self) -> str:
        """The name it was defined under."""
        return self.definition.name.text


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """A builtin; `run` takes the arguments as they were given."""

    name: str
    run: Callable[..., Value]


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """The constructor of a record type."""

    definition: n.RecordDef
    defaults: Bound

    @property
    def name(self) -> str:
        """The type's name."""
        return self.definition.name.text


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A record: its type and its fields in order."""

    definition: n.RecordDef
    fields: Bound


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """A fault that an `except` has caught; of its fields, the ones that the tests look at."""

    fault: Fault

    @property
    def fields(self) -> Bound:
        """`kind`, and where the script says it, `message`."""
        return {"kind": self.fault.failure, "message": self.fault.said}


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A function in a place for functions: what it is called with and gives is as `schema` says."""

    function: "Callable_"
    schema: n.FunctionSchema

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name


@dataclass(frozen=True, slots=True, eq=False)
class Approved:
    """A function whose calls by a model wait for approval."""

    function: "Callable_"

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name


Callable_ = Function | Builtin | Constructor | Held | Approved


def approve(value: "Value") -> Approved:
    """The function as one that waits; one that does already, as it is."""
    if not isinstance(value, Callable_):
        raise Wrong("a function was expected")
    return value if isinstance(value, Approved) else Approved(value)


def waits(function: Callable_) -> bool:
    """Whether calls of it by a model wait for approval."""
    return isinstance(itself(function), Approved)


def bare(function: Callable_) -> Callable_:
    """The function itself: nothing is asked of it, and it does not wait."""
    while isinstance(function, Held | Approved):
        function = function.function
    return function


def itself(value: "Value") -> "Value":
    """A function without what places have asked of it."""
    while isinstance(value, Held):
        value = value.function
    return value


def kind_of(value: Value) -> str:
    """The word that `type(x)` gives."""
    if isinstance(value, Record):
        return value.definition.name.text
    if isinstance(value, Failure):
        return "Failure"
    if isinstance(value, Callable_):
        return "function"
    return _KINDS[type(value)]


def is_number(value: Value) -> bool:
    """Whether it is an int or a float; a bool is neither."""
    return type(value) in (int, float)


def is_sequence(value: Value) -> bool:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def truth_of(value: Value) -> bool:
    """Only `false` and `nil` are false."""
    return value is not None and value is not False


def equal(left: Value, right: Value) -> bool:
    """Saft's `==`."""
    left, right = itself(left), itself(right)
    if is_number(left) and is_number(right):
        return left == right
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return {type(left), type(right)} <= {Decimal, int} and bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(equal(one, other) for one, other in pairs)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, Record):
        return left.definition is right.definition and equal(left.fields, right.fields)
    if isinstance(left, Builtin):
        return left.name == right.name
    if isinstance(left, Approved):
        return equal(left.function, right.function)
    return left is right if isinstance(left, Callable_) else left == right


def contains(item: Value, container: Value) -> bool:
    """Saft's `in`."""
    if is_sequence(container):
        return any(equal(item, element) for element in container)
    if not isinstance(container, str | dict):
        raise Wrong(f"`in` {kind_of(container)}")
    if not (is_key(item) if isinstance(container, dict) else isinstance(item, str)):
        raise Wrong(f"{kind_of(item)} `in` {kind_of(container)}")
    return item in container


def is_key(value: Value) -> bool:
    """Whether an object may have it as a key."""
    return type(value) in (str, date, datetime)


def check_ordered(values: list[Value] | tuple[Value, ...]) -> None:
    """All numbers, all strings, or all of a kind of dates, as `<` takes them."""
    if all(map(is_number, values)) or all(isinstance(value, str) for value in values):
        return
    if dates.are_ordered(values):
        return
    raise Wrong("no order among " + ", ".join(map(kind_of, values)))


def text_of(value: Value) -> str:
    """What `print` writes: a string or a date as it is, any other value as a literal."""
    if dates.is_date(value):
        return dates.written(value)
    return value if isinstance(value, str) else literal_of(value)


def literal_of(value: Value) -> str:
    """The value as it is written in a script."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _digits(value)
        case str():
            return _quoted(value)
        case list():
            return "[" + ", ".join(map(literal_of, value)) + "]"
        case tuple():
            return "(" + ", ".join(map(literal_of, value)) + (",)" if len(value) == 1 else ")")
        case dict():
            return "{" + _fields(value, quotes=True) + "}"
        case Record():
            return f"{kind_of(value)}({_fields(value.fields, quotes=False)})"
        case Failure():
            raise NotImplementedError("the messages of failures are the runtime's own")
        case _ if dates.is_date(value):
            return f'{kind_of(value)}("{dates.written(value)}")'
        case _:
            return f"<function {value.name}>"


def json_of(value: Value) -> str:
    """Compact JSON text; Wrong for what has none."""
    try:
        return json.dumps(_jsonable(value), ensure_ascii=False, separators=(",", ":"))
    except ValueError as error:
        raise Wrong(str(error)) from None


def parse_json(text: str, *, keeps_digits: bool = False) -> Value:
    """The value of JSON text; its numbers with a fraction may keep how they are written."""
    number = dates.Digits.of if keeps_digits else float
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=number)
    except ValueError as error:
        raise Wrong(f"not JSON: {error}") from None


def without_digits(value: Value) -> Value:
    """JSON data whose numbers are floats, and no more."""
    match value:
        case dates.Digits():
            return float(value)
        case list():
            return [without_digits(item) for item in value]
        case dict():
            return {key: without_digits(item) for key, item in value.items()}
        case _:
            return value


def _refuse(name: str) -> NoReturn:
    raise Wrong(f"{name} is not JSON")


def _jsonable(value: Value) -> Value:
    if isinstance(value, Record):
        return _jsonable(value.fields)
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, dict):
        return {text_of(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, Callable_):
        raise Wrong("a function has no JSON form")
    if isinstance(value, Failure):
        raise NotImplementedError("the messages of failures are the runtime's own")
    if dates.is_date(value):
        return dates.written(value)
    if isinstance(value, float) and value - value != 0:
        raise Wrong(f"{value} has no JSON form")
    return value


def _digits(value: int | float) -> str:
    try:
        return str(value)
    except ValueError as error:
        raise Wrong(str(error)) from None


def _fields(fields: Bound, *, quotes: bool) -> str:
    return ", ".join(
        f"{_key(key) if quotes else key}: {literal_of(value)}" for key, value in fields.items()
    )


def _key(key: Value) -> str:
    if dates.is_date(key):
        return f"[{literal_of(key)}]"
    is_name = key.isascii() and key.isidentifier() and key not in _KEYWORDS
    return key if is_name else _quoted(key)


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    is_control = ord(character) < 32 or ord(character) == 127
    return f"\\u{ord(character):04x}" if is_control else character
