"""The form of a construct: which of several ways to write it in Python does what Saft means.

Inference decides it once, where it has the types of the parts in hand; the emitter writes it.

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
    """A form that needs no more to be said."""

    # Python's own operator, subscript, call or loop: the types prove that it means the same.
    NATIVE = auto()
    # The operation of the runtime of the same name, which asks for the types when the script runs.
    OPS = auto()
    # What is in the structure of a result's text: `ops.member(result.data, "name")`.
    STRUCTURE = auto()
    # `value["name"]`: the field of an object.
    ITEM = auto()
    # `value.get("name")`: a field that may lack, as Python's classes of objects have some.
    GET = auto()
    # `len(value)`.
    LENGTH = auto()
    # `for row in table.iter_rows(named=True)`.
    ROWS = auto()
    # `for piece in prompt(..., stream=True).pieces()`.
    PIECES = auto()
    # `for row in rows.items()`, of a stream that is kept: each when it is there.
    ITEMS = auto()
    # `for draft in prompt(..., stream=True).drafts()`: the value as far as it is there.
    DRAFTS = auto()
    # The same of a list, which has one item more in each turn: `.items()` are added to it.
    GROWING = auto()
    # `ops.send(value, "name", ...)`: a call of a member of which nothing is known.
    SEND = auto()
    # `for x in ops.each(value)`: it may not be a list or tuple.
    EACH = auto()
    # `for a, b in ops.each_of(value, 2)`: an item may not be a tuple of that length.
    EACH_OF = auto()


class Test(Enum):
    """How a value of some type is tested for truth; only `false` and `nil` are false."""

    # It is `True` or `False`: it is its own test.
    BOOL = auto()
    # `True`, `False` or None: its own test in a condition; as a bool it is `value is True`.
    BOOL_OR_NIL = auto()
    # Never `false`: `value is not None`.
    NOT_NIL = auto()
    # `ops.truthy(value)`.
    TRUTHY = auto()


@dataclass(frozen=True, slots=True)
class Attribute:
    """`value.name`: a field of a record, a name of a module, a member of imported Python, or what
    polars calls `name` in a dataframe."""

    name: str


@dataclass(frozen=True, slots=True)
class Getter:
    """`value.name()`: a member of a date or the like, which Python has as a method."""

    name: str


@dataclass(frozen=True, slots=True)
class OfResult:
    """`result.attribute`, of the whole result of a prompt and not of its value."""

    attribute: str


@dataclass(frozen=True, slots=True)
class IsTest:
    """`tested is constant` for `==`, `is not` for `!=`: it is `nil`, `true` or `false`."""

    tested: n.Expression
    constant: n.Expression


@dataclass(frozen=True, slots=True)
class KindTest:
    """`type(tested) == word`, negated for `!=`.

    `by` is how Python asks for it: `tested is None` ("none"); `type(tested) is` the class, where a
    bool may not count as an int, nor a value of a class below for one of this ("exact");
    `isinstance(tested, ...)` of the class ("instance"). Where Python has no such class, or what is
    of it may be of another kind, it stays the comparison that it is, of texts ("text").
    """

    tested: n.Expression
    word: str
    by: Literal["none", "exact", "instance", "text"]


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A call of a builtin function by its name.

    `way` is the one of its ways that is meant: that for a column of a dataframe, maybe.
    `arguments` are those given, in the order of the parameters; None where they are passed on as
    they are written, with their names. Of a native call they are never None. `by` is the function
    that the items are ordered by.
    """

    builtin: Builtin
    way: Overload
    arguments: tuple[n.Expression, ...] | None
    form: Literal[Form.NATIVE, Form.OPS]
    by: n.Expression | None = None


@dataclass(frozen=True, slots=True)
class DirectCall:
    """A call that is a Python call of the same function: of a function or record, whose parameters
    or fields the named arguments are, or (None) of something that was imported from Python, which
    may give what is awaited."""

    definition: n.FunctionDef | n.RecordDef | None
    waits: Waiting = "no"


@dataclass(frozen=True, slots=True)
class Append:
    """`xs.append(item)`, or `xs.extend([...])` of several items and spreads."""

    items: tuple[n.Expression | n.Spread, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """`xs.extend(added)`."""

    added: n.Expression | n.Spread


@dataclass(frozen=True, slots=True)
class Put:
    """`row["id"] = 3` where it `is_item`, else `row.update({...})`."""

    entries: tuple[n.Entry, ...]
    is_item: bool


# What makes a changed copy of a record: `dataclasses.replace(record, field=value)`, a NamedTuple's
# own `record._replace(field=value)`, or `changed(record, field=value)` of the runtime.
CopiedBy = Literal["replace", "_replace", "changed"]


@dataclass(frozen=True, slots=True)
class ChangedCopy:
    """`{...ticket, severity: "high"}`: a copy of what is spread first, in which fields change.

    `record` is what that certainly is; None where it may be one of several records. If it `is_open`
    nothing is known of it: an object gives an object, a record one of its own.
    """

    by: CopiedBy
    record: n.RecordDef | None = None
    is_open: bool = False


# How an assignment changes the list or object of its name in place (see `ownership`).
Growth = Append | Extend | Put
OperatorForm = Literal[Form.NATIVE, Form.OPS] | IsTest | KindTest
_Member = Literal[Form.ITEM, Form.GET, Form.LENGTH, Form.STRUCTURE, Form.OPS]
MemberForm = _Member | Attribute | Getter | OfResult
ItemForm = Literal[Form.NATIVE, Form.GET, Form.STRUCTURE, Form.OPS]
# `Form.NATIVE` is `function(...)` of a value of a function type, `Form.OPS` `ops.call(...)`.
CallForm = BuiltinCall | DirectCall | Literal[Form.NATIVE, Form.SEND, Form.OPS]
# The forms of loops that go over what a model writes, while it is written.
PartsForm = Literal[Form.PIECES, Form.ITEMS, Form.DRAFTS, Form.GROWING]
LoopForm = Literal[Form.NATIVE, Form.ROWS, Form.EACH, Form.EACH_OF] | PartsForm
IN_PARTS = (Form.PIECES, Form.ITEMS, Form.DRAFTS, Form.GROWING)
# `Form.OPS` is `ops.unpack(value, 2)`.
UnpackForm = Literal[Form.NATIVE, Form.OPS]
# Of a hole with a format; `Form.OPS` is `ops.format(value, ".2f")`.
HoleForm = Literal[Form.NATIVE, Form.OPS]
# Of spreads and computed keys.
SpreadForm = Literal[Form.NATIVE, Form.OPS]

Operator = n.Unary | n.Binary | n.Comparison
ItemAccess = n.Index | n.Slice | n.TupleMember
Loop = n.ForStmt | n.ComprehensionClause


@dataclass(slots=True)
class Forms:
    """The forms of a script's constructs, by family.

    `operators`: `-x`, arithmetic, comparisons (`not`, `and`, `or` are made of `tests`).
    `copies`: the objects that are a changed copy of a record, or may be one.
    `tests`: each expression that is a condition, or an operand of `not`, `and`, `or`, and is none
    of these itself.
    """

    operators: dict[Operator, OperatorForm] = field(default_factory=dict[Operator, OperatorForm])
    members: dict[n.Member, MemberForm] = field(default_factory=dict[n.Member, MemberForm])
    items: dict[ItemAccess, ItemForm] = field(default_factory=dict[ItemAccess, ItemForm])
    calls: dict[n.Call, CallForm] = field(default_factory=dict[n.Call, CallForm])
    tests: dict[n.Expression, Test] = field(default_factory=dict[n.Expression, Test])
    loops: dict[Loop, LoopForm] = field(default_factory=dict[Loop, LoopForm])
    # What each turn takes of a loop `IN_PARTS`.
    parts: dict[Loop, Type] = field(default_factory=dict[Loop, Type])
    holes: dict[n.FormatHole, HoleForm] = field(default_factory=dict[n.FormatHole, HoleForm])
    unpackings: dict[n.UnpackStmt, UnpackForm] = field(
        default_factory=dict[n.UnpackStmt, UnpackForm]
    )
    spreads: dict[n.Spread, SpreadForm] = field(default_factory=dict[n.Spread, SpreadForm])
    keys: dict[n.Expression, SpreadForm] = field(default_factory=dict[n.Expression, SpreadForm])
    # What such a key, or those of an object that is spread, have to be, where it is no text.
    dated: dict[n.Expression | n.Spread, Scalar] = field(
        default_factory=dict[n.Expression | n.Spread, Scalar]
    )
    copies: dict[n.ObjectLiteral, ChangedCopy] = field(
        default_factory=dict[n.ObjectLiteral, ChangedCopy]
    )


def native_if(is_proved: bool) -> Literal[Form.NATIVE, Form.OPS]:
    """Python's own form if the types prove that it is right."""
    return Form.NATIVE if is_proved else Form.OPS


def test_of(type_: Type) -> Test:
    """How a value of `type_` is tested for truth."""
    if is_only(type_, "bool"):
        return Test.BOOL
    if is_only(type_, "bool", "nil"):
        return Test.BOOL_OR_NIL
    is_nil_when_false = NIL in members(type_) and not may_be(without(type_, NIL), BOOL)
    return Test.NOT_NIL if is_nil_when_false else Test.TRUTHY


def loop_form(pattern: n.Pattern, iterable: Type) -> LoopForm:
    """How a loop with `pattern` goes over a value of type `iterable`."""
    if not unpacks(pattern, item_type(iterable)):
        return Form.EACH_OF
    if is_only(iterable, "dataframe"):
        return Form.ROWS
    return Form.NATIVE if is_only(iterable, "list", "tuple") else Form.EACH


def takes_format(type_: Type, spec: str) -> bool | None:
    """Whether a value of a type that is not a union takes a format; None when nothing is known."""
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


# What a format is tried on, by the kind of what it is for.
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
    """How a value of `type_` is unpacked; how long a list is, Python finds out as well."""
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
    """A pattern and those in it, each with what it takes of a value of `type_`."""
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
    """Whether Python knows the value of `node`, other than None, True and False, beforehand.

    It warns of `is` beside such a value.
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
    """The arguments but `by`, by the positions of their parameters."""
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
    """Whether it does not matter when `node` is evaluated: it is a name or a literal."""
    return isinstance(node, n.Name | n.Literal)


def written_value(node: n.Expression) -> int | float | str | bool | None:
    """The value of a literal, a negative number included."""
    match node:
        case n.Literal():
            return node.value
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as value)):
            return None if isinstance(value, bool) else -value
        case _:
            return None
