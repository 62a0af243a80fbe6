"""What is known of values before a script runs: how long they are at most, and how large.

    mails + [extra]         len(mails) + 1
    names[:10]              10
    range(1, n + 1)         n

What no rule names is as long as it is: `len(split(text, "\\n"))`, in the words of the script.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from saftc.bounds.algebra import ONE, ZERO, Measure, Polynomial, largest, least, measured, number
from saftc.bounds.written import Made, Part, Written, joined
from saftc.semantics.facts import Facts
from saftc.semantics.forms import BuiltinCall
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, INT, TupleType
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

_HEAD_ROWS = 5


@dataclass(frozen=True, slots=True)
class Change:
    """A whole number, or a length, beside that of a variable when a turn of a loop began.

    It is larger by `least` and by `most`, where that is known; below zero it is smaller. A length
    that `is_cut` may be larger than that, but is then zero.
    """

    symbol: Symbol
    turn: int
    kind: Literal["len", "int"] | None = None
    least: int | None = 0
    most: int | None = 0
    is_cut: bool = False

    def plus(self, least: int | None, most: int | None) -> "Change | None":
        """The change of a whole number to which another one is added that is between these."""
        if self.kind == "len" or (least is None and most is None):
            return None
        return replace(self, kind="int", least=_sum(self.least, least), most=_sum(self.most, most))

    def longer(self, least: int, most: int | None) -> "Change | None":
        """The change of a length to which another one is added that is between these."""
        if self.kind == "int" or self.is_cut:
            return None
        return replace(self, kind="len", least=_sum(self.least, least), most=_sum(self.most, most))

    def cut(self, number: int) -> "Change | None":
        """The change of a length from which so many are taken, as far as there are any."""
        if self.kind == "int":
            return None
        is_cut, most = self.is_cut or number > 0, _sum(self.most, -number)
        return replace(self, kind="len", least=None, most=most, is_cut=is_cut)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value: its most items, and the largest that it is as a whole number.

    `item` is any of its items, `parts` those of a tuple. A whole number is not below its `least`,
    a length not below its `shortest`. `change` says what a turn of a loop has made of it.
    """

    written: Written
    length: Polynomial | None = None
    number: Polynomial | None = None
    item: "Value | None" = None
    parts: "tuple[Value, ...]" = ()
    least: int | None = None
    shortest: int = 0
    change: Change | None = None

    @property
    def is_natural(self) -> bool:
        """Whether it is a whole number that is not below zero."""
        return self.least is not None and self.least >= 0

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
            change=None,
        )


@dataclass(frozen=True, slots=True)
class Test:
    """A condition: one whole number is below another one, or not above it."""

    small: Value
    large: Value
    is_strict: bool


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
        least=_least_of(one.least for one in values),
        shortest=min(one.shortest for one in values),
        change=_joined_change([one.change for one in values]),
    )


def _least_of(numbers: Iterable[int | None]) -> int | None:
    """The least of several, where all are known."""
    known = list(numbers)
    found = [one for one in known if one is not None]
    return min(found) if len(found) == len(known) else None


def _joined_change(changes: Sequence[Change | None]) -> Change | None:
    """The change of a value that is one of several."""
    known = [one for one in changes if one is not None]
    kinds = {one.kind for one in known} - {None}
    if len(known) < len(changes) or len({(o.symbol, o.turn) for o in known}) > 1 or len(kinds) > 1:
        return None
    falls = _least_of(None if one.most is None else -one.most for one in known)
    return replace(
        known[0],
        kind=next(iter(kinds), None),
        least=_least_of(one.least for one in known),
        most=None if falls is None else -falls,
        is_cut=any(one.is_cut for one in known),
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
            case n.Unary(operator="-", operand=n.Literal(value=below)):
                least_ = -below if isinstance(below, int) else None
                return Value(self.written(node, known), number=ZERO, least=least_)
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
                inner = self.value(value, known)
                return _length_of(inner, self.written(node, known))
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
            return Value(written, number(len(value)), shortest=len(value))
        if isinstance(value, int) and not isinstance(value, bool):
            return Value(written, number=number(value), least=value)
        return Value(written)

    def _list(
        self, node: n.ListLiteral, items: Sequence[n.Expression | n.Spread], known: Known
    ) -> Value:
        whole = Value(self.written(node, known), ZERO)
        each = list[Value | None]()
        for one in items:
            if isinstance(one, n.Spread):
                part = self.value(one.value, known)
                each.append(part.item)
            else:
                part = Value(whole.written, ONE, shortest=1)
                each.append(self.value(one, known))
            whole = _behind(whole, part, whole.written)
        return replace(whole, item=_any_of(each, whole.written))

    def _binary(self, node: n.Binary, known: Known) -> Value | None:
        left, right = self.value(node.left, known), self.value(node.right, known)
        written = self.written(node, known)
        is_whole = self.facts.types.get(node) == INT
        match node.operator:
            case "+" if is_whole:
                least_ = _sum(left.least, right.least)
                change = _added(left, right) or _added(right, left)
                return Value(written, number=left.count + right.count, least=least_, change=change)
            case "+":
                item = _any_of([left.item, right.item], written)
                sum_ = left.count + right.count
                return replace(_behind(left, right, written), number=sum_, item=item)
            case "-" if right.least is not None:
                taken = max(0, right.least)
                rest = left.count.less(min(taken, left.count.constant)) + number(-right.least)
                most = _most(right)
                least_ = _sum(left.least, None if most is None else -most)
                change = _taken(left, right) if is_whole else None
                return Value(written, number=rest, least=least_, change=change)
            case "*" if left.is_natural and right.is_natural:
                return Value(written, number=left.count * right.count, least=0)
            case _:
                return None

    def _comprehension(self, node: n.Comprehension, known: Known) -> Value:
        length, inside = ONE, dict(known)
        for clause in node.clauses:
            over = self.value(clause.iterable, inside)
            length *= over.size
            inside |= self.bind(clause.pattern, over.item)
        if isinstance(node.item, n.ComputedField):
            return Value(self.written(node, known), length)
        return Value(self.written(node, known), length, item=self.value(node.item, inside))

    def _slice(self, node: n.Slice, known: Known) -> Value:
        whole = self.value(node.value, known)
        start = None if node.start is None else self.value(node.start, known)
        stop = None if node.stop is None else self.value(node.stop, known)
        ways, skipped = [whole.size], 0
        is_forward = _goes_on(node.step) and (start is None or start.is_natural)
        if is_forward:
            skipped = 0 if start is None else start.least or 0
            if whole.size.number is not None:
                ways.append(number(whole.size.number - skipped))
            if stop is not None and stop.is_natural:
                ways.append(stop.count.less(min(skipped, stop.count.constant)))
        change = whole.change
        if change is not None:
            change = change.cut(max(skipped, _left_out(node)))
        return Value(self.written(node, known), least(*ways), item=whole.item, change=change)

    def _builtin(self, node: n.Call, form: BuiltinCall, known: Known) -> Value | None:
        given = [self.value(one, known) for one in form.arguments or ()]
        written = self.written(node, known)
        match form.builtin.name:
            case "len":
                return _length_of(given[0], written)
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
                place = Value(written, number=length, least=0) if len(given) == 1 else None
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
                smallest = least(*(one.count for one in given))
                return Value(written, number=smallest, least=_least_of(o.least for o in given))
            case "max" if len(given) > 1:
                most = largest(*(one.count for one in given))
                leasts = [one.least for one in given if one.least is not None]
                return Value(written, number=most, least=max(leasts, default=None))
            case _:
                return None

    def _range(self, written: Written, given: Sequence[Value]) -> Value | None:
        start, stop = (None, given[0]) if len(given) == 1 else (given[0], given[1])
        if len(given) > 2 or (start is not None and not start.is_natural):
            return None
        first = 0 if start is None else start.least or 0
        length = stop.count.less(min(first, stop.count.constant))
        each = Value(written, number=stop.count, least=first)
        return Value(written, length, item=each)

    def test(self, node: n.Expression, known: Known) -> "Test | None":
        """The comparison of whole numbers that a condition is, or says of a length."""
        if not isinstance(node, n.Comparison):
            return None
        left, right = self.value(node.left, known), self.value(node.right, known)
        if node.operator == "!=":
            if _is_empty(node.left) or _is_empty(node.right):
                left, right = (_length_of(one, one.written) for one in (left, right))
            for one, other in ((left, right), (right, left)):
                if other.least is not None and one.least == other.least == _most(one):
                    return Test(one, other, is_strict=True)
            return None
        if any(self.facts.types.get(one) != INT for one in (node.left, node.right)):
            return None
        is_strict = node.operator in ("<", ">")
        if node.operator in ("<", "<="):
            return Test(left, right, is_strict)
        return Test(right, left, is_strict) if node.operator in (">", ">=") else None

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


def _length_of(value: Value, written: Written) -> Value:
    """What is known of the length of a value, as a number."""
    change = value.change
    if change is not None:
        change = None if change.kind == "int" else replace(change, kind="len")
    return Value(written, number=value.size, least=value.shortest, change=change)


def _most(value: Value) -> int | None:
    """What a whole number is at most, if that is known."""
    return None if value.number is None else value.number.number


def _added(value: Value, other: Value) -> Change | None:
    """What a turn has made of a number when another one is added to it."""
    return None if value.change is None else value.change.plus(other.least, _most(other))


def _taken(value: Value, other: Value) -> Change | None:
    """What a turn has made of a number when another one is taken from it."""
    if value.change is None or other.least is None:
        return None
    most = _most(other)
    return value.change.plus(None if most is None else -most, -other.least)


def _behind(first: Value, second: Value, written: Written) -> Value:
    """What is known of two lists or texts as one."""
    whole = None
    for one, other in ((first, second), (second, first)):
        if one.change is not None:
            more = None if other.length is None else other.length.number
            whole = one.change.longer(other.shortest, more)
    shortest = first.shortest + second.shortest
    return Value(written, first.size + second.size, shortest=shortest, change=whole)


def _is_empty(node: n.Expression) -> bool:
    """Whether it is a list or a text without anything in it."""
    match node:
        case n.ListLiteral(items=()) | n.Literal(value=""):
            return True
        case _:
            return False


def _left_out(node: n.Slice) -> int:
    """How many items a slice leaves out at the end, as `xs[:-1]` does."""
    match node.stop:
        case n.Unary(operator="-", operand=n.Literal(value=int(left))) if _goes_on(node.step):
            return left
        case _:
            return 0


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
