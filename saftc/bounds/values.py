"""What is known of values before a script runs: how long they are at most, and how large.

    mails + [extra]         len(mails) + 1
    names[:10]              10
    range(1, n + 1)         n

What no rule names is as long as it is: `len(split(text, "\\n"))`, in the words of the script.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from saftc.bounds.algebra import ONE, ZERO, Measure, Polynomial, largest, least, measured, number
from saftc.bounds.written import Made, Part, Written, joined
from saftc.semantics.facts import Facts
from saftc.semantics.forms import BuiltinCall
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, TupleType
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

_HEAD_ROWS = 5


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value: its most items, and the largest that it is as a whole number.

    `item` is any of its items, `parts` those of a tuple. One that `is_natural` is a whole number
    not below zero.
    """

    written: Written
    length: Polynomial | None = None
    number: Polynomial | None = None
    item: "Value | None" = None
    parts: "tuple[Value, ...]" = ()
    is_natural: bool = False

    @property
    def size(self) -> Polynomial:
        """The most items that it has."""
        return measured(Measure("len", self.written)) if self.length is None else self.length

    @property
    def count(self) -> Polynomial:
        """The largest that it is as a number, 0 where that is below."""
        return measured(Measure("int", self.written)) if self.number is None else self.number

    def named(self, symbol: Symbol, source: Source) -> "Value":
        """The value of a variable that is bound to it."""
        return replace(self, written=own_name(symbol, source))

    def replaced(self, meaning: Callable[[Polynomial], Polynomial]) -> "Value":
        """The value with others in its formulas."""
        return replace(
            self,
            length=None if self.length is None else meaning(self.length),
            number=None if self.number is None else meaning(self.number),
            item=None if self.item is None else self.item.replaced(meaning),
            parts=tuple(one.replaced(meaning) for one in self.parts),
        )


Known = Mapping[Symbol, Value]


def own_name(symbol: Symbol, source: Source) -> Written:
    """How a variable is written that stands for itself.

    The name of a parameter stands for its argument alone, and not for what is assigned to it.
    """
    if symbol.kind != "parameter" or symbol.node is None:
        return Written((symbol,))
    made = Made(symbol.node, source, "is known only when its function runs")
    return Written((symbol.name, made))


def joined_values(values: Sequence[Value], written: Written) -> Value:
    """What is known of a value that is one of several."""
    first, *others = values
    if all(one == first for one in others):
        return first
    is_same = all(one.written == first.written for one in others)
    lengths = [one.length for one in values if one.length is not None]
    numbers = [one.number for one in values if one.number is not None]
    items = [one.item for one in values if one.item is not None]
    is_whole = len(items) == len(values)
    return Value(
        first.written if is_same else written,
        largest(*lengths) if len(lengths) == len(values) else None,
        largest(*numbers) if len(numbers) == len(values) else None,
        joined_values(items, written) if is_whole else None,
        is_natural=all(one.is_natural for one in values),
    )


class Reader:
    """Says what is known of expressions of one script.

    `result` gives what is known of the value of a call of a function, `asks` whether evaluating an
    expression asks a model.
    """

    def __init__(
        self,
        facts: Facts,
        source: Source,
        constants: Mapping[Symbol, n.Expression],
        result: "Callable[[n.Call, Known], Value | None]",
        asks: Callable[[n.Expression], bool],
    ) -> None:
        self.facts = facts
        self.source = source
        self._constants = constants
        self._result = result
        self._asks = asks
        self._open: set[Symbol] = set()

    def value(self, node: n.Expression, known: Known) -> Value:
        """What is known of the value of an expression, with what is known of variables."""
        found = self._of(node, known)
        if found is None:
            found = Value(self.written(node, known))
        type_ = self.facts.types.get(node, ANY)
        if isinstance(type_, TupleType):
            return replace(found, length=number(len(type_.items)))
        return found

    def constant(self, symbol: Symbol) -> n.Expression | None:
        """What a name stands for that is assigned at one place alone."""
        return self._constants.get(symbol)

    def bind(self, pattern: n.Pattern, item: Value | None) -> dict[Symbol, Value]:
        """What is known of the names of a pattern that an item is bound to."""
        if isinstance(pattern, n.TuplePattern):
            parts = item.parts if item is not None else ()
            each = parts if len(parts) == len(pattern.items) else [None] * len(pattern.items)
            found: dict[Symbol, Value] = {}
            for one, part in zip(pattern.items, each, strict=True):
                found |= self.bind(one, part)
            return found
        symbol = self.facts.names.of(pattern.name)
        own = own_name(symbol, self.source)
        return {symbol: Value(own) if item is None else replace(item, written=own)}

    # What an expression is

    def _of(self, node: n.Expression, known: Known) -> Value | None:
        match node:
            case n.Name():
                return self._name(node, known)
            case n.Literal(value=value):
                return self._literal(node, value, known)
            case n.ListLiteral(items=items):
                return self._list(node, items, known)
            case n.TupleLiteral(items=items):
                parts = tuple(self.value(one, known) for one in items)
                return Value(self.written(node, known), number(len(parts)), parts=parts)
            case n.ObjectLiteral() if node in self.facts.forms.copies:
                return None
            case n.ObjectLiteral(fields=fields):
                spreads = [self.value(o.value, known) for o in fields if isinstance(o, n.Spread)]
                length = number(len(fields) - len(spreads))
                for one in spreads:
                    length += one.size
                return Value(self.written(node, known), length)
            case n.Unary(operator="-", operand=operand):
                is_known = isinstance(operand, n.Literal)
                return Value(self.written(node, known), number=ZERO) if is_known else None
            case n.Binary():
                return self._binary(node, known)
            case n.Conditional(then=then, other=other):
                ways = [self.value(then, known), self.value(other, known)]
                return joined_values(ways, self.written(node, known))
            case n.Comprehension():
                return self._comprehension(node, known)
            case n.Slice():
                return self._slice(node, known)
            case n.Index(value=value):
                inner = self.value(value, known)
                if inner.item is None:
                    return None
                return replace(inner.item, written=self.written(node, known))
            case n.TupleMember(value=value, position=position):
                parts = self.value(value, known).parts
                if position >= len(parts):
                    return None
                return replace(parts[position], written=self.written(node, known))
            case n.Member(name=name, value=value) if name.text == "length":
                size = self.value(value, known).size
                return Value(self.written(node, known), number=size, is_natural=True)
            case n.Call():
                form = self.facts.forms.calls.get(node)
                if isinstance(form, BuiltinCall):
                    arguments = form.arguments
                    return None if arguments is None else self._builtin(node, form, known)
                return self._result(node, known)
            case _:
                return None

    def _name(self, node: n.Name, known: Known) -> Value:
        return self.of_symbol(self.facts.names.of(node), known)

    def of_symbol(self, symbol: Symbol, known: Known) -> Value:
        """What is known of a variable."""
        for origin in symbol.origins():
            if origin in known:
                return known[origin]
        value = self._constants.get(symbol)
        if value is None or symbol in self._open:
            return Value(Written((symbol,)))
        self._open.add(symbol)
        try:
            return self.value(value, {}).named(symbol, self.source)
        finally:
            self._open.discard(symbol)

    def _literal(self, node: n.Literal, value: object, known: Known) -> Value:
        written = self.written(node, known)
        if isinstance(value, str):
            return Value(written, number(len(value)))
        if isinstance(value, int) and not isinstance(value, bool):
            return Value(written, number=number(value), is_natural=value >= 0)
        return Value(written)

    def _list(
        self, node: n.ListLiteral, items: Sequence[n.Expression | n.Spread], known: Known
    ) -> Value:
        length, each = ZERO, list[Value | None]()
        for one in items:
            if isinstance(one, n.Spread):
                inner = self.value(one.value, known)
                length += inner.size
                each.append(inner.item)
            else:
                length += ONE
                each.append(self.value(one, known))
        written = self.written(node, known)
        return Value(written, length, item=_any_of(each, written))

    def _binary(self, node: n.Binary, known: Known) -> Value | None:
        left, right = self.value(node.left, known), self.value(node.right, known)
        written = self.written(node, known)
        are_natural = left.is_natural and right.is_natural
        match node.operator:
            case "+":
                item = _any_of([left.item, right.item], written)
                length, sum_ = left.size + right.size, left.count + right.count
                return Value(written, length, sum_, item, is_natural=are_natural)
            case "-" if right.is_natural:
                taken = right.count.number or 0
                rest = left.count.less(min(taken, left.count.constant))
                return Value(written, number=rest)
            case "*" if are_natural:
                return Value(written, number=left.count * right.count, is_natural=True)
            case _:
                return None

    def _comprehension(self, node: n.Comprehension, known: Known) -> Value:
        length, inside = ONE, dict(known)
        for clause in node.clauses:
            over = self.value(clause.iterable, inside)
            length *= over.size
            inside |= self.bind(clause.pattern, over.item)
        return Value(self.written(node, known), length, item=self.value(node.item, inside))

    def _slice(self, node: n.Slice, known: Known) -> Value:
        whole = self.value(node.value, known)
        start = None if node.start is None else self.value(node.start, known)
        stop = None if node.stop is None else self.value(node.stop, known)
        ways = [whole.size]
        is_forward = _goes_on(node.step) and (start is None or start.is_natural)
        if is_forward:
            skipped = 0 if start is None else start.count.number or 0
            if whole.size.number is not None:
                ways.append(number(whole.size.number - skipped))
            if stop is not None and stop.is_natural:
                ways.append(stop.count.less(min(skipped, stop.count.constant)))
        return Value(self.written(node, known), least(*ways), item=whole.item)

    def _builtin(self, node: n.Call, form: BuiltinCall, known: Known) -> Value | None:
        given = [self.value(one, known) for one in form.arguments or ()]
        written = self.written(node, known)
        match form.builtin.name:
            case "len":
                return Value(written, number=given[0].size, is_natural=True)
            case "range":
                return self._range(written, given)
            case "sorted" | "reversed" | "select" | "rows" if given:
                return Value(written, given[0].size, item=given[0].item)
            case "head":
                rows = given[1].count if len(given) > 1 else number(_HEAD_ROWS)
                is_cut = len(given) < 2 or given[1].is_natural
                return Value(written, rows if is_cut else given[0].size)
            case "enumerate":
                length = given[0].size
                place = Value(written, number=length, is_natural=True) if len(given) == 1 else None
                pair = (place or Value(written), given[0].item or Value(written))
                return Value(written, length, item=Value(written, parts=pair))
            case "zip" if given:
                parts = tuple(one.item or Value(written) for one in given)
                return Value(
                    written, least(*(one.size for one in given)), item=Value(written, parts=parts)
                )
            case "keys" | "values" | "items":
                return Value(written, given[0].length)
            case "min" if len(given) > 1:
                are_natural = all(one.is_natural for one in given)
                smallest = least(*(one.count for one in given))
                return Value(written, number=smallest, is_natural=are_natural)
            case "max" if len(given) > 1:
                are_natural = any(one.is_natural for one in given)
                most = largest(*(one.count for one in given))
                return Value(written, number=most, is_natural=are_natural)
            case _:
                return None

    def _range(self, written: Written, given: Sequence[Value]) -> Value | None:
        start, stop = (None, given[0]) if len(given) == 1 else (given[0], given[1])
        if len(given) > 2 or (start is not None and not start.is_natural):
            return None
        first = 0 if start is None else start.count.number or 0
        length = stop.count.less(min(first, stop.count.constant))
        each = Value(written, number=stop.count, is_natural=True)
        return Value(written, length, item=each)

    # How it is written

    def written(self, node: n.Expression, known: Known) -> Written:
        """The expression as the script writes it, with what names stand for."""
        parts: list[Part] = []
        inside = {
            self.facts.names.of(name.name)
            for one in walk(node)
            if isinstance(one, n.Comprehension)
            for clause in one.clauses
            for name in _names_of(clause.pattern)
        }
        at = node.span.start
        for name in walk(node):
            if not isinstance(name, n.Name) or name.span.start < at:
                continue
            symbol = self.facts.names.of(name)
            if symbol.kind in ("variable", "parameter", "field") and symbol not in inside:
                parts += [self._text(at, name.span.start), symbol]
                at = name.span.end
        parts.append(self._text(at, node.span.end))
        if self._asks(node):
            parts.append(Made(node, self.source, "is up to a model"))

        def meaning(symbol: Symbol) -> Written | None:
            value = next((known[one] for one in symbol.origins() if one in known), None)
            return None if value is None else value.written

        return joined(parts).replaced(meaning)

    def _text(self, start: int, end: int) -> str:
        return re.sub(r"\s+", " ", self.source.text[start:end])


def _any_of(values: Sequence[Value | None], written: Written) -> Value | None:
    known = [one for one in values if one is not None]
    if not known or len(known) < len(values):
        return None
    return joined_values(known, written)


def _names_of(pattern: n.Pattern) -> Iterable[n.NamePattern]:
    if isinstance(pattern, n.NamePattern):
        return [pattern]
    return [name for item in pattern.items for name in _names_of(item)]


def _goes_on(step: n.Expression | None) -> bool:
    """Whether a slice goes forward."""
    return step is None or (
        isinstance(step, n.Literal) and isinstance(step.value, int) and step.value > 0
    )
