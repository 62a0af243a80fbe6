"""One body, gone through along its flow: what it asks, place by place.

What stands one below the other adds up, of several ways the largest counts, and a loop multiplies
by the length of what it goes over, also where it may be left before: `break` makes it no less.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from saftc.bounds.algebra import ONE, Measure, Polynomial, measured
from saftc.bounds.bound import NOTHING, Bound, FunctionBound, Piece, largest_bound
from saftc.bounds.growth import at_turn, measure_of, solved, turns, turns_of
from saftc.bounds.scripts import A_BUDGET, Script
from saftc.bounds.values import Known, Value, joined_values, own_name
from saftc.bounds.written import Made, Written
from saftc.flow.forward import Forward, Loop, Turn
from saftc.flow.statements import Statements, all_statements, assigned_by, evaluated_by
from saftc.semantics.forms import Form
from saftc.semantics.names import Symbol
from saftc.syntax import nodes as n
from saftc.syntax.constructs import CONSTRUCTS
from saftc.syntax.walk import children

# What asks for nothing beside what its parts ask, as an MCP server's tool does and Python's; what
# else there is has a rule of its own.
_ONLY_PARTS = tuple(kind for kind, known in CONSTRUCTS.items() if known.asks == "parts")
_STATEMENTS = tuple(kind for kind in CONSTRUCTS if kind in get_args(n.Statement))

_A_COUNTER = (
    "a counter that every turn makes larger bounds it, as in `while tries < 3`, and so does "
    "a budget of the run (`--budget-requests`)"
)
_IN_PARTS = "a stream comes in as many parts as the server sends"


class State(NamedTuple):
    """What is known at a point: of variables, and how much was asked until there."""

    known: Known
    asked: Bound


class Walk(Forward[State]):
    """One body, gone through once: also the body of a loop, from whose turn follow the others."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.reader = script.reader
        self.names = script.facts.names
        self.pieces: list[Piece] = []
        # What was asked wherever the body is left, and what it gives.
        self.ends: list[State] = []
        self.given: list[Value] = []

    def function(self, definition: n.FunctionDef) -> FunctionBound:
        """The bound of a function, in its parameters."""
        symbols = [self.names.of(one.name) for one in definition.parameters]
        known = {one: Value(Written((one,))) for one in symbols}
        bound = self._all_of(definition.body, known)
        own = Written((Made(definition, self.script.source, "is known only when it runs"),))
        value = joined_values(self.given, own) if self.given else None
        name, source = definition.name.text, self.script.source
        return FunctionBound(name, definition, source, bound, tuple(self.pieces), value)

    def top(self) -> FunctionBound:
        """The bound of what a script does at its top."""
        module = self.script.facts.module
        bound = self._all_of(module.statements, {})
        return FunctionBound("", module, self.script.source, bound, tuple(self.pieces))

    def _all_of(self, statements: Statements, known: Known) -> Bound:
        end = self.block(statements, State(known, NOTHING))
        return largest_bound(one.asked for one in (*self.ends, *([end] if end else [])))

    # The flow

    def join(self, states: Sequence[State]) -> State:
        first, *others = states
        if not others:
            return first
        asked = largest_bound(one.asked for one in states)
        known = dict(first.known)
        for symbol in {one for state in others for one in state.known} | known.keys():
            values = [one for state in states if (one := self._at(symbol, state)) is not None]
            known[symbol] = joined_values(values, own_name(symbol, self.script.source))
        return State(known, asked)

    def _at(self, symbol: Symbol, state: State) -> Value | None:
        """What is known of a variable at a point; before it is assigned it may be an outer one."""
        found = state.known.get(symbol)
        if found is None and symbol.starts_from is not None:
            return self.reader.of_symbol(symbol.starts_from, state.known)
        return found

    def evaluate(self, node: n.Expression, statement: n.Statement, state: State) -> State:
        return State(state.known, state.asked + self._asked(node, state.known))

    def bind(self, statement: n.Statement, state: State) -> State:
        bound = self._bound_values(statement, state.known)
        return State({**state.known, **bound}, state.asked) if bound else state

    def _bound_values(self, statement: n.Statement, known: Known) -> dict[Symbol, Value]:
        match statement:
            case (
                n.AssignStmt(name=name, value=value) | n.AugmentedAssignStmt(name=name, value=value)
            ):
                symbol = self.names.of(name)
                return {symbol: self.reader.value(value, known).named(symbol, self.script.source)}
            case n.UnpackStmt(pattern=pattern, value=value):
                return self.reader.bind(pattern, self.reader.value(value, known))
            case n.ForStmt(pattern=pattern, iterable=iterable):
                return self.reader.bind(pattern, self.reader.value(iterable, known).item)
            case _:
                symbols = map(self.names.of, assigned_by(statement))
                return {one: Value(own_name(one, self.script.source)) for one in symbols}

    def statement(self, statement: n.Statement, state: State) -> State | None:
        if type(statement) not in _STATEMENTS:
            words = f"no rule says what {type(statement).__name__} asks"
            state = State(state.known, state.asked + self.script.unknown(statement, words))
        match statement:
            case n.RetStmt() | n.FailStmt() | n.AssertStmt(always_fails=True):
                if isinstance(statement, n.RetStmt) and statement.value is not None:
                    self.given.append(self.reader.value(statement.value, state.known))
                self.ends.append(self._through(statement, state))
                return None
            case n.AssertStmt():
                # Where it fails, its message has been made, too.
                self.ends.append(self._through(statement, state))
                return State(state.known, state.asked + self._quietly(statement.condition, state))
            case _:
                return super().statement(statement, state)

    def _through(self, statement: n.Statement, state: State) -> State:
        """The state when a statement has evaluated all that it may."""
        for node in evaluated_by(statement):
            state = self._evaluated(node, statement, state)
        return state

    def _quietly(self, node: n.Expression, state: State) -> Bound:
        """What an expression asks, whose places are noted already."""
        pieces, self.pieces = self.pieces, []
        asked = self._asked(node, state.known)
        self.pieces = pieces
        return asked

    def loop(self, loop: Loop, state: State) -> State | None:
        over: Value | None = None
        if isinstance(loop, n.ForStmt) and not self._is_in_parts(loop):
            over = self.reader.value(loop.iterable, state.known)
        source = self.script.source
        symbols = self._assigned_in(loop)
        mark = next(turns)
        marks = {one: at_turn(one, mark, source) for one in symbols}
        outer = self.pieces, self.ends, self.failing, self.given
        self.pieces, self.ends, self.failing, self.given = [], [], [[]], []
        turn = Turn[State](loop)
        self.turns.append(turn)
        head = State({**state.known, **marks}, NOTHING)
        if isinstance(loop, n.ForStmt):
            begun = self._bound(loop, head)
        else:
            begun = self._evaluated(loop.condition, loop, head)
        end, again = self._turned(loop, begun, turn)
        self.turns.pop()
        around = [begun, *([end] if end else []), *turn.continues, *turn.breaks]
        left = [*around, *self.ends, *self.failing[0]]
        once = largest_bound(one.asked for one in left) + again
        size, last = None if over is None else over.size, NOTHING
        if isinstance(loop, n.WhileStmt):
            back = [one.known for one in (*([end] if end else []), *turn.continues)]
            parts = _parts_of(loop.condition)
            tests = [self.reader.test(one, head.known) for one in parts]
            counted = turns_of(tests, symbols, state.known, back, mark)
            if counted is not None:
                size = counted.most
                for one in parts[: counted.part + 1]:
                    last += self._quietly(one, head)
        heads = solved(symbols, state.known, [one.known for one in left], mark, size, source)
        pieces, ends, given = self.pieces, self.ends, self.given
        self.pieces, self.ends, self.failing, self.given = outer

        def meaning(measure: Measure) -> Polynomial:
            if measure.turn == mark:
                return measure_of(heads[measure.of.symbols[0]], measure.kind)
            return measured(measure)

        def resolved(formula: Polynomial) -> Polynomial:
            return formula.replaced(meaning)

        once, last = (Bound(resolved(one.most), one.reasons) for one in (once, last))
        if size is not None:
            asked = once.times(size) + last
        elif once.is_zero:
            asked = NOTHING
        elif isinstance(loop, n.ForStmt):
            asked = once + self.script.unknown(loop.iterable, _IN_PARTS, A_BUDGET)
        else:
            words = "`while` repeats an unknown number of times"
            asked = once + self.script.unknown(loop, words, _A_COUNTER)
        if not once.is_zero:
            inner = tuple(_resolved_piece(one, resolved) for one in pieces)
            if over is not None:
                words = f"for each of {over.written.shown}"
            elif size is not None:
                words = f"`while`, at most {size.text} turn{'' if size == ONE else 's'}"
            else:
                words = "for each part" if isinstance(loop, n.ForStmt) else "`while`"
            self.pieces.append(Piece(loop, source, asked, words, inner))
        self.given += [one.replaced(resolved) for one in given]
        known = {**state.known, **heads}
        if isinstance(loop, n.ForStmt):
            for symbol in self.reader.bind(loop.pattern, None):
                known[symbol] = Value(own_name(symbol, source))
        below = State(known, state.asked + asked)
        self._passed(below)
        is_endless = isinstance(loop, n.WhileStmt) and _is_true(loop.condition)
        is_over = not is_endless or bool(turn.breaks)
        if ends or not is_over:
            self.ends.append(below)
        return below if is_over else None

    def _is_in_parts(self, loop: n.ForStmt | n.ComprehensionClause) -> bool:
        """Whether a loop goes over what nobody can count: pieces of a text, or drafts."""
        return self.script.facts.forms.loops.get(loop) in (Form.PIECES, Form.DRAFTS)

    def _turned(self, loop: Loop, begun: State, turn: Turn[State]) -> tuple[State | None, Bound]:
        """The end of one turn, and what of it may be asked again.

        A part that runs ahead and reads a file runs again at its turn when the rest of an earlier
        one has written it since (`Task.finish`, `make_anew`): once, as the part itself writes none.
        """
        ahead = self.script.ahead(loop)
        if ahead is None:
            return self.block(loop.body, begun), NOTHING
        first, rest = loop.body[: ahead.cut], loop.body[ahead.cut :]
        middle = self.block(first, begun)
        again = NOTHING
        effects = self.script.effects
        if "reads" in effects.of(*first) and "writes" in effects.of(*rest):
            left = [*([middle] if middle else []), *turn.continues, *self.failing[0], *self.ends]
            again = largest_bound(one.asked for one in left)
        return (None if middle is None else self.block(rest, middle)), again

    def _assigned_in(self, loop: Loop) -> list[Symbol]:
        own = set(assigned_by(loop))
        found = (one for inner in all_statements([loop]) for one in assigned_by(inner))
        return list(dict.fromkeys(self.names.of(one) for one in found if one not in own))

    # Expressions

    def _asked(self, node: n.Node, known: Known) -> Bound:
        """What evaluating an expression asks; the places in it are noted."""
        match node:
            case n.Prompt():
                asked = self._parts(node, known)
                return asked + self._note(self.script.prompt(node, known))
            case n.Call():
                asked = self._parts(node, known)
                piece = self.script.call(node, known)
                return asked if piece is None else asked + self._note(piece)
            case n.Conditional(condition=condition, then=then, other=other):
                ways = [self._asked(one, known) for one in (then, other)]
                return self._asked(condition, known) + largest_bound(ways)
            case n.Comprehension():
                return self._comprehension(node, known)
            case _ if isinstance(node, _ONLY_PARTS):
                return self._parts(node, known)
            case _:
                return self.script.unknown(node, f"no rule says what {type(node).__name__} asks")

    def _parts(self, node: n.Node, known: Known) -> Bound:
        asked = NOTHING
        for one in children(node):
            asked += self._asked(one, known)
        return asked

    def _note(self, piece: Piece) -> Bound:
        self.pieces.append(piece)
        return piece.bound

    def _comprehension(self, node: n.Comprehension, known: Known) -> Bound:
        return self._clauses(node, list(node.clauses), known)

    def _clauses(
        self, node: n.Comprehension, clauses: list[n.ComprehensionClause], known: Known
    ) -> Bound:
        if not clauses:
            return self._asked(node.item, known)
        clause, *others = clauses
        asked = self._asked(clause.iterable, known)
        over = self.reader.value(clause.iterable, known)
        inside = {**known, **self.reader.bind(clause.pattern, over.item)}
        outer, self.pieces = self.pieces, []
        once = NOTHING
        for condition in clause.conditions:
            once += self._asked(condition, inside)
        once += self._clauses(node, others, inside)
        pieces, self.pieces = self.pieces, outer
        each = once.times(over.size)
        words = f"for each of {over.written.shown}"
        if self._is_in_parts(clause) and not once.is_zero:
            each = once + self.script.unknown(clause.iterable, _IN_PARTS, A_BUDGET)
            words = "for each part"
        if not once.is_zero:
            self._note(Piece(clause, self.script.source, each, words, tuple(pieces)))
        return asked + each


def _resolved_piece(piece: Piece, resolved: Callable[[Polynomial], Polynomial]) -> Piece:
    bound = Bound(resolved(piece.bound.most), piece.bound.reasons)
    inner = tuple(_resolved_piece(one, resolved) for one in piece.inner)
    return replace(piece, bound=bound, inner=inner)


def _is_true(condition: n.Expression) -> bool:
    return isinstance(condition, n.Literal) and condition.value is True


def _parts_of(condition: n.Expression) -> list[n.Expression]:
    """The conditions that are all true where this one is, in the order in which they are tested."""
    if isinstance(condition, n.Logical) and condition.operator == "and":
        return [*_parts_of(condition.left), *_parts_of(condition.right)]
    return [condition]
