"""What may keep a script from going on: what stands behind it must not be asked ahead.

    assert total > 0            may stop the script
    row = rows[i]               may be out of range
    team = teams[kind]          certain, where `kind` is one of the literals that `teams` has

A prompt may fail, and so may reading and writing files. These are accidents: they are what overlap
takes the risk of. Everything else that can fail counts, and so does what may go on for ever. A
construct without a case of its own here counts, too: it stays in order.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from saftc.schedule.effects import Effects
from saftc.semantics.facts import Facts
from saftc.semantics.forms import Attribute, BuiltinCall, DirectCall, Form, OfResult, unpacks
from saftc.semantics.relations import Fit
from saftc.semantics.types import (
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
)
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something stays in order: the place that prevents it, and how."""

    node: n.Node
    words: str


# Builtins that can fail although every argument is of the right kind.
_CAN_FAIL = frozenset(
    {"int", "float", "parse", "min", "max", "mean", "ambiguous", "run", "select", "head", "json"}
)
# Of those that are not proved, these cannot fail, whatever they are given.
_NEVER_FAIL = frozenset({"print", "str", "type", "option"})


class Certainty:
    """Says what may stop a script; functions are looked into once."""

    def __init__(self, facts: Facts, effects: Effects) -> None:
        self.facts = facts
        self.effects = effects
        self._functions: dict[n.FunctionDef, Reason | None] = {}

    def block(self, statements: Iterable[n.Statement], *, is_loop: bool) -> Reason | None:
        """The first thing that may stop these statements; `is_loop`: they are the body of a loop,
        which `break` and `ret` would end."""
        return _first(self._statement(statement, is_loop) for statement in statements)

    def expression(self, node: n.Expression) -> Reason | None:
        """The first thing in an expression that may stop the script."""
        coercion = self.facts.coercions.get(node)
        if coercion is not None and coercion.fit == Fit.CHECK:
            return Reason(node, "its type is only known when it runs")
        return self._parts(node) or self._itself(node)

    def function(self, definition: n.FunctionDef) -> Reason | None:
        """What in a call of a function may stop the script."""
        if definition not in self._functions:
            self._functions[definition] = None  # of a recursive one, the rest decides
            self._functions[definition] = self._function(definition)
        return self._functions[definition]

    def _function(self, definition: n.FunctionDef) -> Reason | None:
        if definition not in self.facts.names.scopes:
            return Reason(definition, "it is a function of another script")
        known = self.facts.functions[definition]
        if known.declared is not None and known.can_lack_value:
            return Reason(definition.name, "it may end without a value")
        return self.block(definition.body, is_loop=False)

    def _statement(self, node: n.Statement, is_loop: bool) -> Reason | None:
        match node:
            case n.AssignStmt() | n.AugmentedAssignStmt() | n.DestructureStmt():
                return self.expression(node.value)
            case n.UnpackStmt():
                is_proved = unpacks(node.pattern, self.facts.type_of(node.value))
                return self.expression(node.value) or (
                    None if is_proved else Reason(node, "it may not have so many parts")
                )
            case n.ExpressionStmt():
                return self.expression(node.value)
            case n.IfStmt():
                found = (
                    self.expression(branch.condition) or self.block(branch.body, is_loop=is_loop)
                    for branch in node.branches
                )
                return _first(found) or self.block(node.other, is_loop=is_loop)
            case n.ForStmt():
                return self._loop(node) or self.block(node.body, is_loop=False)
            case n.WhileStmt():
                return Reason(node, "`while` may go on for ever")
            case n.BreakStmt():
                return Reason(node, "`break` may end the loop") if is_loop else None
            case n.ContinueStmt():
                return None
            case n.RetStmt():
                if is_loop:
                    return Reason(node, "`ret` may end the loop")
                return None if node.value is None else self.expression(node.value)
            case n.AssertStmt():
                return Reason(node, "`assert` may stop the script")
            case n.FunctionDef():
                defaults = (one.default for one in node.parameters if one.default is not None)
                return _first(map(self.expression, defaults))
            case n.TypeAlias() | n.RecordDef():
                return None
            case n.ImportStmt() | n.FromImport():
                return Reason(node, "an import may fail")
            case _:
                return Reason(node, "this may end the loop")

    def _loop(self, node: n.ForStmt | n.ComprehensionClause) -> Reason | None:
        if self.facts.forms.loops[node] != Form.NATIVE:
            return Reason(node.iterable, "it may be no list of such items")
        return self.expression(node.iterable)

    def _parts(self, node: n.Expression) -> Reason | None:
        """What stands inside of an expression."""
        match node:
            case n.Literal() | n.Name():
                return None
            case n.TupleLiteral():
                return self._all(node.items)
            case n.ListLiteral():
                return _first(map(self._entry, node.items))
            case n.ObjectLiteral():
                return _first(map(self._entry, node.fields))
            case n.Call():
                return self._all((*self._callee(node), *(one.value for one in node.arguments)))
            case n.Index():
                return self._all((node.value, node.key))
            case n.Slice():
                return self._all((node.value, node.start, node.stop, node.step))
            case n.Member() | n.TupleMember():
                return self._all((node.value,))
            case n.Unary():
                return self._all((node.operand,))
            case n.Binary() | n.Comparison() | n.Logical():
                return self._all((node.left, node.right))
            case n.Conditional():
                return self._all((node.condition, node.then, node.other))
            case n.Comprehension():
                found = (
                    self._loop(clause) or self._all(clause.conditions) for clause in node.clauses
                )
                return _first(found) or self.expression(node.item)
            case n.Prompt():
                # What goes wrong in the prompt itself is an accident, but not what it is made of.
                holes = (part.value for part in node.parts if isinstance(part, n.Hole))
                return self._all((*holes, node.options, node.after))
            case _:
                return Reason(node, "this may fail")

    def _entry(self, node: n.Expression | n.Entry) -> Reason | None:
        """What in an item of a list, or in an entry of an object, may stop the script."""
        forms = self.facts.forms
        match node:
            case n.Spread():
                is_ops = forms.spreads[node] == Form.OPS
                reason = Reason(node, "what is spread may be something else") if is_ops else None
                return self.expression(node.value) or reason
            case n.ComputedField():
                is_ops = forms.keys[node.key] == Form.OPS
                reason = Reason(node.key, "the key may be no string") if is_ops else None
                return self.expression(node.key) or reason or self.expression(node.value)
            case n.Field():
                return self.expression(node.value)
            case _:
                return self.expression(node)

    def _itself(self, node: n.Expression) -> Reason | None:
        """What an expression does with its parts."""
        forms = self.facts.forms
        match node:
            case n.Call():
                return self._call(node)
            case n.Index():
                return self._index(node)
            case n.Slice():
                is_native = forms.items[node] == Form.NATIVE and node.step is None
                return None if is_native else Reason(node, "it may have no such part")
            case n.TupleMember():
                is_native = forms.items[node] == Form.NATIVE and all(
                    isinstance(one, TupleType) and node.position < len(one.items)
                    for one in members(self.facts.type_of(node.value))
                )
                return None if is_native else Reason(node, "it may have no such part")
            case n.Member():
                return self._member(node)
            case n.Unary(operator="-") | n.Comparison():
                is_ops = forms.operators[node] == Form.OPS
                return Reason(node, "the operands may be of the wrong type") if is_ops else None
            case n.Binary():
                return self._binary(node)
            case _:
                return None

    def _all(self, nodes: Iterable[n.Expression | None]) -> Reason | None:
        return _first(None if node is None else self.expression(node) for node in nodes)

    def _callee(self, node: n.Call) -> list[n.Expression]:
        """The function of a call, where it is to be evaluated."""
        return [] if isinstance(node.function, n.Name | n.Member) else [node.function]

    def _call(self, node: n.Call) -> Reason | None:
        form = self.facts.forms.calls[node]
        match form:
            case BuiltinCall():
                return self._builtin(node, form)
            case DirectCall(definition=n.FunctionDef() as definition):
                reason = self.function(definition)
                if reason is None:
                    return None
                is_inside = reason.node is not definition
                return reason if is_inside else Reason(node, reason.words)
            case DirectCall(definition=n.RecordDef() as record):
                return Reason(node, "a rule of the record may not hold") if record.rules else None
            case DirectCall():
                if self.effects.is_declared_pure(node.function):
                    return None
                return Reason(node, "a call of imported Python may fail")
            case Form.SEND | Form.OPS:
                return Reason(node, "nothing is known of what is called here")
            case _:
                return Reason(node, "this may fail")

    def _builtin(self, node: n.Call, form: BuiltinCall) -> Reason | None:
        name = form.builtin.name
        if name in _NEVER_FAIL:
            return None
        fails = Reason(node, f"`{name}` may fail")
        if form.form == Form.OPS or form.arguments is None:
            return fails
        types = [self.facts.type_of(one) for one in form.arguments]
        if name in _CAN_FAIL:
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
            return Reason(node, "`round` of what is no finite number fails")
        if name == "range" and len(types) == 3:
            return Reason(node, "the step may be zero")
        return None

    def _index(self, node: n.Index) -> Reason | None:
        if self.facts.forms.items[node] != Form.NATIVE:
            return Reason(node, "there may be no such item")
        owners = members(self.facts.type_of(node.value))
        keys = _known_keys(node.key, self.facts.type_of(node.key))
        if keys and all(
            isinstance(one, ObjectType) and one.field(key) is not None
            for one in owners
            for key in keys
        ):
            return None
        position = node.key.value if isinstance(node.key, n.Literal) else None
        if isinstance(position, int) and all(
            isinstance(one, TupleType) and 0 <= position < len(one.items) for one in owners
        ):
            return None
        return Reason(node, "there may be no such item")

    def _member(self, node: n.Member) -> Reason | None:
        form = self.facts.forms.members[node]
        is_certain = False
        match form:
            case OfResult():
                is_certain = True
            case Form.LENGTH:
                is_certain = True
            case Form.ITEM | Attribute():
                is_certain = all(
                    isinstance(one, ObjectType | RecordType)
                    and self.facts.has_field(one, node.name.text)
                    for one in members(self.facts.type_of(node.value))
                )
            case _:
                pass
        return None if is_certain else Reason(node, "there may be no such field")

    def _binary(self, node: n.Binary) -> Reason | None:
        if self.facts.forms.operators[node] == Form.OPS:
            return Reason(node, "the operands may be of the wrong type")
        if node.operator in ("/", "%"):
            divisor = node.right.value if isinstance(node.right, n.Literal) else None
            if not divisor:
                return Reason(node, "it may be a division by zero")
        left = self.facts.type_of(node.left)
        if node.operator == "*" and not is_only(left, "int", "float"):
            return Reason(node, "the operands may be of the wrong type")
        return None

    def unpacks(self, loop: n.ForStmt | n.ComprehensionClause) -> Reason | None:
        """What may keep the items of a loop from being taken."""
        is_proved = self.facts.forms.loops[loop] == Form.NATIVE
        if is_proved and unpacks(loop.pattern, item_type(self.facts.type_of(loop.iterable))):
            return None
        return Reason(loop.iterable, "it may be no list of such items")


def _first(reasons: Iterable[Reason | None]) -> Reason | None:
    return next((reason for reason in reasons if reason is not None), None)


def _known_keys(node: n.Expression, type_: Type) -> list[str]:
    """The keys that a value can be; none when they are not known."""
    if isinstance(node, n.Literal):
        return [node.value] if isinstance(node.value, str) else []
    found = members(type_)
    keys = [one.value for one in found if isinstance(one, LiteralType)]
    texts = [key for key in keys if isinstance(key, str)]
    return texts if len(texts) == len(found) else []
