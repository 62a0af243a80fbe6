"""What may keep a script from going on: what stands behind it must not be asked ahead.

    assert total > 0            may stop the script
    row = rows[i]               may be out of range
    team = teams[kind]          certain, where `kind` is one of the literals that `teams` has

A prompt may fail, and so may reading and writing files, and numbers may grow too large to become a
text or a float. These are accidents: they are what overlap takes the risk of, where something only
runs ahead, but not where it would run in another order. Everything else that can fail counts, but
where a `try` catches it, and so does what may go on for ever. What no rule names can fail.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from saftc.flow.statements import blocks_of
from saftc.schedule.awaits import defaults_of
from saftc.schedule.effects import Effects
from saftc.schedule.flow import Flow
from saftc.schedule.reasons import Reason, may_be_wrong, shown
from saftc.semantics.builtins import OF_COLUMN
from saftc.semantics.facts import RecordFacts
from saftc.semantics.forms import Attribute, BuiltinCall, DirectCall, Form, OfResult, unpacks
from saftc.semantics.relations import Fit
from saftc.semantics.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    is_only,
    item_type,
    may_be,
    members,
    show,
    within,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, walk

# Builtins that cannot fail when every argument is of the right kind, beside those below; what
# files and the environment bring about is an accident.
_SAFE = frozenset(
    (
        *("upper", "lower", "strip", "join", "replace", "contains", "starts_with", "ends_with"),
        *("len", "sorted", "reversed", "zip", "enumerate", "keys", "values", "items", "get"),
        *("sum", "any", "all", "abs", "shape", "columns", "rows"),
        *("read_text", "list_files", "write_text", "append_text", "input", "env"),
        *("read", "image", "file"),
    )
)
# Of those that are not proved, these cannot fail, whatever they are given.
_NEVER_FAIL = frozenset({"print", "write", "str", "type", "option"})
# Builtins that write values as text.
_WRITE = frozenset({"print", "write", "str"})
# What has its value when its parts have theirs.
_THERE = (
    *(n.Identifier, n.Literal, n.Name, n.TupleLiteral, n.ListLiteral, n.ObjectLiteral, n.Field),
    *(n.Argument, n.Logical, n.Conditional, n.Comprehension, n.NamePattern, n.TuplePattern),
    *(n.FormatText, n.FormattedString, n.PromptText, n.Hole),
)
# What ends a loop from inside its body, and what does so from inside a loop in it.
_ENDING = (n.BreakStmt, n.RetStmt)
_ENDING_ALL = (n.RetStmt,)
_HUGE = "may be a number that is too large"

_Reasons = Iterator[Reason]
_Ending = tuple[type[n.Statement], ...]


class Certainty:
    """Says what may stop a script; functions are looked into once.

    `strictly` takes what only huge numbers bring about for a reason, too.
    """

    def __init__(self, effects: Effects) -> None:
        self.facts = effects.facts
        self.effects = effects
        self._others: dict[int, Certainty] = {}
        self._functions: dict[n.FunctionDef, tuple[Reason, ...]] = {}

    def body(self, loop: n.ForStmt, *, strictly: bool = False) -> Reason | None:
        """The first thing that may keep a loop from going on to its next item."""
        return _first(self._block(loop.body, _ENDING), strictly)

    def expression(self, node: n.Expression, *, strictly: bool = False) -> Reason | None:
        """The first thing in an expression that may stop the script."""
        return _first(self._expression(node), strictly)

    def stops_early(self, node: n.Call, form: BuiltinCall) -> bool:
        """Whether huge numbers may keep a builtin from taking all its items."""
        return next(self._rarely(node, form), None) is not None

    def function(self, definition: n.FunctionDef) -> Reason | None:
        """The first thing in a call of a function that may stop the script."""
        return _first(self._of_function(definition))

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
            is_own = self.facts.is_own(definition)
            found = self._function(definition) if is_own else self._elsewhere(definition)
            self._functions[definition] = tuple(found)
        return self._functions[definition]

    def _function(self, definition: n.FunctionDef) -> _Reasons:
        if definition in self.effects.functions_in(definition.body):
            # It is not looked into, so that there is an end to it here.
            words = f"`{definition.name.text}` calls itself, and may go on for ever"
            yield Reason(definition.name, words, is_caught=False)
            return
        known = self.facts.functions[definition]
        if known.declared is not None and known.can_lack_value:
            words = f"`{definition.name.text}` may end without a value"
            yield Reason(definition.name, words)
        yield from self._unset(definition)
        yield from self._block(definition.body)

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

    def _block(self, statements: Iterable[n.Statement], ending: _Ending = ()) -> _Reasons:
        """`ending` are the statements that would end the loop they stand in the body of."""
        for statement in statements:
            yield from self._statement(statement, ending)

    def _statement(self, node: n.Statement, ending: _Ending) -> _Reasons:
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
                    yield from self._block(block, ending)
            case n.ForStmt():
                yield from self._items(node)
                yield from self._expression(node.iterable)
                yield from self._block(node.body, _ENDING_ALL if ending else ())
            case n.TryStmt():
                for reason in self._block(node.body, ending):
                    if not reason.is_caught:
                        yield reason
                yield from self._block(node.handler, ending)
            case n.WhileStmt():
                yield Reason(node, "`while` may go on for ever", is_caught=False)
            case n.BreakStmt():
                if isinstance(node, ending):
                    yield Reason(node, "`break` may end the loop", is_caught=False)
            case n.ContinueStmt():
                pass
            case n.RetStmt():
                if isinstance(node, ending):
                    yield Reason(node, "`ret` may end the loop", is_caught=False)
                if node.value is not None:
                    yield from self._expression(node.value)
            case n.AssertStmt():
                yield Reason(node, "`assert` may stop the script")
                yield from self._all((node.condition, node.message))
            case n.FailStmt():
                yield Reason(node, "`fail` may stop the script")
                yield from self._expression(node.value)
            case n.FunctionDef() | n.RecordDef():
                yield from self._all(defaults_of(node))
            case n.TypeAlias():
                pass
            case n.ImportStmt() | n.FromImport():
                yield Reason(node, "an import may fail")
            case _:
                yield _unknown(node)

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

    def _expression(self, node: n.Node) -> _Reasons:
        """What goes wrong in a prompt itself is an accident, but not what it is made of."""
        coercion = self.facts.coercions.get(node)
        if coercion is not None and coercion.fit == Fit.CHECK:
            assert isinstance(node, n.Expression)
            wanted = f"may be something else than {show(coercion.wanted)}"
            yield Reason(node, may_be_wrong(self.facts, node, wanted))
        elif coercion is not None:
            yield Reason(node, _HUGE, is_rare=True)
        for part in _parts_of(node):
            yield from self._expression(part)
        yield from self._itself(node)

    def _all(self, nodes: Iterable[n.Expression | None]) -> _Reasons:
        for node in nodes:
            if node is not None:
                yield from self._expression(node)

    def _itself(self, node: n.Node) -> _Reasons:
        forms = self.facts.forms
        match node:
            case n.Call():
                yield from self._call(node)
            case n.Index():
                yield from self._index(node)
            case n.Slice():
                if forms.items[node] != Form.NATIVE or node.step is not None:
                    yield Reason(node, self._lacks(node.value, "such a part"))
            case n.TupleMember():
                yield from self._tuple_member(node)
            case n.Member():
                yield from self._member(node)
            case n.Unary():
                if node.operator == "-" and forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.operand)
            case n.Comparison():
                if forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.left, node.right)
                yield from self._deep(node, node.left)
            case n.Binary():
                yield from self._binary(node)
            case n.ComprehensionClause():
                yield from self._items(node)
                if not unpacks(node.pattern, item_type(self.facts.type_of(node.iterable))):
                    words = f"an item of {shown(node.iterable)} may have other parts"
                    yield Reason(node.iterable, words)
            case n.FormatHole():
                if node.spec is not None and not self.facts.always_takes(node, node.spec):
                    words = f"may not take the format `{node.spec}`"
                    yield Reason(node, may_be_wrong(self.facts, node.value, words))
                yield from self._written(node.value)
            case n.Spread():
                if forms.spreads[node] == Form.OPS:
                    words = "may be nothing that can be spread here"
                    yield Reason(node, may_be_wrong(self.facts, node.value, words))
            case n.ComputedField():
                if forms.keys[node.key] == Form.OPS:
                    words = "may be no string for a key"
                    yield Reason(node.key, may_be_wrong(self.facts, node.key, words))
            case n.Prompt():
                pass
            case _:
                if not isinstance(node, _THERE):
                    yield _unknown(node)

    def _written(self, node: n.Expression) -> _Reasons:
        """A number of thousands of digits has no text, nor has what holds itself very often."""
        plain = (*(STRING, BOOL, NIL, FLOAT), ListType, TupleType, ObjectType, MapType)
        types = tuple(one for one in plain if isinstance(one, type))
        for part in within(self.facts.type_of(node)):
            base = part.base if isinstance(part, LiteralType) else part
            if not (base in plain or isinstance(part, types) or isinstance(node, n.Literal)):
                yield Reason(node, f"{shown(node)} may have no text", is_rare=True)
                return

    def _deep(self, node: n.Expression, compared: n.Expression) -> _Reasons:
        if any(isinstance(part, RecordType) for part in within(self.facts.type_of(compared))):
            yield Reason(node, f"{shown(compared)} may be too deep to be compared", is_rare=True)

    def _call(self, node: n.Call) -> _Reasons:
        form = self.facts.forms.calls[node]
        match form:
            case BuiltinCall():
                reason = self._builtin(node, form)
                if reason is not None:
                    yield reason
                yield from self._rarely(node, form)
            case DirectCall(definition=n.FunctionDef() as definition):
                yield from self._of_function(definition)
            case DirectCall(definition=n.RecordDef() as record):
                yield from self._made(node, record)
            case DirectCall():
                if not self.effects.is_declared_pure(node.function):
                    yield Reason(node, f"{shown(node.function)} of Python may fail")
            case _:
                words = f"nothing is known of {shown(node.function)}, which is called here"
                yield Reason(node, words)

    def _made(self, node: n.Call, record: n.RecordDef) -> _Reasons:
        known = self.facts.record_facts.get(record)
        is_foreign = known is None or known.module is not None
        if record.rules:
            yield Reason(node, f"a rule of `{record.name.text}` may not hold")
        elif is_foreign and not (known is not None and self._takes_all(known)):
            yield Reason(node, f"`{record.name.text}` of Python may refuse what it is given")

    def _takes_all(self, record: RecordFacts) -> bool:
        """Whether a class of Python can be made of any values of the right types."""
        is_known = record.is_plain and not record.is_checked
        return is_known or self.effects.is_declared(record)

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
        if form.by is not None or form.builtin in OF_COLUMN.values():
            return fails
        if name == "div":
            divisor = form.arguments[1]
            is_clear = isinstance(divisor, n.Literal) and bool(divisor.value)
            if is_clear and any(may_be(one, FLOAT) for one in types):
                return Reason(node, "`div` fails on what is no finite number")
            return None if is_clear else Reason(node, "it may be a division by zero")
        if name == "split" and len(form.arguments) == 2:
            separator = form.arguments[1]
            is_clear = isinstance(separator, n.Literal) and bool(separator.value)
            return None if is_clear else Reason(node, "the separator may be empty")
        if name == "split":
            return None
        if name == "round":
            is_float = len(types) == 1 and may_be(types[0], FLOAT)
            words = "`round` fails on what is no finite number"
            return Reason(node, words) if is_float else None
        if name == "range":
            return Reason(node, "the step may be zero") if len(types) == 3 else None
        return None if name in _SAFE else fails

    def _rarely(self, node: n.Call, form: BuiltinCall) -> _Reasons:
        """What huge numbers bring about in a builtin."""
        name, given = form.builtin.name, [one.value for one in node.arguments]
        if name in _WRITE:
            for one in given:
                yield from self._written(one)
        elif name == "contains":
            for one in given:
                yield from self._deep(node, one)
        types = [part for one in given for part in within(self.facts.type_of(one))]
        is_mixed = FLOAT in types and INT in types
        is_many = name == "range" and not all(isinstance(one, n.Literal) for one in given)
        if is_many or (name == "round" and len(given) > 1) or (name == "sum" and is_mixed):
            yield Reason(node, f"what `{name}` takes {_HUGE}", is_rare=True)

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
                enum = self.facts.enum_of(node.value)
                is_choice = enum is not None and node.name.text in enum.choices
                is_certain = is_choice or all(self._has_field(o, node.name.text) for o in owners)
            case _:
                is_certain = False
        if not is_certain:
            yield Reason(node, self._lacks(node.value, f"a field `{node.name.text}`"))

    def _has_field(self, owner: Type, name: str) -> bool:
        """Whether it has the field as data; a property of Python may fail."""
        if isinstance(owner, RecordType):
            return self.facts.is_data(owner, name)
        return isinstance(owner, ObjectType) and owner.field(name) is not None

    def _binary(self, node: n.Binary) -> _Reasons:
        if self.facts.forms.operators[node] == Form.OPS:
            yield self._wrong_operand(node, node.left, node.right)
        elif node.operator in ("/", "%"):
            divisor = node.right.value if isinstance(node.right, n.Literal) else None
            if not divisor:
                yield Reason(node, "it may be a division by zero")
        elif node.operator == "*" and not is_only(self.facts.type_of(node.left), "int", "float"):
            yield self._wrong_operand(node, node.left, node.right)
        if self._may_overflow(node):
            yield Reason(node, f"what `{node.operator}` gets {_HUGE}", is_rare=True)

    def _may_overflow(self, node: n.Binary) -> bool:
        """Whether an int that no float holds may be made one."""
        parts = [one for one in (node.left, node.right) if not isinstance(one, n.Literal)]
        types = [self.facts.type_of(one) for one in (node.left, node.right)]
        makes_float = node.operator == "/" or any(may_be(one, FLOAT) for one in types)
        return makes_float and any(may_be(self.facts.type_of(one), INT) for one in parts)


def _first(reasons: Iterable[Reason], strictly: bool = False) -> Reason | None:
    return next((one for one in reasons if strictly or not one.is_rare), None)


def _unknown(node: n.Node) -> Reason:
    return Reason(node, "nothing is known of what it does", is_caught=False)


def _parts_of(node: n.Node) -> Sequence[n.Node]:
    """What is evaluated before a node has its value, in order."""
    match node:
        case n.Call(function=n.Name(), arguments=arguments):
            return arguments  # of what is called by its name, the call tells
        case n.Call(function=n.Member(value=value), arguments=arguments):
            return (value, *arguments)
        case n.Comprehension(item=item, clauses=clauses):
            return (*clauses, item)
        case _:
            return children(node)


def _known_keys(node: n.Expression, type_: Type) -> list[str]:
    """The keys that a value can be; none when they are not known."""
    if isinstance(node, n.Literal):
        return [node.value] if isinstance(node.value, str) else []
    found = members(type_)
    keys = [one.value for one in found if isinstance(one, LiteralType)]
    texts = [key for key in keys if isinstance(key, str)]
    return texts if len(texts) == len(found) else []
