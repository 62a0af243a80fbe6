"""Upper bounds for lengths, numbers and the iterations of loops, from the source of a script.

    mails + [extra]         len(mails) + 1
    names[:10]              10
    range(1, n + 1)         n

An expression for which there is no rule becomes a measure: `len(split(text, "\\n"))`.
"""

import re
from collections.abc import Callable, Sequence, Set
from functools import reduce
from operator import mul
from typing import NamedTuple

from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall, Form
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, assigned_by
from saftc.cost.algebra import ONE, ZERO, Kind, Polynomial, largest, least, measured, number
from saftc.cost.definitions import Assignment, Definition, Definitions
from saftc.cost.symbolic import Opaque, Part, SymbolicExpression, joined
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.types import INT, TupleType

Loop = n.ForStmt | n.WhileStmt
# The statement that evaluates an expression. None means any time.
At = n.Statement | None

_HEAD_ROWS = 5
# Builtins whose result is as long as their argument.
_AS_LONG = frozenset(
    {"sorted", "reversed", "select", "rows", "enumerate", "keys", "values", "items"}
)
_TIGHT = (
    n.Name | n.Literal | n.ListLiteral | n.TupleLiteral | n.ObjectLiteral | n.Call | n.Index
    | n.Slice | n.Member | n.TupleMember | n.Comprehension | n.FormattedString
)  # fmt: skip
# Loops whose turns cannot be counted: over pieces of a text, or drafts.
IN_PARTS = (Form.PIECES, Form.DRAFTS)
# The longest chain of variables that is followed.
_DEEPEST = 30


class LoopBound(NamedTuple):
    """The most iterations of a loop.

    A `while` ends when an operand of its condition is false: `part` is the index of this operand.
    It is 0 for a `for`.
    """

    most: Polynomial
    part: int


class _Step(NamedTuple):
    """The most that an assignment adds to a variable, and the least change that it makes.

    A `change` of 2 raises the variable by at least 2, and -2 lowers it by at least 2.
    """

    added: Polynomial
    change: int


class Lengths:
    """Upper bounds for the lengths of values, and for numbers, in one script.

    `asks` says whether evaluating an expression asks a model.
    """

    def __init__(self, facts: Facts, source: Source, asks: Callable[[n.Expression], bool]) -> None:
        self.facts = facts
        self.source = source
        self.definitions = Definitions(facts)
        self._asks = asks
        self._open: list[object] = []
        self._found: dict[tuple[Definition | Symbol, Kind], Polynomial | None] = {}

    def size(self, node: n.Expression, at: At) -> Polynomial:
        """An upper bound for the length of a value."""
        return self.most(node, "len", at)

    def most(self, node: n.Expression, kind: Kind, at: At) -> Polynomial:
        """An upper bound for the length of a value, or for the number itself if `kind` is `int`.

        The bound is at least 0.
        """
        found = self._known(node, kind, at)
        return measured(kind, self.written(node, at)) if found is None else found

    def _known(self, node: n.Expression, kind: Kind, at: At) -> Polynomial | None:
        if isinstance(node, n.Name):
            return self._of_name(self.facts.names.of(node), kind, at)
        if isinstance(node, n.Conditional):
            return largest(*(self.most(one, kind, at) for one in (node.then, node.other)))
        return self._size(node, at) if kind == "len" else self._count(node, at)

    def _size(self, node: n.Expression, at: At) -> Polynomial | None:
        type_ = self.facts.types.get(node)
        if isinstance(type_, TupleType):
            return number(len(type_.items))
        match node:
            case n.Literal(value=str(text)):
                return number(len(text))
            case n.ListLiteral(items=items) | n.ObjectLiteral(fields=items):
                spread = [self.size(one.value, at) for one in items if isinstance(one, n.Spread)]
                return sum(spread, number(len(items) - len(spread)))
            case n.Binary(operator="+", left=left, right=right):
                return self.size(left, at) + self.size(right, at)
            case n.Comprehension(clauses=clauses):
                return reduce(mul, (self.size(one.iterable, at) for one in clauses))
            case n.Slice():
                return self._slice(node, at)
            case n.Call():
                return self._made_by_builtin(node, at)
            case _:
                return None

    def _slice(self, node: n.Slice, at: At) -> Polynomial:
        whole = self.size(node.value, at)
        start = 0 if node.start is None else self.least(node.start, at)
        if start is None or start < 0 or not _goes_on(node.step):
            return whole
        rest = whole.less(start)
        stop = None if node.stop is None else self.least(node.stop, at)
        if node.stop is None or stop is None or stop < 0:
            return rest
        return least(self.most(node.stop, "int", at).less(start), rest)

    def _made_by_builtin(self, node: n.Call, at: At) -> Polynomial | None:
        name, given = self._builtin(node)
        match name:
            case "range" if len(given) < 3:
                start = 0 if len(given) == 1 else self.least(given[0], at)
                if start is None or start < 0:
                    return None
                return self.most(given[-1], "int", at).less(start)
            case "zip" if given:
                return least(*(self.size(one, at) for one in given))
            case "head" if len(given) == 1:
                return number(_HEAD_ROWS)
            case "head" if (self.least(given[1], at) or -1) >= 0:
                return self.most(given[1], "int", at)
            case _ if name in _AS_LONG and given:
                return self.size(given[0], at)
            case _:
                return None

    def _count(self, node: n.Expression, at: At) -> Polynomial | None:
        match node:
            case n.Literal(value=int(value)) if not isinstance(value, bool):
                return number(value)
            case n.Unary(operator="-", operand=n.Literal(value=int())):
                return ZERO
            case n.Binary(operator="+", left=left, right=right):
                return self.most(left, "int", at) + self.most(right, "int", at)
            case n.Binary(operator="-", left=left, right=right):
                taken = self.least(right, at)
                if taken is None:
                    return None
                return self.most(left, "int", at).less(max(0, taken)) + number(-taken)
            case n.Member() | n.Call():
                whole = self._measured_by(node)
                if whole is not None:
                    return self.size(whole, at)
                name, given = self._builtin(node)
                is_known = name == "min" and len(given) > 1
                return least(*(self.most(one, "int", at) for one in given)) if is_known else None
            case _:
                return None

    def least(self, node: n.Expression, at: At) -> int | None:
        """A lower bound of a whole number. Returns None if the source shows no lower bound."""
        match node:
            case n.Literal(value=int(value)) if not isinstance(value, bool):
                return value
            case n.Unary(operator="-", operand=n.Literal(value=int(value))):
                return -value
            case n.Conditional(then=then, other=other):
                ways = self.least(then, at), self.least(other, at)
                return None if ways[0] is None or ways[1] is None else min(ways[0], ways[1])
            case n.Name() if len(self._open) < _DEEPEST:
                definition = self.definitions.at(self.facts.names.of(node), at)
                if not isinstance(definition, Assignment):
                    return None
                self._open.append(definition)
                found = self.least(definition.value, definition)
                self._open.pop()
                return found
            case n.Member() | n.Call() if self._measured_by(node) is not None:
                return 0
            case _:
                return None

    def _measured_by(self, node: n.Expression) -> n.Expression | None:
        """The expression `x` in `len(x)` or `x.length`. Returns None for other expressions."""
        if isinstance(node, n.Member):
            # A record may have a field called `length`.
            return node.value if self.facts.forms.members.get(node) == Form.LENGTH else None
        name, given = self._builtin(node)
        return given[0] if name == "len" else None

    def _builtin(self, node: n.Expression) -> tuple[str, Sequence[n.Expression]]:
        """The name of the builtin that an expression calls, and the arguments of the call.

        The name is "" if the expression does not call a builtin.
        """
        form = self.facts.forms.calls.get(node) if isinstance(node, n.Call) else None
        if not isinstance(form, BuiltinCall) or form.arguments is None:
            return "", ()
        return form.builtin.name, form.arguments

    # Variables

    def _of_name(self, symbol: Symbol, kind: Kind, at: At) -> Polynomial:
        definition = self.definitions.at(symbol, at)
        key = definition or symbol, kind
        if key not in self._found and key not in self._open and len(self._open) < _DEEPEST:
            self._open.append(key)
            if definition is not None:
                self._found[key] = self._defined(definition, symbol, kind)
            else:
                self._found[key] = self._of_all(symbol, kind)
            self._open.pop()
        found = self._found.get(key)
        return measured(kind, self._name(symbol, at)) if found is None else found

    def _defined(self, definition: Definition, symbol: Symbol, kind: Kind) -> Polynomial | None:
        """The bound of a variable whose value comes from this definition.

        Returns None if the bound is unknown.
        """
        match definition:
            case n.AssignStmt(value=value) | n.AugmentedAssignStmt(value=value):
                return self._known(value, kind, definition)
            case n.Parameter():
                return measured(kind, SymbolicExpression((symbol,)))
            case n.ForStmt(pattern=n.NamePattern(), iterable=over) if kind == "int":
                name, given = self._builtin(over)
                is_known = name == "range" and len(given) < 3
                return self.most(given[-1], kind, definition) if is_known else None
            case _:
                return None

    def _of_all(self, symbol: Symbol, kind: Kind) -> Polynomial | None:
        """The bound of a variable at any time, from all of its definitions.

        The bound is the largest value of a plain assignment, plus everything that the other
        assignments add. Returns None if the bound is unknown.
        """
        ways, grown = list[Polynomial | None](), ZERO
        if symbol.starts_from is not None:
            ways.append(self._of_name(symbol.starts_from, kind, None))
        definitions = self.definitions.of(symbol)
        steps = {one: self._step(one, symbol, kind) for one in definitions}
        resets = {one for one in definitions if isinstance(one, Assignment) and not steps[one]}
        for one, step in steps.items():
            if step is None:
                is_own = one in resets and self._reads(one, {symbol})
                ways.append(None if is_own else self._defined(one, symbol, kind))
            elif isinstance(one, Assignment) and not step.added.is_zero:
                times = self._times(one, resets)
                ways.append(None if times is None else ZERO)
                grown += step.added * (times or ZERO)
        known = [one for one in ways if one is not None]
        return largest(*known) + grown if ways and len(known) == len(ways) else None

    def _step(self, definition: Definition, symbol: Symbol, kind: Kind) -> _Step | None:
        """How much an assignment adds to a variable or takes from it.

        Returns None if the assignment does neither, or if it subtracts an unknown amount.
        """
        match definition:
            case n.AssignStmt(value=value) | n.AugmentedAssignStmt(value=value):
                pass
            case _:
                return None
        match value:
            case n.Binary(operator="+", left=left, right=right):
                own, rest = (left, right) if self._is(left, symbol) else (right, left)
                if not self._is(own, symbol):
                    return None
                written = len(rest.items) if isinstance(rest, n.ListLiteral) else 0
                least_ = self.least(rest, definition) or 0 if kind == "int" else written
                return _Step(self.most(rest, kind, definition), least_)
            case n.Binary(operator="-", left=own, right=right) if self._is(own, symbol):
                taken = self.least(right, definition)
                return None if taken is None or taken < 0 else _Step(ZERO, -taken)
            case n.ListLiteral(items=items) | n.ObjectLiteral(fields=items):
                spreads = [one.value for one in items if isinstance(one, n.Spread)]
                is_own = len(spreads) == 1 and self._is(spreads[0], symbol)
                return _Step(number(len(items) - 1), len(items) - 1) if is_own else None
            case n.Slice(value=own) if self._is(own, symbol):
                return _Step(ZERO, -self._left_out(value, definition))
            case _:
                return None

    def _left_out(self, node: n.Slice, at: At) -> int:
        """The least number of items that a slice leaves out, if the value has that many items."""
        start = 0 if node.start is None else self.least(node.start, at)
        stop = 0 if node.stop is None else self.least(node.stop, at) or 0
        if start is None or start < 0 or not _goes_on(node.step):
            return 0
        return max(start, -stop if isinstance(node.stop, n.Unary) else 0)

    def _is(self, node: n.Expression, symbol: Symbol) -> bool:
        return isinstance(node, n.Name) and self.facts.names.of(node) is symbol

    def _reads(self, node: n.Node, symbols: Set[Symbol]) -> bool:
        return any(symbol in symbols for symbol, _ in self.facts.names.read(node))

    def _times(self, definition: n.Statement, resets: Set[n.Node]) -> Polynomial | None:
        """How often a statement runs at most after one of the `resets` above it has run.

        Without such a reset, counts the runs in one call of the function. Returns None if there is
        no bound.
        """
        times = ONE
        for place in self.definitions.around(definition):
            if not resets.isdisjoint(place.before):
                break
            if isinstance(place.above, Loop):
                turns = self.turns(place.above, place.above)
                if turns is None:
                    return None
                times *= turns.most
        return times

    # Loops

    def turns(self, loop: Loop | n.ComprehensionClause, at: At) -> LoopBound | None:
        """The most iterations of a loop. Returns None if the source shows no bound.

        An operand of a `while` condition must compare a variable with a value that the loop does
        not change. Every iteration must raise or lower the variable by an amount that the source
        shows.
        """
        if loop in self._open:
            return None
        self._open.append(loop)
        found = None
        if isinstance(loop, n.WhileStmt):
            ends = [self._ended_by(one, loop) for one in parts_of(loop.condition)]
            known = (LoopBound(one, part) for part, one in enumerate(ends) if one is not None)
            found = next(known, None)
        elif self.facts.forms.loops.get(loop) not in IN_PARTS:
            found = LoopBound(self.size(loop.iterable, at), 0)
        self._open.pop()
        return found

    def _ended_by(self, test: n.Expression, loop: n.WhileStmt) -> Polynomial | None:
        """The most iterations of a loop that ends when `test` is false.

        Returns None if the number is unknown.
        """
        if not isinstance(test, n.Comparison):
            return None
        left, right, operator = test.left, test.right, test.operator
        are_numbers = {self.facts.types.get(one) for one in (left, right)} == {INT}
        more = 1 if operator in ("<=", ">=") else 0
        for node, end, way in ((left, right, "<"), (right, left, ">")):
            whole = node if _is_empty(end) else self._measured_by(node)
            name, kind = (node, "int") if whole is None else (whole, "len")
            change = self._change(name, kind, end, loop)
            low = 0 if _is_empty(end) else self.least(end, loop)
            if operator == "!=":
                # Slicing makes the value shorter until it is empty.
                is_nothing = low == 0 and isinstance(end, n.Literal | n.ListLiteral)
                if kind == "len" and is_nothing and change < 0:
                    return _steps(self.most(name, kind, loop), 0, -change)
            elif not are_numbers:
                continue
            elif operator[0] == way:
                start = self.least(node, loop)
                if start is not None and change > 0:
                    return _steps(self.most(end, "int", loop) + number(more), start, change)
            elif low is not None and change < 0 and (kind == "int" or low >= more):
                return _steps(self.most(name, kind, loop), low - more, -change)
        return None

    def _change(self, node: n.Expression, kind: Kind, end: n.Expression, loop: n.WhileStmt) -> int:
        """The least change of a variable in each iteration. Returns 0 if the change is unknown.

        The change is known if exactly one statement of the loop assigns the variable, if every
        iteration runs this statement, and if the loop does not change `end`.
        """
        inside = list(all_statements(loop.body))
        assigned = {self.facts.names.of(name): one for one in inside for name in assigned_by(one)}
        if not isinstance(node, n.Name) or self._reads(end, assigned.keys()):
            return 0
        symbol = self.facts.names.of(node)
        changing = [one for one in self.definitions.of(symbol) if one in inside]
        if len(changing) != 1 or changing[0] not in loop.body:
            return 0
        above = inside[: inside.index(changing[0])]
        step = self._step(changing[0], symbol, kind)
        is_passed = not any(isinstance(one, n.ContinueStmt) for one in above)
        return step.change if step is not None and is_passed else 0

    # How it is written

    def written(self, node: n.Expression, at: At) -> SymbolicExpression:
        """The expression as the script writes it, with its variables as symbols."""
        parts: list[Part] = []
        made = Opaque(node, self.source, "is up to a model") if self._asks(node) else None
        inside = {
            self.facts.names.of(name)
            for one in walk(node)
            if isinstance(one, n.ComprehensionClause)
            for name in assigned_by(one)
        }
        position = node.span.start
        for name in walk(node):
            if not isinstance(name, n.Name) or name.span.start < position:
                continue
            symbol = self.facts.names.of(name)
            if symbol.kind in ("variable", "parameter", "field") and symbol not in inside:
                own = self._name(symbol, at)
                made = made or own.made
                parts += [self._text(position, name.span.start), *own.parts]
                position = name.span.end
        parts.append(self._text(position, node.span.end))
        return SymbolicExpression(joined(parts), made, isinstance(node, _TIGHT))

    def _name(self, symbol: Symbol, at: At) -> SymbolicExpression:
        """A variable as an expression.

        A parameter that the function may have reassigned is opaque, because its value may no longer
        be the argument.
        """
        is_other = not isinstance(self.definitions.at(symbol, at), n.Parameter)
        if symbol.kind == "parameter" and symbol.node is not None and is_other:
            made = Opaque(symbol.node, self.source, "is known only when its function runs")
            return SymbolicExpression((symbol.name,), made)
        return SymbolicExpression((symbol,))

    def _text(self, start: int, end: int) -> str:
        return re.sub(r"\s+", " ", self.source.text[start:end])


def parts_of(condition: n.Expression) -> list[n.Expression]:
    """The operands of an `and`, in the order of their evaluation.

    Other conditions are returned whole.
    """
    if isinstance(condition, n.Logical) and condition.operator == "and":
        return [*parts_of(condition.left), *parts_of(condition.right)]
    return [condition]


def _steps(high: Polynomial, low: int, step: int) -> Polynomial:
    """The most steps of size `step` that lead from `high` down to `low`."""
    if high.number is not None:
        return number(-((low - high.number) // step))
    return high.less(max(0, low)) + number(-low)


def _is_empty(node: n.Expression) -> bool:
    """Whether an expression is an empty list or an empty string."""
    match node:
        case n.ListLiteral(items=()) | n.Literal(value=""):
            return True
        case _:
            return False


def _goes_on(step: n.Expression | None) -> bool:
    """Whether a slice with this step goes forward through the value."""
    return step is None or (
        isinstance(step, n.Literal) and isinstance(step.value, int) and step.value > 0
    )
