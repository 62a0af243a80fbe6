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
from dataclasses import dataclass, field

from saftc.semantics.facts import Facts
from saftc.semantics.flow import bound_by, ends
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
# Those that give a value for every proved argument.
_TOTAL = {"upper", "lower", "strip", "str", "type", "len"}

_Loop = n.ForStmt | n.WhileStmt
_Assignment = n.AssignStmt | n.AugmentedAssignStmt
# The names that own their values, each with the loops that go over it.
_State = dict[Symbol, frozenset[_Loop]]


def find_growth(facts: Facts) -> dict[n.Statement, Growth]:
    """The assignments that change the value of their name in place, and how."""
    captured = _captured(facts)
    found: dict[n.Statement, Growth] = {}
    for scope in facts.names.scopes.values():
        if isinstance(scope.owner, n.Module):
            _Finder(facts, captured, found).block(scope.owner.statements, {})
        elif isinstance(scope.owner, n.FunctionDef):
            _Finder(facts, captured, found).block(scope.owner.body, {})
    return found


def _captured(facts: Facts) -> set[Symbol]:
    """What functions read of the scopes around them."""
    found: set[Symbol] = set()
    for scope in facts.names.scopes.values():
        if not isinstance(scope.owner, n.FunctionDef):
            continue
        found.update(s.starts_from for s in scope.symbols.values() if s.starts_from is not None)
        for statement in scope.owner.body:
            for node in walk(statement):
                symbol = facts.names.symbols.get(node) if isinstance(node, n.Name) else None
                around = () if symbol is None or symbol.scope is None else symbol.scope.around()
                if symbol is not None and scope not in around:
                    found.add(symbol)
    return found


@dataclass(slots=True)
class _Leaving:
    """The states in which the body of a loop is left, and begun anew."""

    exits: list[_State] = field(default_factory=list[_State])
    again: list[_State] = field(default_factory=list[_State])


class _Finder:
    def __init__(
        self,
        facts: Facts,
        captured: set[Symbol],
        found: dict[n.Statement, Growth],
    ) -> None:
        self.facts = facts
        self.captured = captured
        self.found = found
        self.loops: list[_Leaving] = []
        # The states in which each `try` around may be left for its handler.
        self.failing: list[list[_State]] = []

    # Statements

    def block(self, statements: Iterable[n.Statement], state: _State) -> _State | None:
        """The state below a block; None when the flow never gets there."""
        reached: _State | None = state
        for statement in statements:
            if reached is None:
                return None
            reached = self._statement(statement, reached)
            self._may_fail(reached)
        return reached

    def _statement(self, statement: n.Statement, state: _State) -> _State | None:
        match statement:
            case n.AssignStmt() | n.AugmentedAssignStmt():
                return self._assign(statement, state)
            case n.DestructureStmt() | n.UnpackStmt():
                return self._bind(statement, self._after(statement.value, state))
            case n.ExpressionStmt():
                return self._after(statement.value, state, is_kept=False)
            case n.IfStmt():
                return self._if(statement, state)
            case n.ForStmt():
                return self._for(statement, state)
            case n.WhileStmt():
                return self._while(statement, state)
            case n.TryStmt():
                return self._try(statement, state)
            case n.AssertStmt():
                state = self._after(statement.condition, state, is_kept=False)
                if statement.message is not None:
                    state = self._after(statement.message, state, is_kept=False)
                return None if ends((statement,)) else state
            case n.BreakStmt():
                if self.loops:  # outside of one it is a mistake that was told
                    self.loops[-1].exits.append(state)
                return None
            case n.ContinueStmt():
                if self.loops:
                    self.loops[-1].again.append(state)
                return None
            case n.RetStmt() | n.FailStmt():
                if statement.value is not None:
                    self._after(statement.value, state)
                return None
            case n.TypeAlias() | n.ImportStmt() | n.FromImport():
                return state
            case _:
                # A function or a record keeps what it is defined with.
                return _without(state, self._mentioned(statement))

    def _assign(self, statement: _Assignment, state: _State) -> _State:
        symbol = self.facts.names.of(statement.name)
        state = self._after(statement.value, state)
        growth = self._growth(statement, symbol)
        if growth is not None and state.get(symbol) == frozenset():
            self.found[statement] = growth
        else:
            self.found.pop(statement, None)
        is_own = self._is_new(statement.value) and symbol not in self.captured
        return {**state, symbol: frozenset()} if is_own else _without(state, (symbol,))

    def _if(self, statement: n.IfStmt, state: _State) -> _State | None:
        ways: list[_State | None] = []
        for branch in statement.branches:
            state = self._after(branch.condition, state, is_kept=False)
            ways.append(self.block(branch.body, state))
        ways.append(self.block(statement.other, state))
        return _met(ways)

    def _for(self, statement: n.ForStmt, state: _State) -> _State | None:
        state = self._after(statement.iterable, state, is_kept=False)
        head = dict(state)
        for symbol in self._viewed(statement.iterable):
            if symbol in head:
                head[symbol] |= {statement}
        turn = head
        while True:
            leaving = _Leaving()
            turned = self._turn(statement.body, self._bind(statement, turn), leaving)
            after = _met([head, turned, *leaving.again])
            if after == turn:
                break
            turn = after or {}
        return _out_of(statement, _met([turn, *leaving.exits]))

    def _while(self, statement: n.WhileStmt, state: _State) -> _State | None:
        turn = state
        while True:
            leaving = _Leaving()
            tested = self._after(statement.condition, turn, is_kept=False)
            turned = self._turn(statement.body, tested, leaving)
            after = _met([state, turned, *leaving.again])
            if after == turn:
                break
            turn = after or {}
        return _met([tested, *leaving.exits])

    def _try(self, statement: n.TryStmt, state: _State) -> _State | None:
        """The handler begins with what holds wherever the body may fail."""
        states = [state]
        self.failing.append(states)
        done = self.block(statement.body, state)
        self.failing.pop()
        # The loops in it are left by then.
        kept = _met(states) or {}
        caught = {symbol: loops for symbol, loops in state.items() if symbol in kept}
        return _met([done, self.block(statement.handler, caught)])

    def _turn(
        self, body: Sequence[n.Statement], state: _State, leaving: _Leaving
    ) -> _State | None:
        self.loops.append(leaving)
        turned = self.block(body, state)
        self.loops.pop()
        return turned

    def _bind(self, statement: n.Statement, state: _State) -> _State:
        return _without(state, map(self.facts.names.of, bound_by(statement)))

    def _mentioned(self, node: n.Node) -> Iterator[Symbol]:
        for inner in walk(node):
            symbol = self.facts.names.symbols.get(inner)
            if symbol is not None:
                yield symbol

    # Expressions

    def _after(self, node: n.Expression, state: _State, *, is_kept: bool = True) -> _State:
        """The state when an expression has its value, which its place keeps or not."""
        after = _without(state, self._handed_on(node, is_kept=is_kept))
        self._may_fail(after)
        return after

    def _may_fail(self, state: _State | None) -> None:
        """Notes that each `try` around may be left for its handler in this state."""
        if state is not None:
            for states in self.failing:
                states.append(state)

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
        return (is_proved and self._is_total(entry.key)) or self._is_total(entry.value)

    def _is_total(self, node: n.Expression) -> bool:
        """Whether it gives the same whenever it is evaluated, and never fails."""
        match node:
            case n.Binary(operator="+"):
                parts = (node.left, node.right)
                return self._is_native(node) and all(map(self._is_total, parts))
            case n.Call():
                form = self.facts.forms.calls.get(node)
                is_native = isinstance(form, BuiltinCall) and form.form == Form.NATIVE
                return (
                    is_native
                    and self._builtin(node) in _TOTAL
                    and all(self._is_total(argument.value) for argument in node.arguments)
                    and (self._builtin(node) != "str" or self._has_text(node.arguments[0].value))
                )
            case n.FormattedString():
                holes = [part for part in node.parts if isinstance(part, n.FormatHole)]
                values = [one.value for one in holes]
                is_plain = all(one.spec is None for one in holes)
                return is_plain and all(self._is_total(x) and self._has_text(x) for x in values)
            case n.Name():
                symbol = self.facts.names.of(node)
                return symbol not in self.facts.names.unset and not symbol.starts_late
            case _:
                return isinstance(node, n.Literal)

    def _has_text(self, node: n.Expression) -> bool:
        """Whether a value can certainly be written: an int of thousands of digits cannot."""
        is_short = is_only(self.facts.type_of(node), "float", "bool", "string", "nil")
        return is_short or isinstance(node, n.Literal)

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


def _met(states: Iterable[_State | None]) -> _State | None:
    """The state where several ways meet."""
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    first, *others = reached
    met = dict(first)
    for other in others:
        met = {symbol: loops | other[symbol] for symbol, loops in met.items() if symbol in other}
    return met


def _out_of(loop: _Loop, state: _State | None) -> _State | None:
    """The state below a loop, which goes over nothing any more."""
    return state and {symbol: loops - {loop} for symbol, loops in state.items()}
