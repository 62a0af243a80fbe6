"""Upper bounds for lengths and numbers, from the source of a script.

    mails + [extra]         len(mails) + 1
    names[:10]              10
    range(1, n + 1)         n

An expression for which there is no rule becomes a measure: `len(split(text, "\\n"))`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import NamedTuple

from saftc.check.bindings import sole_assignments
from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall, Form
from saftc.check.names import Symbol
from saftc.cost.bound import (
    VARIABLE,
    ZERO,
    Bound,
    Kind,
    Measure,
    Reason,
    largest,
    least,
    measured,
    number,
)
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

_HEAD_ROWS = 5
# Builtins whose result is no longer than their first argument.
_AS_LONG = frozenset(
    {"sorted", "reversed", "select", "rows", "enumerate", "zip", "keys", "values", "items"}
)


class Value(NamedTuple):
    """Bounds for a value: its length and its number at most, and its number at least.

    What is unknown is None.
    """

    length: Bound | None = None
    number: Bound | None = None
    least: int | None = None


UNKNOWN = Value()
# The values of variables at one place of a script.
Values = Mapping[Symbol, Value]


def argument(parameter: Symbol) -> Value:
    """The bounds for a parameter whose value is the argument of a call."""
    length, count = Measure("len", VARIABLE, (parameter,)), Measure("int", VARIABLE, (parameter,))
    return Value(measured(length), measured(count))


class Lengths:
    """Upper bounds for lengths and numbers in one script.

    `asks` says whether evaluating an expression asks a model.
    """

    def __init__(self, facts: Facts, source: Source, asks: Callable[[n.Expression], bool]) -> None:
        self.facts = facts
        self.source = source
        self._asks = asks
        bindings = facts.names.symbols.items()
        self._bindings = Counter(s for node, s in bindings if isinstance(node, n.Identifier))
        self.assigned_once = sole_assignments(facts.module, facts.names)
        # The values of these variables at any time.
        self._constants: dict[Symbol, Value] = {}
        for symbol, only in self.assigned_once.items():
            self._constants[symbol] = self.value(only.value, {})

    def size(self, node: n.Expression, values: Values) -> Bound:
        """An upper bound for the length of a value."""
        return self._or_measured(self.value(node, values).length, node, "len")

    def most(self, node: n.Expression, values: Values) -> Bound:
        """An upper bound for a number. It is at least 0."""
        return self._or_measured(self.value(node, values).number, node, "int")

    def _or_measured(self, known: Bound | None, node: n.Expression, kind: Kind) -> Bound:
        return measured(self.written(node, kind)) if known is None else known

    def full(self, node: n.Expression, values: Values) -> tuple[Bound, Bound]:
        """The upper bounds for the length of a value and for its number."""
        found = self.value(node, values)
        length = self._or_measured(found.length, node, "len")
        return length, self._or_measured(found.number, node, "int")

    def value(self, node: n.Expression, values: Values) -> Value:
        """The bounds for a value that the source shows."""
        match node:
            case n.Name():
                symbol = self.facts.names.of(node)
                return values.get(symbol) or self._constants.get(symbol, UNKNOWN)
            case n.Literal(value=str(text)):
                return Value(number(len(text)))
            case n.Literal(value=int(count)) if not isinstance(count, bool):
                return Value(number=number(count), least=count)
            case n.Unary(operator="-", operand=n.Literal(value=int(count))):
                return Value(number=ZERO, least=-count)
            case (
                n.ListLiteral(items=items)
                | n.TupleLiteral(items=items)
                | n.ObjectLiteral(fields=items)
            ):
                spreads = [one.value for one in items if isinstance(one, n.Spread)]
                rest = number(len(items) - len(spreads))
                return Value(sum((self.size(one, values) for one in spreads), rest))
            case n.Comprehension(clauses=clauses):
                return Value(reduce(mul, (self.size(one.iterable, values) for one in clauses)))
            case n.Conditional(then=one, other=other):
                ways = zip(self.full(one, values), self.full(other, values), strict=True)
                length, count = (largest(both) for both in ways)
                return Value(length, count)
            case n.Binary(operator="+", left=one, right=other):
                ways = zip(self.full(one, values), self.full(other, values), strict=True)
                length, count = (sum(both, ZERO) for both in ways)
                return Value(length, count)
            case n.Binary(operator="-", left=one, right=n.Literal(value=int())):
                return Value(number=self.most(one, values))
            case n.Slice():
                return Value(self._slice(node, values))
            case n.Call() | n.Member():
                return self._call(node, values)
            case _:
                return UNKNOWN

    def _slice(self, node: n.Slice, values: Values) -> Bound:
        whole = self.size(node.value, values)
        start = 0 if node.start is None else self.value(node.start, values).least
        if start is None or start < 0 or node.step is not None:
            return whole
        rest = whole.less(start)
        stop = None if node.stop is None else self.value(node.stop, values)
        if stop is None or stop.number is None or stop.least is None or stop.least < 0:
            return rest
        return least(stop.number.less(start), rest)

    def _call(self, node: n.Call | n.Member, values: Values) -> Value:
        whole = self.measured_by(node)
        if whole is not None:
            return Value(number=self.size(whole, values), least=0)
        name, given = self._builtin(node)
        match name:
            case "range" if len(given) < 3:
                start = 0 if len(given) == 1 else self.value(given[0], values).least
                if start is None or start < 0:
                    return UNKNOWN
                return Value(self.most(given[-1], values).less(start))
            case "min" if len(given) > 1:
                return Value(number=least(*(self.most(one, values) for one in given)))
            case "head" if len(given) == 1:
                return Value(number(_HEAD_ROWS))
            case "head" if (self.value(given[1], values).least or -1) >= 0:
                return Value(self.most(given[1], values))
            case _ if name in _AS_LONG and given:
                return Value(self.size(given[0], values))
            case _:
                return UNKNOWN

    def measured_by(self, node: n.Expression) -> n.Expression | None:
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

    def written(self, node: n.Expression, kind: Kind = "len") -> Measure:
        """The expression as the script writes it.

        A parameter that its function assigns again has no meaning outside the function, because its
        value may no longer be the argument.
        """
        local = Reason(node, self.source, "is up to a model") if self._asks(node) else None
        starts, ends, symbols = list[int](), [node.span.start], list[Symbol]()
        names = (one for one in walk(node) if isinstance(one, n.Name))
        for name in sorted(names, key=lambda one: one.span.start):
            symbol = self.facts.names.of(name)
            if symbol.kind == "parameter" and self._bindings[symbol] > 1 and symbol.node:
                words = "is known only when its function runs"
                local = local or Reason(symbol.node, self.source, words)
            elif symbol.kind in ("variable", "parameter", "field"):
                starts.append(name.span.start)
                ends.append(name.span.end)
                symbols.append(symbol)
        texts = zip(ends, [*starts, node.span.end], strict=True)
        text = VARIABLE.join(self.source.text[start:end] for start, end in texts)
        return Measure(kind, re.sub(r"\s+", " ", text), tuple(symbols), local)
