"""The values of variables in the flow of a body, and the iterations of its loops.

    found = []                      0
    for mail in mails:              len(mails)
        found += [mail]             0 + len(mails) * 1

A loop or a `try` may run any of its assignments before any other. So what they assign counts at its
most, plus what is added to the variable each time.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from saftc.check.forms import Form
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, assigned_by, blocks_of
from saftc.cost.bound import A_BUDGET, ONE, ZERO, Bound, Reason, largest, number
from saftc.cost.lengths import UNKNOWN, Lengths, Value
from saftc.syntax import nodes as n
from saftc.types.types import INT

Loop = n.ForStmt | n.WhileStmt
# Loops whose iterations cannot be counted: over pieces of a text, or drafts.
_IN_PARTS = (Form.PIECES, Form.DRAFTS)
_A_COUNTER = (
    "a counter that every iteration increases bounds it, as in `while tries < 3`, and so does "
    "a budget of the run (`--budget-requests`)"
)
_Assignment = n.AssignStmt | n.AugmentedAssignStmt
# Statements, and how often they run at most.
_Runs = Iterable[tuple[n.Statement, Bound]]


class LoopBound(NamedTuple):
    """The most iterations of a loop.

    A `while` ends when an operand of its condition is false: `part` is the index of this operand.
    It is 0 for a `for`.
    """

    most: Bound
    part: int = 0


class _Step(NamedTuple):
    """What an assignment adds to the length of a variable.

    A `change` of 2 raises the length or the number by at least 2, and -2 lowers it by at least 2.
    """

    added: Bound
    change: int


class Variables:
    """The bounds for the variables of a body at one place."""

    def __init__(self, lengths: Lengths, known: dict[Symbol, Value]) -> None:
        self.lengths = lengths
        self.known = known
        self._names = lengths.facts.names

    def assign(self, statement: n.Statement) -> None:
        """Notes the values that a statement assigns."""
        is_known = isinstance(statement, _Assignment)
        value = self.lengths.value(statement.value, self.known) if is_known else UNKNOWN
        self.known.update(dict.fromkeys(self._assigned(statement), value))

    def after(self, statement: n.Statement, times: Bound = ONE) -> dict[Symbol, Value]:
        """The variables at any time in a statement whose blocks run `times` times, and after it."""
        inner = all_statements([statement])
        touched = dict.fromkeys((one for each in inner for one in self._assigned(each)), UNKNOWN)
        inside = Variables(self.lengths, {**self.known, **touched})
        blocks = [one for block in blocks_of(statement) for one in inside._runs(block, times)]
        changes: dict[Symbol, list[tuple[n.Statement, Bound]]] = {one: [] for one in touched}
        for one, often in [(statement, ONE), *blocks]:
            for symbol in self._assigned(one):
                changes[symbol].append((one, often))
        for symbol, runs in changes.items():
            inside.known[symbol] = inside._changed(symbol, self.known.get(symbol), runs)
        return inside.known

    def _runs(self, statements: Iterable[n.Statement], times: Bound) -> _Runs:
        """Yields the statements, also those in blocks, and how often they run at most."""
        for statement in statements:
            yield statement, times
            inner = times * self.turns(statement).most if isinstance(statement, Loop) else times
            for block in blocks_of(statement):
                yield from self._runs(block, inner)

    def _changed(self, symbol: Symbol, before: Value | None, runs: _Runs) -> Value:
        """The bounds for a variable that starts with the value `before`, and that `runs` change."""
        first = UNKNOWN if before is None and symbol.starts_from is not None else before
        ways, added = [] if first is None else [first], ZERO
        for statement, times in runs:
            if not isinstance(statement, _Assignment):
                return UNKNOWN
            step = self._step(statement.value, symbol)
            if step is None:
                ways.append(Value(*self.lengths.full(statement.value, self.known)))
            else:
                ways.append(Value(ZERO, ZERO if step.change < 0 else None))
                added += step.added * times
        if added.reasons:
            return UNKNOWN
        length = _largest([one.length for one in ways])
        return Value(length and length + added, _largest([one.number for one in ways]))

    def _assigned(self, statement: n.Statement) -> list[Symbol]:
        return [self._names.of(name) for name in assigned_by(statement)]

    def _step(self, value: n.Expression, symbol: Symbol) -> _Step | None:
        """What an assignment of `value` adds to a variable. Returns None if it does not add."""
        added = ZERO
        match value:
            case n.Binary(operator="+", left=left, right=right):
                own, rest = (left, right) if self._is(left, symbol) else (right, left)
                added = self.lengths.size(rest, self.known)
                is_list = isinstance(rest, n.ListLiteral)
                change = _written(rest.items) if is_list else self.lengths.value(rest, {}).least
            case n.Binary(operator="-", left=own, right=n.Literal(value=int(count))):
                change = -int(count)
            case (
                n.ListLiteral(items=(n.Spread(value=own), *rest))
                | n.ObjectLiteral(fields=(n.Spread(value=own), *rest))
            ) if _written(rest) == len(rest):
                added, change = number(len(rest)), len(rest)
            case (
                n.Slice(value=own, start=n.Literal(value=int(count)), stop=None, step=None)
                | n.Slice(
                    value=own,
                    start=None,
                    stop=n.Unary(operator="-", operand=n.Literal(value=int(count))),
                    step=None,
                )
            ):
                change = -int(count)
            case n.Slice(value=own):
                change = 0
            case _:
                return None
        return _Step(added, change or 0) if self._is(own, symbol) else None

    def _is(self, node: n.Expression, symbol: Symbol) -> bool:
        return isinstance(node, n.Name) and self._names.of(node) is symbol

    # Loops

    def turns(self, loop: Loop | n.ComprehensionClause) -> LoopBound:
        """The most iterations of a loop, or why the source shows no bound.

        An operand of a `while` condition must compare a variable with a value that the loop does
        not change. Every iteration must raise or lower the variable by an amount that the source
        shows.
        """
        if isinstance(loop, n.WhileStmt):
            for part, test in enumerate(parts_of(loop.condition)):
                most = self._ended_by(test, loop)
                if most is not None:
                    return LoopBound(most, part)
            node, advice = loop, _A_COUNTER
            words = "`while` repeats an unknown number of times"
        else:
            if self.lengths.facts.forms.loops.get(loop) not in _IN_PARTS:
                return LoopBound(self.lengths.size(loop.iterable, self.known))
            node, advice = loop.iterable, A_BUDGET
            words = "a stream comes in as many parts as the server sends"
        reason = Reason(node, self.lengths.source, words, advice)
        return LoopBound(Bound(reasons=(reason,)))

    def _ended_by(self, test: n.Expression, loop: n.WhileStmt) -> Bound | None:
        """The most iterations of a loop that ends when `test` is false.

        Returns None if the number is unknown.
        """
        if not isinstance(test, n.Comparison):
            return None
        lengths, types = self.lengths, self.lengths.facts.types
        node, end, operator = test.left, test.right, test.operator
        whole = node if _is_empty(end) else lengths.measured_by(node)
        change = self._change(node if whole is None else whole, end, loop)
        start = lengths.value(node, self.known).least
        stop = 0 if _is_empty(end) else lengths.value(end, self.known).least
        are_numbers = {types.get(node), types.get(end)} == {INT}
        more = 1 if operator in ("<=", ">=") else 0
        if operator in ("<", "<=") and are_numbers and start is not None and change > 0:
            return _steps(lengths.most(end, self.known), start - more, change)
        if stop is None or change >= 0:
            return None
        if operator == "!=":
            # Slicing makes the value shorter until it is empty.
            falls = whole is not None and stop == 0 and isinstance(end, n.ListLiteral | n.Literal)
        else:
            falls = are_numbers and operator in (">", ">=") and (whole is None or stop >= more)
        most = lengths.size if whole is node else lengths.most
        return _steps(most(node, self.known), stop - more, -change) if falls else None

    def _change(self, node: n.Expression, end: n.Expression, loop: n.WhileStmt) -> int:
        """The least change of a variable in each iteration. Returns 0 if the change is unknown.

        The change is known if exactly one statement of the loop assigns the variable, if every
        iteration runs this statement, and if the loop does not change `end`.
        """
        inside = list(all_statements(loop.body))
        touched = [symbol for one in inside for symbol in self._assigned(one)]
        is_fixed = not any(symbol in touched for symbol, _ in self._names.read(end))
        for only in loop.body:
            if isinstance(only, _Assignment) and self._is(node, self._names.of(only.name)):
                symbol, above = self._names.of(only.name), inside[: inside.index(only)]
                is_passed = not any(isinstance(one, n.ContinueStmt) for one in above)
                step = self._step(only.value, symbol)
                if step is not None and is_passed and is_fixed and touched.count(symbol) == 1:
                    return step.change
        return 0


def parts_of(condition: n.Expression) -> list[n.Expression]:
    """The operands of an `and`, in the order of their evaluation.

    Other conditions are returned whole.
    """
    if isinstance(condition, n.Logical) and condition.operator == "and":
        return [*parts_of(condition.left), *parts_of(condition.right)]
    return [condition]


def _largest(ways: Sequence[Bound | None]) -> Bound | None:
    known = [one for one in ways if one is not None]
    return largest(known) if len(known) == len(ways) else None


def _written(items: Sequence[n.Node]) -> int:
    """The number of items that are no spreads."""
    return sum(not isinstance(one, n.Spread) for one in items)


def _steps(high: Bound, low: int, step: int) -> Bound:
    """The most steps of size `step` that lead from `high` down to `low`."""
    most = high.less(low)
    return most if most.number is None else number(-(-most.number // step))


def _is_empty(node: n.Expression) -> bool:
    """Whether an expression is an empty list or an empty string."""
    match node:
        case n.ListLiteral(items=()) | n.Literal(value=""):
            return True
        case _:
            return False
