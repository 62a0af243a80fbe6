"""Which assignments may change a list or an object in place, because nobody else holds the value.

    found = []                          found = []
    for word in words:                  for word in words:
        found = found + [word]              found.append(word)

Values are never changed in Saft, and where only one name holds a value, nobody can tell. A name
*owns* its list or object from an assignment of a new one (a literal, a comprehension, a sum) until
the value gets anywhere else: into another name or value, into a function, out of the call. Names
that inner functions read never own theirs. While a `for` goes over a value, a name may own it, but
it must not grow.

This is a forward analysis over each function and the module. Its state is the names that own their
values, each with the loops that go over its value; where paths meet, a name owns its value if it
does so on all of them. What is inside of statements and expressions that are not known here counts
as handed on.
"""

from collections.abc import Iterable, Iterator, Sequence

from saftc.flow.forward import Forward, Loop
from saftc.flow.statements import bound_by
from saftc.semantics.facts import Facts
from saftc.semantics.failure import never_fails
from saftc.semantics.forms import Append, BuiltinCall, Extend, Form, Growth, Put
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import MapType, ObjectType, is_only, members
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

# Builtins that are done with their arguments when they give their value.
_KEEP_NOTHING = {
    *("upper", "lower", "strip", "split", "join", "replace", "contains", "starts_with"),
    *("ends_with", "len", "range", "sorted", "reversed", "zip", "enumerate", "keys", "values"),
    *("items", "sum", "mean", "any", "all", "type", "str", "int", "float", "round", "abs", "div"),
    *("json", "parse", "print", "write", "read_text", "write_text", "append_text", "list_files"),
    "select",
}
# Builtins that give one of their arguments when they are given several.
_CHOOSE_ONE = {"min", "max"}
# Builtins whose list is a new one.
_MAKE_NEW = {
    *("split", "range", "sorted", "reversed", "zip", "enumerate", "keys", "values", "items"),
    *("list_files", "columns", "rows"),
}
# Those that a loop goes over without a list in between: it goes over their arguments.
_VIEWS = {"reversed", "zip", "enumerate", "keys", "values", "items"}
# What gives the same whenever it is evaluated, when its parts do.
_STAYS = (
    *(n.Name, n.Identifier, n.Literal, n.Argument, n.Binary, n.Comparison, n.Unary, n.Logical),
    *(n.Conditional, n.FormattedString, n.FormatText, n.FormatHole),
)

# They are done with what they evaluate, and keep none of it.
_DROPS = (n.ExpressionStmt, n.IfStmt, n.ForStmt, n.WhileStmt, n.AssertStmt)
_Assignment = n.AssignStmt | n.AugmentedAssignStmt
# The names that own their values, each with the loops that went over it.
_State = dict[Symbol, frozenset[Loop]]


def find_growth(facts: Facts) -> dict[n.Statement, Growth]:
    """The assignments that change the value of their name in place, and how."""
    captured = _captured(facts)
    found: dict[n.Statement, Growth] = {}
    for owner in facts.names.scopes:
        if isinstance(owner, n.Module):
            _Finder(facts, captured, found).block(owner.statements, {})
        elif isinstance(owner, n.FunctionDef):
            _Finder(facts, captured, found).block(owner.body, {})
    return found


def _captured(facts: Facts) -> set[Symbol]:
    """What functions read of the scopes around them."""
    return {symbol for captured in facts.names.captures.values() for symbol in captured}


class _Finder(Forward[_State]):
    def __init__(
        self,
        facts: Facts,
        captured: set[Symbol],
        found: dict[n.Statement, Growth],
    ) -> None:
        super().__init__()
        self.facts = facts
        self.captured = captured
        self.found = found

    # Statements

    def evaluate(self, node: n.Expression, statement: n.Statement, state: _State) -> _State:
        state = _without(state, self._handed_on(node, is_kept=not isinstance(statement, _DROPS)))
        if isinstance(statement, n.ForStmt):
            viewed = state.keys() & self._viewed(node)
            state = state | {symbol: state[symbol] | {statement} for symbol in viewed}
        return state

    def bind(self, statement: n.Statement, state: _State) -> _State:
        if isinstance(statement, _Assignment):
            return self._assign(statement, state)
        return _without(state, map(self.facts.names.of, bound_by(statement)))

    def join(self, states: Sequence[_State]) -> _State:
        """A name owns its value if it does so on all ways."""
        first, *others = states
        met = dict(first)
        for other in others:
            met = {s: loops | other[s] for s, loops in met.items() if s in other}
        return met

    def _assign(self, statement: _Assignment, state: _State) -> _State:
        symbol = self.facts.names.of(statement.name)
        growth = self._growth(statement, symbol)
        loops = state.get(symbol)
        if growth is not None and loops is not None and self._around.isdisjoint(loops):
            self.found[statement] = growth
        else:
            self.found.pop(statement, None)
        is_own = self._is_new(statement.value) and symbol not in self.captured
        return {**state, symbol: frozenset()} if is_own else _without(state, (symbol,))

    @property
    def _around(self) -> set[Loop]:
        """The loops around, the values of which must not grow."""
        return {turn.loop for turn in self.turns}

    def _mentioned(self, node: n.Node) -> Iterator[Symbol]:
        for inner in walk(node):
            symbol = self.facts.names.symbols.get(inner)
            if symbol is not None:
                yield symbol

    # Expressions

    def _handed_on(self, node: n.Node, *, is_kept: bool) -> Iterator[Symbol]:
        """The names whose values somebody else may hold afterwards."""
        match node:
            case n.Name():
                if is_kept:
                    yield self.facts.names.of(node)
            case n.Literal():
                return
            case n.ListLiteral() | n.TupleLiteral():
                for item in node.items:
                    yield from self._handed_on(item, is_kept=True)
            case n.ObjectLiteral():
                for entry in node.fields:
                    yield from self._handed_on(entry, is_kept=True)
            case n.Spread():
                yield from self._handed_on(node.value, is_kept=False)
            case n.Field():
                yield from self._handed_on(node.value, is_kept=True)
            case n.ComputedField():
                yield from self._handed_on(node.key, is_kept=False)
                yield from self._handed_on(node.value, is_kept=True)
            case n.Call():
                yield from self._handed_to(node)
            case n.Index():
                yield from self._handed_on(node.value, is_kept=False)
                yield from self._handed_on(node.key, is_kept=False)
            case n.Member() | n.TupleMember():
                yield from self._handed_on(node.value, is_kept=False)
            case n.Slice():
                for part in (node.value, node.start, node.stop, node.step):
                    if part is not None:
                        yield from self._handed_on(part, is_kept=False)
            case n.Unary():
                yield from self._handed_on(node.operand, is_kept=False)
            case n.Binary() | n.Comparison() | n.Logical():
                yield from self._handed_on(node.left, is_kept=False)
                yield from self._handed_on(node.right, is_kept=False)
            case n.Conditional():
                yield from self._handed_on(node.condition, is_kept=False)
                yield from self._handed_on(node.then, is_kept=is_kept)
                yield from self._handed_on(node.other, is_kept=is_kept)
            case n.Comprehension():
                yield from self._handed_on(node.item, is_kept=True)
                for clause in node.clauses:
                    for part in (clause.iterable, *clause.conditions):
                        yield from self._handed_on(part, is_kept=False)
            case n.FormattedString() | n.Prompt(mode="plain" | "do", options=None, after=None):
                # What is interpolated is text from then on.
                for part in node.parts:
                    if isinstance(part, n.FormatHole | n.Hole):
                        yield from self._handed_on(part.value, is_kept=False)
            case _:
                yield from self._mentioned(node)

    def _handed_to(self, node: n.Call) -> Iterator[Symbol]:
        yield from self._handed_on(node.function, is_kept=False)
        for position, argument in enumerate(node.arguments):
            is_kept = not self._is_looked_at(node, position)
            yield from self._handed_on(argument.value, is_kept=is_kept)

    def _is_looked_at(self, node: n.Call, position: int) -> bool:
        """Whether a call is done with an argument when it gives its value."""
        name = self._builtin(node)
        if node.arguments[position].name is not None:
            return False
        if name == "get":
            return position < 2
        if name in _CHOOSE_ONE:
            return sum(argument.name is None for argument in node.arguments) == 1
        return name in _KEEP_NOTHING

    def _builtin(self, node: n.Expression) -> str | None:
        """The builtin that is called by its name."""
        form = self.facts.forms.calls.get(node) if isinstance(node, n.Call) else None
        return form.builtin.name if isinstance(form, BuiltinCall) else None

    def _is_new(self, node: n.Expression) -> bool:
        """Whether the value is a list or an object that nothing has held before."""
        match node:
            case n.ListLiteral() | n.ObjectLiteral() | n.Comprehension():
                return True
            case n.Binary(operator="+") | n.Slice():
                return is_only(self.facts.type_of(node), "list")
            case n.Call():
                return self._builtin(node) in _MAKE_NEW
            case n.Conditional():
                return self._is_new(node.then) and self._is_new(node.other)
            case _:
                return False

    def _viewed(self, node: n.Expression) -> Iterator[Symbol]:
        """The names whose values are gone over where the value of `node` is."""
        match node:
            case n.Name():
                yield self.facts.names.of(node)
            case n.Conditional():
                yield from self._viewed(node.then)
                yield from self._viewed(node.other)
            case n.Call() if self._builtin(node) in _VIEWS:
                for argument in node.arguments:
                    yield from self._viewed(argument.value)
            case _:
                return

    # How a name's value grows

    def _growth(self, statement: _Assignment, symbol: Symbol) -> Growth | None:
        is_annotated = isinstance(statement, n.AssignStmt) and statement.schema is not None
        if is_annotated or statement.value in self.facts.coercions:
            return None
        match statement.value:
            case n.Binary(operator="+", left=n.Name() as read, right=right) as added:
                growth = self._grown_list(right) if self._is_native(added) else None
                kind = "list"
            case n.ListLiteral(items=(n.Spread(value=n.Name() as read), first, *others)):
                is_alone = isinstance(first, n.Spread) and not others
                growth = Extend(first) if is_alone else Append((first, *others))
                kind = "list"
            case n.ObjectLiteral(fields=(n.Spread(value=n.Name() as read), first, *others)):
                growth = self._grown_object(read, (first, *others))
                kind = "object"
            case _:
                return None
        type_ = self.facts.types.get(read)
        is_own = self.facts.names.of(read) is symbol and type_ is not None and is_only(type_, kind)
        # The first assignment can be annotated with what the name holds later.
        is_told = isinstance(symbol.node, n.AssignStmt) or type_ == self.facts.types.get(
            statement.value
        )
        if growth is None or not is_own or not is_told:
            return None
        return None if symbol in self._viewed_by(growth) else growth

    def _is_native(self, node: n.Binary) -> bool:
        return self.facts.forms.operators.get(node) == Form.NATIVE

    def _grown_list(self, added: n.Expression) -> Growth | None:
        match added:
            case n.ListLiteral(items=()):
                return None
            case n.ListLiteral(items=(one,)) if isinstance(one, n.Expression):
                return Append((one,))
            case _:
                return Extend(added)

    def _grown_object(self, read: n.Name, entries: tuple[n.Entry, ...]) -> Growth | None:
        owners = members(self.facts.types[read])
        declared = [o for o in owners if isinstance(o, ObjectType) and o.is_declared]
        if not all(isinstance(owner, ObjectType | MapType) for owner in owners):
            return None
        if not all(self._has_fields(owner, entries) for owner in declared):
            return None
        match entries:
            case (n.Field() | n.ComputedField() as one,):
                is_in_order = isinstance(one, n.Field) or self._in_any_order(one)
                return Put(entries, is_item=is_in_order)
            case _:
                return Put(entries, is_item=False)

    def _has_fields(self, owner: ObjectType, entries: Sequence[n.Entry]) -> bool:
        """Whether a class of objects has the fields, so that Python's checkers take them."""
        return all(
            isinstance(entry, n.Field)
            and (known := owner.field(entry.key.text)) is not None
            and fit(self.facts.type_of(entry.value), known.type) == Fit.EXACT
            for entry in entries
        )

    def _in_any_order(self, entry: n.ComputedField) -> bool:
        """Whether Python may evaluate the value before the key, as `x[key] = value` does."""
        is_proved = self.facts.forms.keys.get(entry.key) == Form.NATIVE
        return (is_proved and self._is_settled(entry.key)) or self._is_settled(entry.value)

    def _is_settled(self, node: n.Expression) -> bool:
        """Whether it gives the same whenever it is evaluated, and never fails."""
        return never_fails(self.facts, node) and all(map(self._stays, walk(node)))

    def _stays(self, node: n.Node) -> bool:
        """Whether it gives the same as long as its parts do."""
        if isinstance(node, n.Call):
            form = self.facts.forms.calls.get(node)
            return isinstance(form, BuiltinCall) and form.builtin.is_pure
        return isinstance(node, _STAYS)

    def _viewed_by(self, growth: Growth) -> set[Symbol]:
        """The names whose values are gone over while a value grows."""
        match growth:
            case Extend(added):
                return set(self._viewed(added.value if isinstance(added, n.Spread) else added))
            case Put(entries=(n.Spread(value=value),)):
                return set(self._viewed(value))
            case Append() | Put():
                return set()


def _without(state: _State, symbols: Iterable[Symbol]) -> _State:
    gone = set(symbols)
    if gone.isdisjoint(state):
        return state
    return {symbol: loops for symbol, loops in state.items() if symbol not in gone}
