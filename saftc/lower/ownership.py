"""Finds assignments that may change a list or object in place, as no other name holds the value.

    found = []                          found = []
    for word in words:                  for word in words:
        found = found + [word]              found.append(word)

Saft never changes values. If only one name holds a value, a change is not observable. A name *owns*
its list or object from an assignment of a new one (a literal, a comprehension, a sum) until the
value escapes: into another name or value, into a function, or as the result of the function. Names
that inner functions read never own their values. While a `for` loops over a value, a name may own
it, but the value must not grow.

This is a forward analysis over each function and the module. Its state is the names that own their
values, each with the loops over its value. Where paths meet, a name owns its value if it owns the
value on all paths. Operands of unknown statements and expressions count as escaping.
"""

from collections.abc import Iterable, Iterator, Sequence

from saftc.check.facts import Facts
from saftc.check.forms import Append, BuiltinCall, Extend, Form, Growth, Put
from saftc.check.forward import ForwardAnalysis, Loop
from saftc.check.names import Symbol
from saftc.check.statements import bound_by
from saftc.infer.failures import never_fails
from saftc.syntax import nodes as n
from saftc.syntax.constructs import construct_of
from saftc.syntax.walk import children, walk
from saftc.types.builtins import Holds
from saftc.types.types import ANY, MapType, ObjectType, is_only, members

# These statements evaluate an expression and keep no part of its value.
_DROPS = (n.ExpressionStmt, n.IfStmt, n.ForStmt, n.WhileStmt, n.AssertStmt)
_Assignment = n.AssignStmt | n.AugmentedAssignStmt


# The names that own their values, each with the loops that went over its value.
_State = dict[Symbol, frozenset[Loop]]


def find_growth(facts: Facts) -> dict[n.Statement, Growth]:
    """Maps each assignment that may change a value in place to the form of the change."""
    captured = _captured(facts)
    found: dict[n.Statement, Growth] = {}
    for owner in facts.names.scopes:
        if isinstance(owner, n.Module):
            _GrowthFinder(facts, captured, found).block(owner.statements, {})
        elif isinstance(owner, n.FunctionDef):
            _GrowthFinder(facts, captured, found).block(owner.body, {})
    return found


def _captured(facts: Facts) -> set[Symbol]:
    """The symbols that functions read from the scopes around them."""
    return {symbol for captured in facts.names.captures.values() for symbol in captured}


class _GrowthFinder(ForwardAnalysis[_State]):
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
        is_kept = not isinstance(statement, _DROPS)
        state = _without(state, self._escaping(node, is_kept=is_kept))
        if isinstance(statement, n.ForStmt):
            viewed = state.keys() & set(self._viewed(node))
            state = state | {symbol: state[symbol] | {statement} for symbol in viewed}
        return state

    def bind(self, statement: n.Statement, state: _State) -> _State:
        if isinstance(statement, _Assignment):
            return self._assign(statement, state)
        return _without(state, map(self.facts.names.of, bound_by(statement)))

    def join(self, states: Sequence[_State]) -> _State:
        """The names that own their values on all paths."""
        first, *others = states
        met = dict(first)
        for other in others:
            met = {one: loops | other[one] for one, loops in met.items() if one in other}
        return met

    def _assign(self, statement: _Assignment, state: _State) -> _State:
        symbol = self.facts.names.of(statement.name)
        growth = self._growth(statement, symbol)
        if growth is not None and self._may_change(symbol, state):
            self.found[statement] = growth
        else:
            self.found.pop(statement, None)
        if not self._is_new(statement.value) or symbol in self.captured:
            return _without(state, (symbol,))
        return {**state, symbol: frozenset()}

    def _may_change(self, symbol: Symbol, state: _State) -> bool:
        """Whether a name owns its value, and none of the loops around iterates over the value."""
        loops = state.get(symbol)
        return loops is not None and loops.isdisjoint(turn.loop for turn in self.turns)

    def _mentioned(self, node: n.Node) -> Iterator[Symbol]:
        for inner in walk(node):
            symbol = self.facts.names.symbols.get(inner)
            if symbol is not None:
                yield symbol

    # Expressions

    def _escaping(self, node: n.Node, *, is_kept: bool) -> Iterator[Symbol]:
        """Yields the names whose values may get another holder when `node` is evaluated.

        If `is_kept`, the value of `node` itself gets a holder.
        """
        match node:
            case n.Name():
                if is_kept:
                    yield self.facts.names.of(node)
            case n.Call():
                yield from self._handed_to(node)
            case n.Conditional():
                yield from self._escaping(node.condition, is_kept=False)
                yield from self._escaping(node.then, is_kept=is_kept)
                yield from self._escaping(node.other, is_kept=is_kept)
            case n.ComputedField():
                yield from self._escaping(node.key, is_kept=False)
                yield from self._escaping(node.value, is_kept=True)
            case n.Prompt() if node.mode == "program" or node.options or node.after:
                yield from self._mentioned(node)
            case _ if construct_of(node).keeps != "unknown" or isinstance(node, n.Prompt):
                # A prompt or a text shows its parts: only their text is kept.
                for part in children(node):
                    yield from self._escaping(part, is_kept=construct_of(node).keeps == "parts")
            case _:
                yield from self._mentioned(node)

    def _handed_to(self, node: n.Call) -> Iterator[Symbol]:
        yield from self._escaping(node.function, is_kept=False)
        for position, argument in enumerate(node.arguments):
            is_looked_at = self._is_looked_at(node, position)
            yield from self._escaping(argument.value, is_kept=not is_looked_at)

    def _is_looked_at(self, node: n.Call, position: int) -> bool:
        """Whether a call keeps no reference to the argument at `position` after it has returned."""
        if node.arguments[position].name is not None:
            return False
        match self._holds(node):
            case "nothing" | "items":
                return True
            case "default":
                return position < 2
            case "one":
                return sum(argument.name is None for argument in node.arguments) == 1
            case "arguments":
                return False

    def _holds(self, node: n.Expression) -> Holds:
        """Which parts of a call's arguments its result may contain."""
        form = self._builtin(node)
        return "arguments" if form is None else form.builtin.holds

    def _builtin(self, node: n.Expression) -> BuiltinCall | None:
        """The form of a call of a builtin by its name. None for other expressions."""
        form = self.facts.forms.calls.get(node) if isinstance(node, n.Call) else None
        return form if isinstance(form, BuiltinCall) else None

    def _is_new(self, node: n.Expression) -> bool:
        """Whether the value of an expression is a list or an object that nothing held before."""
        match node:
            case n.ListLiteral() | n.ObjectLiteral() | n.Comprehension():
                return True
            case n.Binary(operator="+") | n.Slice():
                return is_only(self.facts.type_of(node), "list")
            case n.Call():
                is_list = is_only(self.facts.types.get(node, ANY), "list")
                return is_list and self._holds(node) in ("nothing", "items")
            case _:
                return False

    def _viewed(self, node: n.Expression) -> Iterator[Symbol]:
        """Yields the names whose values are iterated over when the value of `node` is."""
        match node:
            case n.Name():
                yield self.facts.names.of(node)
            case n.Conditional():
                yield from self._viewed(node.then)
                yield from self._viewed(node.other)
            case n.Call() if (form := self._builtin(node)) and form.way.python.is_iterator:
                for argument in node.arguments:
                    yield from self._viewed(argument.value)
            case _:
                return

    # How a name's value grows

    def _growth(self, statement: _Assignment, symbol: Symbol) -> Growth | None:
        is_annotated = isinstance(statement, n.AssignStmt) and statement.schema is not None
        if is_annotated:
            return None
        read, growth = self._grown(statement.value)
        is_same = isinstance(read, n.Name) and self.facts.names.of(read) is symbol
        if growth is None or not is_same or symbol in self._viewed_by(growth):
            return None
        # The annotation of the first assignment can have the type that the name holds later.
        is_told = isinstance(symbol.node, n.AssignStmt) or self.facts.types.get(
            read
        ) == self.facts.types.get(statement.value)
        return growth if is_told else None

    def _grown(self, value: n.Expression) -> tuple[n.Expression, Growth | None]:
        """Returns the expression that `value` extends, and the form of the extension.

        The form is None if `value` is no extension.
        """
        match value:
            case n.Binary(operator="+", left=read, right=right):
                growth = self._grown_list(right) if self._is_native(value) else None
                kind = "list"
            case n.ListLiteral(items=(n.Spread(value=read), first, *others)):
                is_alone = isinstance(first, n.Spread) and not others
                growth = Extend(first) if is_alone else Append((first, *others))
                kind = "list"
            case n.ObjectLiteral(fields=(n.Spread(value=read), first, *others)):
                growth = self._grown_object(read, (first, *others))
                kind = "object"
            case _:
                return value, None
        type_ = self.facts.types.get(read)
        is_known = type_ is not None and is_only(type_, kind)
        return read, growth if is_known and value not in self.facts.coercions else None

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

    def _grown_object(
        self, read: n.Expression, entries: tuple[n.Entry, ...]
    ) -> Growth | None:
        owners = members(self.facts.types.get(read, ANY))
        if not all(isinstance(one, MapType | ObjectType) for one in owners):
            return None
        if any(isinstance(one, ObjectType) and one.is_declared for one in owners):
            return None  # the keys of a TypedDict do not change
        match entries:
            case (n.Field() | n.ComputedField() as one,):
                is_in_order = isinstance(one, n.Field) or self._in_any_order(one)
                return Put(entries, is_item=is_in_order)
            case _:
                return Put(entries, is_item=False)

    def _in_any_order(self, entry: n.ComputedField) -> bool:
        """Whether Python may evaluate the value before the key, as `x[key] = value` does."""
        is_proved = self.facts.forms.keys.get(entry.key) == Form.NATIVE
        return (is_proved and self._is_settled(entry.key)) or self._is_settled(entry.value)

    def _is_settled(self, node: n.Expression) -> bool:
        """Whether an expression never fails, and has the same value whenever it is evaluated."""
        return never_fails(self.facts, node) and all(map(self._stays, walk(node)))

    def _stays(self, node: n.Node) -> bool:
        """Whether a node has the same value as long as its parts have the same values."""
        if isinstance(node, n.Call):
            form = self.facts.forms.calls.get(node)
            return isinstance(form, BuiltinCall) and form.builtin.is_pure
        return construct_of(node).stays

    def _viewed_by(self, growth: Growth) -> set[Symbol]:
        """The names whose values are iterated over while another value grows."""
        match growth:
            case Extend(added):
                return set(self._viewed(added.value if isinstance(added, n.Spread) else added))
            case Put(entries=(n.Spread(value=value),)):
                return set(self._viewed(value))
            case Append() | Put():
                return set()


def _without(state: _State, symbols: Iterable[Symbol]) -> _State:
    """The state in which some names no longer own their values."""
    gone = set(symbols)
    return state if gone.isdisjoint(state) else {s: state[s] for s in state if s not in gone}
