"""What variables of a loop are at most, from what one turn makes of them.

xs = []
for mail in mails:
    xs = xs + [mail]        a turn makes `len(xs)` larger by 1, so that it is `len(mails)` below
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Literal, NamedTuple

from saftc.bounds.algebra import ONE, ZERO, Measure, Polynomial, largest, measured, number
from saftc.bounds.values import Change, Known, Test, Value, own_name
from saftc.bounds.written import Written
from saftc.semantics.names import Symbol
from saftc.source import Source

_Kind = Literal["len", "int"]
_KINDS: tuple[_Kind, _Kind] = ("len", "int")

turns = count(1)


def at_turn(symbol: Symbol, turn: int, source: Source) -> Value:
    """A variable when a turn of a loop begins, while that is gone through."""
    length, size = (measured(Measure(kind, Written((symbol,)), turn)) for kind in _KINDS)
    return Value(own_name(symbol, source), length, size, change=Change(symbol, turn))


def measure_of(value: Value, kind: _Kind) -> Polynomial:
    """How long a value is at most, or how large."""
    return value.size if kind == "len" else value.count


def solved(
    symbols: Sequence[Symbol],
    before: Known,
    after: Sequence[Known],
    turn: int,
    turns: Polynomial | None,
    source: Source,
) -> dict[Symbol, Value]:
    """What variables are at most before and after each turn of a loop that has so many `turns`.

    One that a turn makes larger by so much is larger by so much for each of them in the end. One
    that a turn makes anew is the largest of what it was and what it is made. Any other is not
    known. `after` are the states in which a turn may be left.
    """
    formulas = dict[tuple[Symbol, _Kind], Polynomial]()
    pending: list[tuple[Symbol, _Kind]] = [(one, kind) for one in symbols for kind in _KINDS]
    is_new = True
    while pending and is_new:
        is_new, later = False, list[tuple[Symbol, _Kind]]()
        for symbol, kind in pending:
            formula = _growth(symbol, kind, before, after, turn, turns, formulas)
            if formula is None:
                later.append((symbol, kind))
            else:
                formulas[symbol, kind] = formula
                is_new = True
        pending = later
    return {
        symbol: Value(
            own_name(symbol, source), formulas.get((symbol, "len")), formulas.get((symbol, "int"))
        )
        for symbol in symbols
    }


def _growth(
    symbol: Symbol,
    kind: _Kind,
    before: Known,
    after: Sequence[Known],
    turn: int,
    turns: Polynomial | None,
    formulas: Mapping[tuple[Symbol, _Kind], Polynomial],
) -> Polynomial | None:
    """What a variable is at most, if all that it depends on has its formula."""
    own = Measure(kind, Written((symbol,)), turn)

    def meaning(measure: Measure) -> Polynomial:
        if measure.turn == turn and measure != own:
            return formulas.get((measure.of.symbols[0], measure.kind)) or measured(measure)
        return measured(measure)

    start, grown = list[Polynomial](), ZERO
    first = _first(symbol, before)
    if first is not None:
        start.append(measure_of(first, kind))
    for known in after:
        value = known.get(symbol)
        whole = measured(own) if value is None else measure_of(value, kind)
        rest = whole.replaced(meaning)
        if rest.covers(measured(own)):
            rest = rest.without(measured(own))
            grown = largest(grown, rest)
        else:
            start.append(rest)
        if any(measure.turn == turn for measure in rest.measures()):
            return None
    if grown.is_zero:
        return largest(*start)
    return None if turns is None else largest(*start) + grown * turns


def _first(symbol: Symbol, before: Known) -> Value | None:
    """What is known of a variable before a loop; it may be an outer one."""
    first = next((before[one] for one in symbol.origins() if one in before), None)
    if first is None and symbol.starts_from is not None:
        return Value(Written((symbol.starts_from,)))
    return first


class Turns(NamedTuple):
    """The most turns of a `while`, and which part of its condition ends them."""

    most: Polynomial
    part: int


def turns_of(
    parts: Sequence[Test | None],
    assigned: Sequence[Symbol],
    before: Known,
    after: Sequence[Known],
    turn: int,
) -> Turns | None:
    """How often a `while` turns at most, whose condition has these parts; None: nothing says so.

    One of them compares what every turn makes larger with what stays as it is, or what every turn
    makes smaller. `after` are the states in which a turn ends that another one may follow.
    """
    found = list[Turns]()
    for position, test in enumerate(parts):
        if test is not None:
            rising = _while_small(test, assigned, before, after, turn)
            falling = _while_large(test, before, after, turn)
            found += [Turns(one, position) for one in (rising, falling) if one is not None]
    return min(found, key=lambda one: (one.most.number is None, one.most.number or 0), default=None)


def _while_small(
    test: Test, assigned: Sequence[Symbol], before: Known, after: Sequence[Known], turn: int
) -> Polynomial | None:
    """The turns until what grows is no longer below what stays as it is: `while i < n`."""
    own, end = test.small.change, test.large.count
    if own is None or own.turn != turn or own.least is None:
        return None
    if any(one.turn == turn or {*one.of.symbols} & {*assigned} for one in end.measures()):
        return None
    first = _first(own.symbol, before)
    start = None if first is None else first.shortest if own.kind == "len" else first.least
    steps = [one.least for one in _changes(own, after)]
    step = min((0 if one is None else one for one in steps), default=1)
    if start is None or step < 1:
        return None
    return _steps(end if test.is_strict else end + ONE, start + own.least, step)


def _while_large(test: Test, before: Known, after: Sequence[Known], turn: int) -> Polynomial | None:
    """The turns until what shrinks is no longer above what stays as it is: `while len(xs) > 0`."""
    own, least = test.large.change, test.small.least
    if own is None or own.turn != turn or own.most is None or own.is_cut or least is None:
        return None
    first = _first(own.symbol, before)
    changes = _changes(own, after)
    step = min((0 if one.most is None else -one.most for one in changes), default=1)
    end = least - own.most - (0 if test.is_strict else 1)
    if first is None or step < 1 or (end < 0 and any(one.is_cut for one in changes)):
        return None
    return _steps(measure_of(first, own.kind or "int"), end, step)


def _changes(own: Change, after: Sequence[Known]) -> list[Change]:
    """What turns have made of a variable; no change where that is not known."""
    found = list[Change]()
    for known in after:
        value = known.get(own.symbol)
        change = None if value is None else value.change
        is_own = change is not None and (change.symbol, change.turn) == (own.symbol, own.turn)
        if change is None or not is_own or change.kind != (own.kind or "int"):
            change = Change(own.symbol, own.turn)
        found.append(change)
    return found


def _steps(high: Polynomial, low: int, step: int) -> Polynomial:
    """The most steps from the one to the other."""
    if high.number is not None:
        return number(-((low - high.number) // step))
    return high.less(min(low, high.constant)) if low > 0 else high + number(-low)
