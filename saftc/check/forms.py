"""The Python form of a construct: the translation that is correct for its types.

Type inference chooses the form, as it knows the types; the code generator writes the form.

    a + b       Form.NATIVE     a + b                   Form.OPS    ops.add(a, b)
    row.price   Form.ITEM       row["price"]            Form.OPS    ops.member(row, "price")
    if x:       Test.NOT_NIL    if x is not None:       Test.TRUTHY if ops.truthy(x):
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, auto
from typing import Literal

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.builtins import Builtin, Overload
from saftc.types.foreign import Waiting
from saftc.types.types import (
    ANY,
    BOOL,
    NEVER,
    NIL,
    ListType,
    Scalar,
    TupleType,
    Type,
    is_only,
    item_type,
    kind_word,
    may_be,
    members,
    union,
    without,
)


class Form(Enum):
    """A form that needs no data. The classes below are the forms with data."""

    # Python's own operator, subscript, call or loop: the types prove that it is equivalent.
    NATIVE = auto()
    # The runtime's operation of the same name, which checks the types when the script runs.
    OPS = auto()
    # `ops.member(result.data, "name")`: a part of the JSON in an untyped result's text.
    STRUCTURE = auto()
    # `value["name"]`: the field of an object.
    ITEM = auto()
    # `value.get("name")`: a field that may be absent, as in some TypedDicts.
    GET = auto()
    # `len(value)`.
    LENGTH = auto()
    # `for row in table.iter_rows(named=True)`.
    ROWS = auto()
    # `for piece in prompt(..., stream=True).pieces()`.
    PIECES = auto()
    # `for row in rows.items()`: the items of a stream in a variable, each when it arrives.
    ITEMS = auto()
    # `for draft in prompt(..., stream=True).drafts()`: the value received so far.
    DRAFTS = auto()
    # As DRAFTS, but for a list: the loop adds each of `.items()` to a list, which is the draft.
    GROWING = auto()
    # `ops.send(value, "name", ...)`: a call of an unknown member.
    SEND = auto()
    # `for x in ops.each(value)`: the value may not be a list or tuple.
    EACH = auto()
    # `for a, b in ops.each_of(value, 2)`: an item may not be a tuple of that length.
    EACH_OF = auto()


class Test(Enum):
    """How Python tests a value for truth. In Saft, only `false` and `nil` are false."""

    # `value`, which is `True` or `False`.
    BOOL = auto()
    # `value` in a condition, `value is True` for a bool: it is `True`, `False` or None.
    BOOL_OR_NIL = auto()
    # Never `false`: `value is not None`.
    NOT_NIL = auto()
    # `ops.truthy(value)`.
    TRUTHY = auto()


@dataclass(frozen=True, slots=True)
class Attribute:
    """`value.name`: a field of a record, a member of a Python value or module, or an attribute of a
    dataframe."""

    name: str


@dataclass(frozen=True, slots=True)
class Getter:
    """`value.name()`: a member that is a method in Python, such as `weekday` of a date."""

    name: str


@dataclass(frozen=True, slots=True)
class ResultAttribute:
    """`result.attribute`: an attribute of a prompt's whole result, not of its value."""

    attribute: str


@dataclass(frozen=True, slots=True)
class IsTest:
    """`tested is constant` for `==`, and `tested is not constant` for `!=`.

    The constant is `nil`, `true` or `false`.
    """

    tested: n.Expression
    constant: n.Expression


@dataclass(frozen=True, slots=True)
class KindTest:
    """The test `type(tested) == word` of a script, or the same test with `!=`.

    `by` says how Python tests the value. "none": by `tested is None`. "exact": by
    `type(tested) is ...`, because values of subclasses must not match (bool is a subclass of int).
    "instance": by `isinstance(tested, ...)`. "text": by a comparison of strings, because Python has
    no class for the kind, or values of the class may be of another kind.
    """

    tested: n.Expression
    word: str
    by: Literal["none", "exact", "instance", "text"]


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A call of a builtin function by its name.

    `way`: the selected overload. `arguments`: the arguments in the order of the parameters, or
    None if the arguments are passed with their names, as in the script. A native call always has
    `arguments`. `by`: the function whose results `sorted`, `min` or `max` compares.
    """

    builtin: Builtin
    way: Overload
    arguments: tuple[n.Expression, ...] | None
    form: Literal[Form.NATIVE, Form.OPS]
    by: n.Expression | None = None


@dataclass(frozen=True, slots=True)
class DirectCall:
    """A plain Python call. The callee is a function or record of a script, or comes from Python.

    `definition`: the function or record, or None if the callee is from Python. `waits`: whether the
    call returns an awaitable.
    """

    definition: n.FunctionDef | n.RecordDef | None
    waits: Waiting = "no"


@dataclass(frozen=True, slots=True)
class Append:
    """`xs.append(item)`, or `xs.extend([...])` for several items or spreads."""

    items: tuple[n.Expression | n.Spread, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """`xs.extend(added)`: the list in `xs` is extended in place."""

    added: n.Expression | n.Spread


@dataclass(frozen=True, slots=True)
class Put:
    """`row["id"] = 3` if `is_item`, else `row.update({...})`: an object changes in place."""

    entries: tuple[n.Entry, ...]
    is_item: bool


# The function that makes a changed copy of a record: `dataclasses.replace(record, field=value)`,
# a NamedTuple's `record._replace(field=value)`, or the runtime's `changed(record, field=value)`.
CopiedBy = Literal["replace", "_replace", "changed"]


@dataclass(frozen=True, slots=True)
class ChangedCopy:
    """`{...ticket, severity: "high"}`: a copy of the first spread value with changed fields.

    `record`: the definition of the record, or None if several records are possible. `is_open`: the
    value may also be a plain object, and then the copy is a plain object, too.
    """

    by: CopiedBy
    record: n.RecordDef | None = None
    is_open: bool = False


# The forms of assignments that update the list or object of a name in place (see `ownership`).
Growth = Append | Extend | Put
OperatorForm = Literal[Form.NATIVE, Form.OPS] | IsTest | KindTest
_Member = Literal[Form.ITEM, Form.GET, Form.LENGTH, Form.STRUCTURE, Form.OPS]
MemberForm = _Member | Attribute | Getter | ResultAttribute
ItemForm = Literal[Form.NATIVE, Form.GET, Form.STRUCTURE, Form.OPS]
# `Form.NATIVE` is `function(...)` of a value of a function type, `Form.OPS` `ops.call(...)`.
CallForm = BuiltinCall | DirectCall | Literal[Form.NATIVE, Form.SEND, Form.OPS]
# The forms of loops over a model's reply while it arrives.
PartsForm = Literal[Form.PIECES, Form.ITEMS, Form.DRAFTS, Form.GROWING]
LoopForm = Literal[Form.NATIVE, Form.ROWS, Form.EACH, Form.EACH_OF] | PartsForm
IN_PARTS = (Form.PIECES, Form.ITEMS, Form.DRAFTS, Form.GROWING)
# `Form.OPS` is `ops.unpack(value, 2)`.
UnpackForm = Literal[Form.NATIVE, Form.OPS]
# The forms of holes with a format; `Form.OPS` is `ops.format(value, ".2f")`.
HoleForm = Literal[Form.NATIVE, Form.OPS]
# The forms of spreads and computed keys.
SpreadForm = Literal[Form.NATIVE, Form.OPS]

Operator = n.Unary | n.Binary | n.Comparison
ItemAccess = n.Index | n.Slice | n.TupleMember
Loop = n.ForStmt | n.ComprehensionClause


@dataclass(slots=True)
class Forms:
    """The forms of a script's constructs, with a table for each kind of construct.

    `operators` are `-x`, arithmetic and comparisons. `copies` are the object literals that are, or
    may be, a changed copy of a record. `tests` are conditions, and operands of `not`, `and` and
    `or`. These three operators have no form, but their operands do.
    """

    operators: dict[Operator, OperatorForm] = field(default_factory=dict[Operator, OperatorForm])
    members: dict[n.Member, MemberForm] = field(default_factory=dict[n.Member, MemberForm])
    items: dict[ItemAccess, ItemForm] = field(default_factory=dict[ItemAccess, ItemForm])
    calls: dict[n.Call, CallForm] = field(default_factory=dict[n.Call, CallForm])
    tests: dict[n.Expression, Test] = field(default_factory=dict[n.Expression, Test])
    loops: dict[Loop, LoopForm] = field(default_factory=dict[Loop, LoopForm])
    # The type of the value that each turn of a loop `IN_PARTS` gets.
    parts: dict[Loop, Type] = field(default_factory=dict[Loop, Type])
    holes: dict[n.FormatHole, HoleForm] = field(default_factory=dict[n.FormatHole, HoleForm])
    unpackings: dict[n.UnpackStmt, UnpackForm] = field(
        default_factory=dict[n.UnpackStmt, UnpackForm]
    )
    spreads: dict[n.Spread, SpreadForm] = field(default_factory=dict[n.Spread, SpreadForm])
    keys: dict[n.Expression, SpreadForm] = field(default_factory=dict[n.Expression, SpreadForm])
    # The type of a computed key, or of the keys of a spread object, if it is not string.
    dated: dict[n.Expression | n.Spread, Scalar] = field(
        default_factory=dict[n.Expression | n.Spread, Scalar]
    )
    copies: dict[n.ObjectLiteral, ChangedCopy] = field(
        default_factory=dict[n.ObjectLiteral, ChangedCopy]
    )


def native_if(is_proved: bool) -> Literal[Form.NATIVE, Form.OPS]:
    """`Form.NATIVE` if the types prove that it is correct, else `Form.OPS`."""
    return Form.NATIVE if is_proved else Form.OPS


def test_of(type_: Type) -> Test:
    """The truth test for a value of `type_`."""
    if is_only(type_, "bool"):
        return Test.BOOL
    if is_only(type_, "bool", "nil"):
        return Test.BOOL_OR_NIL
    is_nil_when_false = NIL in members(type_) and not may_be(without(type_, NIL), BOOL)
    return Test.NOT_NIL if is_nil_when_false else Test.TRUTHY


def loop_form(pattern: n.Pattern, iterable: Type) -> LoopForm:
    """The form of a loop with `pattern` over a value of type `iterable`."""
    if not unpacks(pattern, item_type(iterable)):
        return Form.EACH_OF
    if is_only(iterable, "dataframe"):
        return Form.ROWS
    return Form.NATIVE if is_only(iterable, "list", "tuple") else Form.EACH


def takes_format(type_: Type, spec: str) -> bool | None:
    """Whether values of `type_` accept the format `spec`, or None if the type is unknown.

    The type must not be a union.
    """
    if type_ in (ANY, NEVER):
        return None
    sample = _FORMATTED.get(kind_word(type_) or "")
    if sample is None or (isinstance(sample, date | time) and "%" not in spec):
        return False
    try:
        format(sample, spec)
    except (ValueError, OverflowError, MemoryError):
        return False
    return True


# A sample value of each kind, on which `takes_format` tries a format.
_FORMATTED: dict[str, object] = {
    "int": 1,
    "float": 1.0,
    "string": "",
    "date": date(2026, 1, 31),
    "datetime": datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
    "time": time(9, 30),
    "decimal": Decimal(1),
}


def unpack_form(pattern: n.TuplePattern, type_: Type) -> UnpackForm:
    """The form of unpacking a value of `type_`.

    A list can be unpacked natively: Python itself checks that it has the right length.
    """
    return native_if(
        all(
            all(unpacks(item, member.item) for item in pattern.items)
            if isinstance(member, ListType)
            else unpacks(pattern, member)
            for member in members(type_)
        )
    )


def unpacks(pattern: n.Pattern, type_: Type) -> bool:
    """Whether a value of `type_` certainly fits the pattern."""
    if isinstance(pattern, n.NamePattern) or type_ == NEVER:
        return True
    return all(
        isinstance(member, TupleType)
        and len(member.items) == len(pattern.items)
        and all(map(unpacks, pattern.items, member.items))
        for member in members(type_)
    )


def parts_of(pattern: n.Pattern, type_: Type) -> Iterator[tuple[n.Pattern, Type]]:
    """Yields a pattern and its inner patterns, each with the type of the value that it unpacks.

    The outermost pattern unpacks a value of `type_`.
    """
    yield pattern, type_
    if isinstance(pattern, n.TuplePattern):
        for position, item in enumerate(pattern.items):
            yield from parts_of(item, _unpacked(type_, position, len(pattern.items)))


def _unpacked(type_: Type, position: int, count: int) -> Type:
    results: list[Type] = []
    for member in members(type_):
        match member:
            case TupleType() if len(member.items) == count:
                results.append(member.items[position])
            case ListType():
                results.append(item_type(member))
            case _:
                results.append(ANY)
    return union(results)


def is_singleton(node: n.Expression) -> bool:
    """Whether `node` is `nil`, `true` or `false`, which Python compares with `is`."""
    return isinstance(node, n.Literal) and (node.value is None or isinstance(node.value, bool))


def is_written_out(node: n.Expression) -> bool:
    """Whether `node` is a constant in Python other than None, True and False.

    Python warns about an `is` whose operand is such a constant.
    """
    if is_singleton(node):
        return False
    # `div(7, 2)` is `7 // 2`, and `str("a")` is "a".
    is_operator = {
        inner.function
        for inner in walk(node)
        if isinstance(inner, n.Call)
        and isinstance(inner.function, n.Name)
        and inner.function.text in ("div", "str")
    }
    unknown = n.Name | n.Prompt | n.Comprehension
    return all(not isinstance(inner, unknown) or inner in is_operator for inner in walk(node))


def arguments_by_position(node: n.Call, way: Overload) -> dict[int, n.Expression]:
    """Maps the position of each passed parameter to its argument. The argument `by` is left out."""
    names = [parameter.name for parameter in way.parameters]
    by = way.by.name if way.by else None
    return {
        names.index(argument.name.text)
        if argument.name and argument.name.text in names
        else position: argument.value
        for position, argument in enumerate(node.arguments)
        if by is None or argument.name is None or argument.name.text != by
    }


def is_settled(node: n.Expression) -> bool:
    """Whether `node` is a name or a literal, which can be evaluated earlier or later."""
    return isinstance(node, n.Name | n.Literal)


def written_value(node: n.Expression) -> int | float | str | bool | None:
    """The value of a literal or of a negative number, or None for any other expression.

    The value of the literal `nil` is None, too.
    """
    match node:
        case n.Literal():
            return node.value
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as value)):
            return None if isinstance(value, bool) else -value
        case _:
            return None
