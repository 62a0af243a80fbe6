"""What may keep a script from going on: what stands behind it must not be asked ahead.

    assert total > 0            may stop the script
    row = rows[i]               may be out of range
    team = teams[kind]          certain, where `kind` is one of the literals that `teams` has

A prompt may fail, and so may reading and writing files. These are accidents: they are what overlap
takes the risk of. Everything else that can fail counts, but where a `try` catches it, and so does
what may go on for ever.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from saftc.schedule.effects import Effects
from saftc.schedule.flow import Flow
from saftc.schedule.reasons import Reason, may_be_wrong, shown
from saftc.semantics.builtins import OF_COLUMN
from saftc.semantics.flow import blocks_of
from saftc.semantics.forms import Attribute, BuiltinCall, DirectCall, Form, OfResult, unpacks
from saftc.semantics.relations import Fit
from saftc.semantics.types import (
    ANY,
    FLOAT,
    LiteralType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    is_only,
    item_type,
    may_be,
    members,
    show,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

# Builtins that can fail although every argument is of the right kind.
_CAN_FAIL = frozenset(
    {"int", "float", "parse", "min", "max", "mean", "ambiguous", "run", "select", "head", "json"}
)
# Of those that are not proved, these cannot fail, whatever they are given.
_NEVER_FAIL = frozenset({"print", "write", "str", "type", "option"})

_Reasons = Iterator[Reason]


class Certainty:
    """Says what may stop a script; functions are looked into once."""

    def __init__(self, effects: Effects) -> None:
        self.facts = effects.facts
        self.effects = effects
        self._others: dict[int, Certainty] = {}
        self._functions: dict[n.FunctionDef, tuple[Reason, ...]] = {}

    def body(self, loop: n.ForStmt) -> Reason | None:
        """The first thing that may keep a loop from going on to its next item."""
        return next(self._block(loop.body, is_loop=True), None)

    def expression(self, node: n.Expression) -> Reason | None:
        """The first thing in an expression that may stop the script."""
        return next(self._expression(node), None)

    def function(self, definition: n.FunctionDef) -> Reason | None:
        """The first thing in a call of a function that may stop the script."""
        return next(iter(self._of_function(definition)), None)

    def unpacks(self, loop: n.ForStmt | n.ComprehensionClause) -> Reason | None:
        """What may keep the items of a loop from being taken."""
        reason = next(self._items(loop), None)
        fits = unpacks(loop.pattern, item_type(self.facts.type_of(loop.iterable)))
        if reason is not None or fits:
            return reason
        return Reason(loop.iterable, f"an item of {shown(loop.iterable)} may have other parts")

    # Functions and statements

    def _of_function(self, definition: n.FunctionDef) -> tuple[Reason, ...]:
        if definition not in self._functions:
            self._functions[definition] = ()  # of a recursive one, the rest decides
            is_own = self.facts.is_own(definition)
            found = self._function(definition) if is_own else self._elsewhere(definition)
            self._functions[definition] = tuple(found)
        return self._functions[definition]

    def _function(self, definition: n.FunctionDef) -> _Reasons:
        known = self.facts.functions[definition]
        if known.declared is not None and known.can_lack_value:
            words = f"`{definition.name.text}` may end without a value"
            yield Reason(definition.name, words)
        yield from self._unset(definition)
        yield from self._block(definition.body, is_loop=False)

    def _unset(self, definition: n.FunctionDef) -> _Reasons:
        """The variables of a function itself that may be read before they have a value."""
        names = self.facts.names
        taken = {names.of(parameter.name) for parameter in definition.parameters}
        early = Flow(self.effects).early_reads(definition.body, taken)
        own = {one for one in early if one.scope is names.scopes[definition]}
        for node in walk(definition):
            if isinstance(node, n.Name) and names.of(node) in own:
                yield Reason(node, f"`{node.text}` may have no value")

    def _elsewhere(self, definition: n.FunctionDef) -> _Reasons:
        """What in a function of another script may stop this one."""
        script, source = self.effects.script_of(definition), self.facts.sources[definition]
        # What stands around it has the values that it has when its script has run.
        for symbol in Flow(script).outer(definition):
            if symbol in script.facts.names.unset:
                words = f"`{symbol.name}` may have no value"
                yield Reason(definition.name, words, source=source)
        other = self._others.setdefault(id(script), Certainty(script))
        for reason in other._of_function(definition):
            yield reason if reason.source is not None else replace(reason, source=source)

    def _block(self, statements: Iterable[n.Statement], *, is_loop: bool) -> _Reasons:
        """`is_loop`: they stand in the body of the loop, which `break` and `ret` would end."""
        for statement in statements:
            yield from self._statement(statement, is_loop)

    def _statement(self, node: n.Statement, is_loop: bool) -> _Reasons:
        match node:
            case n.AssignStmt() | n.AugmentedAssignStmt() | n.DestructureStmt():
                yield from self._expression(node.value)
            case n.UnpackStmt():
                yield from self._expression(node.value)
                if not unpacks(node.pattern, self.facts.type_of(node.value)):
                    words = may_be_wrong(self.facts, node.value, "may have more parts, or fewer")
                    yield Reason(node, words)
            case n.ExpressionStmt():
                yield from self._expression(node.value)
            case n.IfStmt():
                for branch in node.branches:
                    yield from self._expression(branch.condition)
                for block in blocks_of(node):
                    yield from self._block(block, is_loop=is_loop)
            case n.ForStmt():
                yield from self._loop(node)
                yield from self._block(node.body, is_loop=False)
            case n.TryStmt():
                for reason in self._block(node.body, is_loop=is_loop):
                    if not reason.is_caught:
                        yield reason
                yield from self._block(node.handler, is_loop=is_loop)
            case n.WhileStmt():
                yield Reason(node, "`while` may go on for ever", is_caught=False)
            case n.BreakStmt():
                if is_loop:
                    yield Reason(node, "`break` may end the loop", is_caught=False)
            case n.ContinueStmt():
                pass
            case n.RetStmt():
                if is_loop:
                    yield Reason(node, "`ret` may end the loop", is_caught=False)
                if node.value is not None:
                    yield from self._expression(node.value)
            case n.AssertStmt():
                yield Reason(node, "`assert` may stop the script")
            case n.FailStmt():
                yield Reason(node, "`fail` may stop the script")
            case n.FunctionDef():
                for parameter in node.parameters:
                    yield from self._maybe(parameter.default)
            case n.TypeAlias() | n.RecordDef():
                pass
            case n.ImportStmt() | n.FromImport():
                yield Reason(node, "an import may fail")
            case _:
                assert_never(node)

    def _loop(self, node: n.ForStmt | n.ComprehensionClause) -> _Reasons:
        yield from self._items(node)
        yield from self._expression(node.iterable)

    def _items(self, node: n.ForStmt | n.ComprehensionClause) -> _Reasons:
        match self.facts.forms.loops[node]:
            case Form.NATIVE | Form.PIECES:
                pass
            case Form.EACH_OF:
                words = may_be_wrong(self.facts, node.iterable, "may be no list of such items")
                yield Reason(node.iterable, words)
            case _:
                words = may_be_wrong(self.facts, node.iterable, "may be no list")
                yield Reason(node.iterable, words)

    # Expressions: first their parts, then what is done with these

    def _expression(self, node: n.Expression) -> _Reasons:
        coercion = self.facts.coercions.get(node)
        if coercion is not None and coercion.fit == Fit.CHECK:
            wanted = f"may be something else than {show(coercion.wanted)}"
            yield Reason(node, may_be_wrong(self.facts, node, wanted))
        forms = self.facts.forms
        match node:
            case n.Literal() | n.Name():
                pass
            case n.TupleLiteral():
                yield from self._all(node.items)
            case n.ListLiteral():
                for item in node.items:
                    yield from self._entry(item)
            case n.ObjectLiteral():
                for entry in node.fields:
                    yield from self._entry(entry)
            case n.Call():
                if not isinstance(node.function, n.Name | n.Member):
                    yield from self._expression(node.function)
                yield from self._all(one.value for one in node.arguments)
                yield from self._call(node)
            case n.Index():
                yield from self._all((node.value, node.key))
                yield from self._index(node)
            case n.Slice():
                yield from self._all((node.value, node.start, node.stop, node.step))
                if forms.items[node] != Form.NATIVE or node.step is not None:
                    yield Reason(node, self._lacks(node.value, "such a part"))
            case n.TupleMember():
                yield from self._expression(node.value)
                yield from self._tuple_member(node)
            case n.Member():
                yield from self._expression(node.value)
                yield from self._member(node)
            case n.Unary():
                yield from self._expression(node.operand)
                if node.operator == "-" and forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.operand)
            case n.Comparison():
                yield from self._all((node.left, node.right))
                if forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.left, node.right)
            case n.Binary():
                yield from self._all((node.left, node.right))
                yield from self._binary(node)
            case n.Logical():
                yield from self._all((node.left, node.right))
            case n.Conditional():
                yield from self._all((node.condition, node.then, node.other))
            case n.Comprehension():
                for clause in node.clauses:
                    yield from self._loop(clause)
                    yield from self._all(clause.conditions)
                yield from self._expression(node.item)
            case n.FormattedString():
                for part in node.parts:
                    if isinstance(part, n.FormatHole):
                        yield from self._expression(part.value)
                        if part.spec is not None and not self.facts.always_takes(part, part.spec):
                            words = f"may not take the format `{part.spec}`"
                            yield Reason(part, may_be_wrong(self.facts, part.value, words))
            case n.Prompt():
                # What goes wrong in the prompt itself is an accident, but not what it is made of.
                yield from self._all(part.value for part in node.parts if isinstance(part, n.Hole))
                yield from self._maybe(node.options)
                yield from self._maybe(node.after)
            case _:
                assert_never(node)

    def _all(self, nodes: Iterable[n.Expression | None]) -> _Reasons:
        for node in nodes:
            yield from self._maybe(node)

    def _maybe(self, node: n.Expression | None) -> _Reasons:
        if node is not None:
            yield from self._expression(node)

    def _entry(self, node: n.Expression | n.Entry) -> _Reasons:
        """What in an item of a list, or in an entry of an object, may stop the script."""
        forms = self.facts.forms
        match node:
            case n.Spread():
                yield from self._expression(node.value)
                if forms.spreads[node] == Form.OPS:
                    words = "may be nothing that can be spread here"
                    yield Reason(node, may_be_wrong(self.facts, node.value, words))
            case n.ComputedField():
                yield from self._expression(node.key)
                if forms.keys[node.key] == Form.OPS:
                    words = "may be no string for a key"
                    yield Reason(node.key, may_be_wrong(self.facts, node.key, words))
                yield from self._expression(node.value)
            case n.Field():
                yield from self._expression(node.value)
            case _:
                yield from self._expression(node)

    def _call(self, node: n.Call) -> _Reasons:
        form = self.facts.forms.calls[node]
        match form:
            case BuiltinCall():
                reason = self._builtin(node, form)
                if reason is not None:
                    yield reason
            case DirectCall(definition=n.FunctionDef() as definition):
                yield from self._of_function(definition)
            case DirectCall(definition=n.RecordDef() as record):
                if record.rules:
                    yield Reason(node, f"a rule of `{record.name.text}` may not hold")
            case DirectCall():
                if not self.effects.is_declared_pure(node.function):
                    yield Reason(node, f"{shown(node.function)} of Python may fail")
            case Form.SEND | Form.OPS:
                words = f"nothing is known of {shown(node.function)}, which is called here"
                yield Reason(node, words)
            case _:
                assert_never(form)

    def _builtin(self, node: n.Call, form: BuiltinCall) -> Reason | None:
        name = form.builtin.name
        if name in _NEVER_FAIL:
            return None
        fails = Reason(node, f"`{name}` may fail")
        for argument in node.arguments if form.form == Form.OPS else ():
            if self.facts.types.get(argument.value, ANY) == ANY:
                words = may_be_wrong(self.facts, argument.value, f"may be nothing for `{name}`")
                return Reason(node, words)
        if form.form == Form.OPS or form.arguments is None:
            return fails
        types = [self.facts.type_of(one) for one in form.arguments]
        if name in _CAN_FAIL or form.builtin in OF_COLUMN.values():
            return fails
        if name == "div":
            divisor = form.arguments[1]
            is_clear = isinstance(divisor, n.Literal) and bool(divisor.value)
            return None if is_clear else Reason(node, "it may be a division by zero")
        if form.by is not None:
            return fails
        if name == "split" and len(form.arguments) == 2:
            separator = form.arguments[1]
            is_clear = isinstance(separator, n.Literal) and bool(separator.value)
            return None if is_clear else Reason(node, "the separator may be empty")
        if name == "round" and len(types) == 1 and may_be(types[0], FLOAT):
            return Reason(node, "`round` fails on what is no finite number")
        if name == "range" and len(types) == 3:
            return Reason(node, "the step may be zero")
        return None

    def _tuple_member(self, node: n.TupleMember) -> _Reasons:
        is_certain = self.facts.forms.items[node] == Form.NATIVE and all(
            isinstance(one, TupleType) and node.position < len(one.items)
            for one in members(self.facts.type_of(node.value))
        )
        if not is_certain:
            yield Reason(node, self._lacks(node.value, "such a part"))

    def _index(self, node: n.Index) -> _Reasons:
        owners = members(self.facts.type_of(node.value))
        keys = _known_keys(node.key, self.facts.type_of(node.key))
        has_keys = bool(keys) and all(
            isinstance(one, ObjectType) and one.field(key) is not None
            for one in owners
            for key in keys
        )
        position = node.key.value if isinstance(node.key, n.Literal) else None
        has_item = isinstance(position, int) and all(
            isinstance(one, TupleType) and 0 <= position < len(one.items) for one in owners
        )
        if self.facts.forms.items[node] != Form.NATIVE or not (has_keys or has_item):
            yield Reason(node, self._lacks(node.value, "such an item"))

    def _lacks(self, owner: n.Expression, part: str) -> str:
        return may_be_wrong(self.facts, owner, f"may not have {part}")

    def _wrong_operand(
        self, node: n.Unary | n.Comparison | n.Binary, *parts: n.Expression
    ) -> Reason:
        unknown = (one for one in parts if self.facts.types.get(one, ANY) == ANY)
        wrong = next(unknown, None)
        if wrong is None:
            return Reason(node, f"`{node.operator}` may get values of the wrong types")
        words = f"may be nothing that `{node.operator}` takes"
        return Reason(node, may_be_wrong(self.facts, wrong, words))

    def _member(self, node: n.Member) -> _Reasons:
        form = self.facts.forms.members[node]
        match form:
            case OfResult() | Form.LENGTH:
                return
            case Form.ITEM | Attribute():
                owners = members(self.facts.type_of(node.value))
                is_certain = all(
                    isinstance(one, ObjectType | RecordType)
                    and self.facts.has_field(one, node.name.text)
                    for one in owners
                )
            case Form.GET | Form.STRUCTURE | Form.OPS:
                is_certain = False
            case _:
                assert_never(form)
        if not is_certain:
            yield Reason(node, self._lacks(node.value, f"a field `{node.name.text}`"))

    def _binary(self, node: n.Binary) -> _Reasons:
        if self.facts.forms.operators[node] == Form.OPS:
            yield self._wrong_operand(node, node.left, node.right)
        elif node.operator in ("/", "%"):
            divisor = node.right.value if isinstance(node.right, n.Literal) else None
            if not divisor:
                yield Reason(node, "it may be a division by zero")
        elif node.operator == "*" and not is_only(self.facts.type_of(node.left), "int", "float"):
            yield self._wrong_operand(node, node.left, node.right)


def _known_keys(node: n.Expression, type_: Type) -> list[str]:
    """The keys that a value can be; none when they are not known."""
    if isinstance(node, n.Literal):
        return [node.value] if isinstance(node.value, str) else []
    found = members(type_)
    keys = [one.value for one in found if isinstance(one, LiteralType)]
    texts = [key for key in keys if isinstance(key, str)]
    return texts if len(texts) == len(found) else []
