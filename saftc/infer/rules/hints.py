"""Hints for type errors: tables and functions, of which the first match for the types applies.

The typing rules report the errors; this module suggests corrections.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from saftc.check.facts import Facts
from saftc.check.forms import takes_format
from saftc.diagnostics.model import Hint
from saftc.diagnostics.near import did_you_mean, is_slip, near
from saftc.syntax import nodes as n
from saftc.syntax.mistakes.habits import method_hint
from saftc.types.builtins import ITEMS, Builtin, Param
from saftc.types.dates import EXAMPLES_OF_DATES, MEMBERS_OF_DATES
from saftc.types.results import FAILURE_KINDS, MEMBERS
from saftc.types.types import (
    BOOL,
    DATAFRAME,
    DATE,
    DATES,
    DATETIME,
    DECIMAL,
    FLOAT,
    INT,
    KEYS,
    NIL,
    RESULT,
    STRING,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    Type,
    UnionType,
    is_only,
    item_type,
    keys_of,
    literal_type,
    members,
    show,
    show_value,
    without,
)


@dataclass(frozen=True, slots=True)
class _OfOperands:
    """A hint for invalid operands whose types `applies` accepts.

    The hint is for the given `operators`, or for all operators if there are none.
    """

    operators: tuple[str, ...]
    applies: Callable[[Type, Type], bool]
    hint: str


def _has(*types: Type) -> Callable[[Type, Type], bool]:
    return lambda left, right: set(types) <= {left, right}


def _are_in(*types: Type) -> Callable[[Type, Type], bool]:
    return lambda left, right: {left, right} <= set(types)


def _has_list(left: Type, right: Type) -> bool:
    return isinstance(left, ListType) or isinstance(right, ListType)


def _is_text_and_date(left: Type, right: Type) -> bool:
    return STRING in (left, right) and not {left, right}.isdisjoint(DATES.values())


def _key_of(type_: Type) -> str | None:
    return keys_of(type_).kind if isinstance(type_, ObjectType | MapType) else None


_IN, _ORDER = ("in", "not in"), ("<", "<=", ">", ">=")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_READS_TEXT, _MAKES_TEXT = "`{date}(x)` reads a string", "`str(x)` converts any value to a string"
_OF_RESULT = "`x.text` is the text of a result, `x.value` its value"
_NOT_EXACT = 'a float is not exact: write `decimal("1.50")`'
# `{date}` is the type of the operand that is a date or the like, `{key}` that of an object's keys.
_OPERANDS: tuple[_OfOperands, ...] = (
    _OfOperands((), _has(DECIMAL, FLOAT), f"{_NOT_EXACT}, or `float(x)` of the decimal"),
    _OfOperands(
        ("+", "-"),
        lambda left, right: bool({left, right} & {DATE, DATETIME} and {left, right} & {INT, FLOAT}),
        "to move a date, add a duration: `duration(days: 3)`",
    ),
    _OfOperands((), _has(RESULT), _OF_RESULT),
    _OfOperands((), _has(DATE, DATETIME), "`x.date` is the date of a datetime"),
    _OfOperands(("+",), _is_text_and_date, "`str(x)` converts it to a string"),
    _OfOperands((*_ARITHMETIC, *_ORDER), _is_text_and_date, _READS_TEXT),
    _OfOperands(("+",), _has_list, "`+` joins two lists: `xs + [x]`"),
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
    _OfOperands(("*",), _has_list, "`[0 for _ in range(3)]` repeats an item"),
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
    left, right = without(left, NIL), without(right, NIL)
    date = next((word for word, one in DATES.items() if one in (left, right)), "")
    meant = (one for one in _OPERANDS if not one.operators or operator in one.operators)
    hints = (one.hint for one in meant if one.applies(left, right))
    return next(hints, "").format(date=date, key=_key_of(right)) or None


@dataclass(frozen=True, slots=True)
class _OfPlace:
    """A hint for a value of a type in `given` where a value of a type in `wanted` is expected."""

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
    _OfPlace((RESULT,), (STRING,), _OF_RESULT),
)
_DRAFT = "a draft may lack fields: keep the stream, `whole: T = stream $ ... $`, and use `whole`"


def mismatch_hint(facts: Facts, given: Type, wanted: Type) -> str | Hint | None:
    """The hint for a value of type `given` where type `wanted` is expected, or None."""
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
    if given == NIL:
        return f"the type of a value that may be nil ends with `?`: `{show(wanted)}?`"
    hints = (one.hint for one in _PLACES if given in one.given and wanted in one.wanted)
    return next(hints, "").format(wanted=show(wanted)) or None


def _called_with(facts: Facts, given: ObjectType, records: list[RecordType]) -> str | None:
    """The script's name for the record whose fields are most like those of an object, or None."""
    names = {field.name for field in given.fields}
    closest = min(records, key=lambda one: len(names ^ set(facts.fields_of(one))))
    return None if closest.definition is None else facts.name_of_record(closest.definition)


def _intended_literal(given: LiteralType, wanted: UnionType) -> Hint | None:
    """A hint that suggests the accepted string that `given` is likely to mean, or None."""
    known = [str(one.value) for one in wanted.members if isinstance(one, LiteralType)]
    meant = near(str(given.value), known)
    if meant is None or not isinstance(given.value, str):
        return None
    is_guess = not is_slip(given.value, meant, known)
    return Hint(f'did you mean "{meant}"?', instead=show(literal_type(meant)), is_guess=is_guess)


def prompt_hint(facts: Facts, node: n.Binary | n.Comparison, left: Type, right: Type) -> str | None:
    """The hint to give a prompt a type, or None.

    It applies if one operand is the result of an untyped prompt and the other is a number, a bool
    or a list.
    """
    for operand, found, other in ((node.left, left, right), (node.right, right, left)):
        is_prompt = found == STRING and facts.is_untyped_result(operand)
        if not is_prompt or not is_only(other, "int", "float", "bool", "list"):
            continue
        wanted = show(other)
        match operand:
            case n.Call(function=n.Name(text=text)):
                return f"its prompt returns a string: `f {text}(...) -> {wanted}`"
            case n.Name(text=text):
                return f"its prompt returns a string: `{text}: {wanted} = $ ... $`"
            case _:
                name = "xs" if is_only(other, "list") else "x"
                return f"the prompt returns a string here: `{name}: {wanted} = $ ... $` above it"
    return None


def member_hint(
    facts: Facts,
    value: Type,
    name: str,
    node: n.Member | None = None,
) -> str | Hint | None:
    """The hint for a member or a key that a value does not have.

    The hint suggests a similar name, or lists the names that the value has.
    """
    names: list[str] = []
    for member in members(value):
        match member:
            case ObjectType():
                names.extend(field.name for field in member.fields)
            case RecordType():
                names.extend(facts.fields_of(member))
            case Scalar() if member in MEMBERS_OF_DATES:
                names.extend(MEMBERS_OF_DATES[member])
            case MapType(key=key) if key != STRING:
                example = f"{key.kind}({show_value(EXAMPLES_OF_DATES[key.kind])})"
                return f"its keys are of type {key.kind}: `x[{example}]`"
            case _:
                pass
    method = None if node is None else method_hint(node, names)
    others = MEMBERS if node is not None and facts.result_of(node.value) else ()
    length = ["length"] if is_only(value, "string", "list", "tuple", "object") else []
    return did_you_mean(name, [*names, *others, *length]) or method or listed("it has", names)


def key_hint(facts: Facts, value: Type, name: str) -> str | Hint | None:
    """The hint for a literal key that an object does not have."""
    hint = member_hint(facts, value, name)
    if isinstance(hint, Hint) and hint.instead is not None:
        return replace(hint, instead=show_value(hint.instead))
    return hint


def index_hint(value: Type, key: Type, node: n.Expression) -> str | None:
    """The hint for `value[key]` if the value has no items for such keys, or None."""
    match value, node:
        case MapType(), _ if key in KEYS:
            return conversion_hint(value.key.kind, "converts it to a key")
        case RecordType(), n.Literal() if key == STRING:
            return f"a field of a record is read by its name: `x.{node.value}`"
        case RecordType(definition=n.RecordDef(fields=[first, *_])), _:
            return f"a field of a record is read by its name: `x.{first.name.text}`"
        case _:
            return "`rows(x)` returns the rows as a list" if value == DATAFRAME else None


def conversion_hint(kind: str, purpose: str) -> str:
    """The hint to call the builtin that converts a value to a kind, such as `str(x)`."""
    return f"`{'str' if kind == 'string' else kind}(x)` {purpose}"


def listed(words: str, names: Iterable[str]) -> str | None:
    """A text of `words` and the names, or None if there are no names."""
    unique = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return f"{words} {unique}" if unique else None


def kind_hint(kind: str) -> str | Hint:
    """The hint for a string that is not a kind of failure."""
    meant = did_you_mean(kind, FAILURE_KINDS)
    if meant is None:
        return f"the kinds are {', '.join(FAILURE_KINDS)}"
    return replace(meant, instead=f'"{meant.instead}"')


def format_hint(type_: Type, spec: str) -> str:
    """The hint for a format that values of the type do not accept."""
    if is_only(type_, "date", "datetime", "time"):
        return "such as `%d.%m.%Y`, `%H:%M` and `%A`"
    if any(takes_format(one, spec) for one in (INT, FLOAT, STRING)):
        return "use a number or a string; `str(x)` converts any value to a string"
    return "such as `,`, `.2f`, `.1%` and `>10`"


def argument_hint(
    facts: Facts, builtin: Builtin, parameter: Param, argument: n.Argument, given: Type
) -> str:
    """The hint for a value of type `given` that a parameter of a builtin does not accept."""
    name = builtin.name
    if given == RESULT:
        return _OF_RESULT
    if isinstance(given, RecordType) and builtin.is_of_objects:
        fields = ", ".join(f"`x.{name}`" for name in facts.fields_of(given))
        return f"a record is not an object; its fields are read one by one: {fields}"
    if parameter.items and "by" in builtin.names and is_only(given, *ITEMS):
        return f"`{name}(xs, by: f)` compares the results of a function"
    if name == "duration" and given in (INT, FLOAT):
        return "write it as in `duration(days: 3)`"
    is_text = name in DATES and argument.name is None
    return date_hint(name) if is_text else f"this is what `{name}` takes"


def date_hint(name: str) -> str:
    """The hint with an example of a string that the builtin `name` can read."""
    return f'write it as in `{name}("{EXAMPLES_OF_DATES[name]}")`'


def history_hint(facts: Facts, node: n.Expression) -> str:
    """The hint that says why `node` has a plain value without the history of a prompt."""
    match node:
        case n.Call(function=n.Name() as function):
            definition = facts.names.of(function).node
            if isinstance(definition, n.FunctionDef) and definition.returns is not None:
                return f"`{function.text}` returns the plain value; `-> Result` returns all of it"
        case n.Index():
            return _ITEM_HINT
        case n.Name():
            symbol = facts.names.of(node)
            if symbol.kind == "parameter":
                return f"an argument is a plain value; `{node.text}: Result` takes the whole result"
            if isinstance(symbol.node, n.ForStmt):
                return _ITEM_HINT
            if isinstance(symbol.node, n.AssignStmt) and isinstance(
                symbol.node.value, n.Call | n.Index
            ):
                return history_hint(facts, symbol.node.value)
            own = f"bind the prompt to another name, or write `{node.text}: Result = $ ... $`"
            return f"`{node.text}` is bound to a plain value, not (only) to a prompt: {own}"
        case _:
            pass
    return "only a name that is bound directly to a prompt keeps its history"


_ITEM_HINT = "an item of a list is a plain value, unless the list is declared `[Result]`"


def conversation_hint(facts: Facts, node: n.Expression) -> str:
    """The hint for a plain value `node` behind `after`: it says what to write instead."""
    match node:
        case n.Member(value=n.Name() as owner) if facts.result_of(owner) is not None:
            return f"write `after {owner.text}`"
        case n.Name(text=text) if facts.names.of(node).kind == "parameter":
            return f"an argument is a plain value, unless the parameter is `{text}: Result`"
        case n.Index():
            return _ITEM_HINT
        case _:
            return history_hint(facts, node)
