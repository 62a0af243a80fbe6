"""Conditions: what a test can turn out to be, and what it shows about the variables in it.

After `if ticket.reply_by:` the member is not nil in the branch; so `string?` is `string` there, and
the output concatenates natively. Values never change, so what a test has shown of a member holds
until the variable is assigned again.
"""

from collections.abc import Callable
from functools import partial

from saftc.diagnostics import catalogue
from saftc.semantics.base import Base
from saftc.semantics.environment import Environment, Path
from saftc.semantics.forms import KindTest, test_of
from saftc.semantics.relations import can_be_equal
from saftc.semantics.scopes import Symbol
from saftc.semantics.types import (
    ANY,
    BOOL,
    DATAFRAME,
    FLOAT,
    INT,
    NEVER,
    NIL,
    STRING,
    ListType,
    LiteralType,
    Type,
    kind_word,
    may_be,
    members,
    show,
    union,
)
from saftc.syntax import nodes as n

# What `type(x) == "word"` shows of a value of which nothing was known.
_KINDS: dict[str, Type] = {
    "string": STRING,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "nil": NIL,
    "list": ListType(ANY),
    "dataframe": DATAFRAME,
}


def can_be_true(type_: Type) -> bool:
    """Whether a value of `type_` can be true: only `false` and `nil` are not."""
    return any(member != NIL and not _is_false(member) for member in members(type_))


def can_be_false(type_: Type) -> bool:
    """Whether a value of `type_` can be false."""
    return may_be(type_, BOOL) or may_be(type_, NIL) or type_ == NEVER


Keeps = Callable[[Type], bool]


class Conditions(Base):
    """The part of inference that knows conditions."""

    def condition(self, node: n.Expression, env: Environment) -> None:
        match node:
            case n.Logical():
                self.keep(node, BOOL)
                self.condition(node.left, env)
                inner = Environment(env)
                self.narrow(node.left, inner, truth=node.operator == "and")
                self.condition(node.right, inner)
            case n.Unary(operator="not"):
                self.keep(node, BOOL)
                self.condition(node.operand, env)
            case n.Prompt():
                self.facts.forms.tests[node] = test_of(self.expression(node, env, BOOL))
            case _:
                type_ = self.expression(node, env)
                self.facts.forms.tests[node] = test_of(type_)
                self._warn_if_constant(node, type_)

    def _warn_if_constant(self, node: n.Expression, type_: Type) -> None:
        if not can_be_false(type_):
            self.report(
                catalogue.ALWAYS_TRUE.at(
                    node.span, hint=f"only `false` and `nil` are false; this is {show(type_)}"
                )
            )
        elif not can_be_true(type_) and type_ != NEVER and not isinstance(node, n.Literal):
            self.report(catalogue.ALWAYS_FALSE.at(node.span, hint=f"this is {show(type_)}"))

    def narrow(self, node: n.Expression, env: Environment, *, truth: bool) -> None:
        match node:
            case n.Unary(operator="not"):
                self.narrow(node.operand, env, truth=not truth)
            case n.Logical():
                # Both sides are known only when the whole is decided by both.
                if (node.operator == "and") == truth:
                    self.narrow(node.left, env, truth=truth)
                    self.narrow(node.right, env, truth=truth)
            case n.Comparison(operator="==" | "!="):
                self._narrow_equality(node, env, is_equal=(node.operator == "==") == truth)
            case _:
                keeps = can_be_true if truth else can_be_false
                self._keep_members(node, env, keeps)

    def _narrow_equality(self, node: n.Comparison, env: Environment, *, is_equal: bool) -> None:
        form = self.facts.forms.operators.get(node)
        if isinstance(form, KindTest):
            self._narrow_kind(form.tested, env, form.word, is_equal=is_equal)
            return
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(other, n.Literal) and other.value is None:
                self._keep_members(one, env, lambda member: (member == NIL) == is_equal)
                return
            if isinstance(other, n.Literal) and is_equal:
                wanted = self.facts.types.get(other, ANY)
                self._keep_members(one, env, partial(can_be_equal, wanted))
                return

    def _narrow_kind(
        self, node: n.Expression, env: Environment, word: str, *, is_equal: bool
    ) -> None:
        place = self.path_of(node)
        if is_equal and place is not None and self.facts.types.get(node) == ANY and word in _KINDS:
            env.narrow(*place, _KINDS[word])
            return
        self._keep_members(node, env, lambda member: (kind_word(member) == word) == is_equal)

    def _keep_members(self, node: n.Expression, env: Environment, keeps: Keeps) -> None:
        """Narrows `node`, if it is a variable or a member of one, to the members kept."""
        place = self.path_of(node)
        if place is None:
            return
        type_ = self.facts.types.get(node, ANY)
        if type_ in (ANY, NEVER):
            return
        kept = union(member for member in members(type_) if keeps(member))
        if kept not in (type_, NEVER):
            env.narrow(*place, kept)

    def path_of(self, node: n.Expression) -> tuple[Symbol, Path] | None:
        """The variable and the members that lead to `node`, if it is such a path."""
        match node:
            case n.Name():
                symbol = self.facts.names.of(node)
                return (symbol, ()) if symbol.kind in ("variable", "parameter") else None
            case n.Member():
                inner = self.path_of(node.value)
                return (inner[0], (*inner[1], node.name.text)) if inner else None
            case n.TupleMember():
                inner = self.path_of(node.value)
                return (inner[0], (*inner[1], node.position)) if inner else None
            case _:
                return None


def _is_false(type_: Type) -> bool:
    return isinstance(type_, LiteralType) and type_.value is False
