"""Chooses how values are written in Python where several forms are possible.

print(x)            x itself, or show(x)
str(x)              x itself, str(x), or show(x)
join(a, b)          which of the two is the separator
sorted(xs, by: f)   key=f, key=len, key=str.upper
tags: [string] = [] a shared default, or one that each record (or call) creates
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from saftc.check.facts import Facts, FunctionFacts
from saftc.check.forms import BuiltinCall, Form
from saftc.check.forward import ends
from saftc.infer.failures import never_fails
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.builtins import BUILTINS, ITEMS, TEXT
from saftc.types.types import (
    ANY,
    DECIMAL,
    DURATION,
    NIL,
    FunctionType,
    ListType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    Type,
    is_only,
    item_type,
    kind_word,
    members,
    union,
)

# The kinds whose text is the same in Python.
_ALIKE = ("int", "float", "date", "time", "decimal", "dataframe")


class Text(Enum):
    """How the conversion of a value to a text is written."""

    # The value is a text.
    ITSELF = auto()
    # `str(value)`, which `print` does as well.
    STR = auto()
    # `show(value)`.
    SHOW = auto()


class Default(Enum):
    """How the default of a record's field is written.

    Python shares a default between all records, and rejects a default that could be changed.
    """

    # Unchanged.
    SHARED = auto()
    # A list or an object that each record creates.
    MADE = auto()
    # The value at the definition of the record; each record copies it: `names.copy`.
    COPIED = auto()
    # The same, for a value that `copy` cannot copy: `lambda value=x: value`.
    HELD = auto()


class JoinCall(NamedTuple):
    """The separator and the items of a `join`."""

    separator: n.Expression | None
    items: n.Expression


class Key(NamedTuple):
    """The name of a Python function that is the sort key: `len`, or `upper` of the owner `str`."""

    owner: str | None
    name: str


class Values:
    """Chooses how the values of a module are written, by the facts about the module."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def text(self, node: n.Expression) -> Text:
        """How the conversion of a value to a text is written."""
        return self.text_of(self.facts.type_of(node))

    def text_of(self, type_: Type) -> Text:
        """How the conversion to a text is written for values of a type."""
        if is_only(type_, "string"):
            return Text.ITSELF
        return Text.STR if is_only(type_, "string", *_ALIKE) else Text.SHOW

    def are(self, kind: str, *nodes: n.Expression) -> bool:
        """Whether the values of all nodes are of the given kind."""
        return all(is_only(self.facts.type_of(one), kind) for one in nodes)

    # Builtins

    def joined(self, given: Sequence[n.Expression]) -> JoinCall:
        """The separator and the items among the arguments of a `join`.

        A script may use either order.
        """
        if len(given) == 1:
            return JoinCall(None, given[0])
        one, other = given
        is_first = is_only(self.facts.type_of(one), *ITEMS)
        return JoinCall(other, one) if is_first else JoinCall(one, other)

    def sum_of_none(self, node: n.Expression) -> Scalar | None:
        """The type of a sum of decimals or durations. Returns None for other sums.

        Such a sum needs a start value, because Python's sum of no items is the int 0.
        """
        added = BUILTINS["sum"].ways[0].result([self.facts.type_of(node)])
        return added if isinstance(added, Scalar) and added in (DECIMAL, DURATION) else None

    def is_ordered_by_python(self, form: BuiltinCall, by: n.Expression) -> bool:
        """Whether Python's `sorted`, `min` or `max` orders by the function `by` as Saft does."""
        function = self.facts.type_of(by)
        if isinstance(function, FunctionType) and function.definition in self.facts.history.does:
            return False
        return form.form != Form.OPS and form.arguments is not None

    def key(self, by: n.Expression, values: Sequence[n.Expression]) -> Key | None:
        """The Python function that can replace the builtin `by` as a sort key.

        Returns None if the value of `by` itself must be the key.
        """
        if not isinstance(by, n.Name) or self.facts.names.of(by).kind != "builtin":
            return None
        types = [self.facts.type_of(one) for one in values]
        element = item_type(types[0]) if len(types) == 1 else union(types)
        way = BUILTINS[by.text].select_overload([(None, element)])
        python = way.python
        if not way.is_proved([element]) or python.module:
            return None
        if python.how == "method" and way.parameters[0].kinds == TEXT:
            return Key("str", python.name)
        is_sum = by.text == "sum" and is_only(item_type(element), "int", "float", "decimal")
        is_function = python.how == "function" or by.text == "len" or is_sum
        return Key(None, by.text) if is_function else None

    # Records and functions

    def default(self, node: n.Expression) -> Default:
        """How the default of a record's field is written."""
        type_ = self.facts.type_of(node)
        is_plain = node not in self.facts.coercions
        is_list = is_plain and isinstance(node, n.ListLiteral)
        is_object = is_plain and isinstance(node, n.ObjectLiteral)
        if not (is_list or is_object) and not self._may_be_refused(type_):
            return Default.SHARED
        if isinstance(node, n.Call) and self._is_made_of_literals(node):
            return Default.MADE
        says_names = any(isinstance(part, n.Name | n.Call | n.Prompt) for part in walk(node))
        if is_object or (is_list and not says_names):
            return Default.MADE
        is_copied = isinstance(type_, ListType | MapType | ObjectType)
        return Default.COPIED if is_copied else Default.HELD

    def _is_made_of_literals(self, node: n.Call) -> bool:
        """Whether a call creates a record from literals only.

        Each such call makes an equal value.
        """
        return self.facts.record_of(node.function) is not None and all(
            isinstance(argument.value, n.Literal) for argument in node.arguments
        )

    def _may_be_refused(self, type_: Type) -> bool:
        """Whether a value of this type may be one that Python rejects as a field's default."""
        return any(
            self.facts.is_of_python(member) and not self.facts.is_enum(member)
            if isinstance(member, RecordType)
            else member == ANY or kind_word(member) in ("list", "object", "dataframe")
            for member in members(type_)
        )

    def gives_none_at_its_end(self, function: FunctionFacts) -> bool:
        """Whether a function needs `return None` at its end because it returns values elsewhere."""
        type_ = function.returns
        return NIL in members(type_) and type_ != NIL and not ends(function.node.body)

    def is_made_late(self, message: n.Expression) -> bool:
        """Whether the message of a rule is created only if the rule is broken.

        This is the case if creating the message may fail.
        """
        is_counted = any(
            isinstance(part, n.Binary) and not is_only(self.facts.type_of(part), "string", "int")
            for part in walk(message)
        )
        # A number may be too large for arithmetic.
        return is_counted or not never_fails(self.facts, message)


def declared_object(type_: Type) -> ObjectType | None:
    """Returns the only member of a type that is an object type with a class in the module.

    Returns None if there is no such member, or more than one.
    """
    declared = [one for one in members(type_) if isinstance(one, ObjectType) and one.is_declared]
    return declared[0] if len(declared) == 1 else None


def is_made_anew(parameter: n.Parameter) -> bool:
    """Whether a parameter's default is a list or object literal without names, calls and prompts.

    Each call must create it anew, because Python would share one value between all calls.
    """
    node = parameter.default
    if not isinstance(node, n.ListLiteral | n.ObjectLiteral):
        return False
    return not any(isinstance(part, n.Name | n.Call | n.Prompt) for part in walk(node))


def emptied(type_: Type, *, is_list: bool) -> Type:
    """The type of an empty list, or of an empty object, where a value of type `type_` is wanted."""
    if type_ == ANY:
        return ListType(ANY) if is_list else MapType(ANY)
    wanted = ListType if is_list else MapType
    found = [one for one in members(type_) if isinstance(one, wanted)]
    return found[0] if len(found) == 1 else type_
