"""What variables of a loop are at most, from what one turn makes of them.

xs = []
for mail in mails:
    xs = xs + [mail]        a turn makes `len(xs)` larger by 1, so that it is `len(mails)` below
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Literal

from saftc.bounds.algebra import ZERO, Measure, Polynomial, largest, measured
from saftc.bounds.values import Known, Value, own_name
from saftc.bounds.written import Written
from saftc.semantics.names import Symbol
from saftc.source import Source

_Kind = Literal["len", "int"]
_KINDS: tuple[_Kind, _Kind] = ("len", "int")

turns = count(1)


def at_turn(symbol: Symbol, turn: int, source: Source) -> Value:
    """A variable when a turn of a loop begins, while that is gone through."""
    length, number = (measured(Measure(kind, Written((symbol,)), turn)) for kind in _KINDS)
    return Value(own_name(symbol, source), length, number)


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
    first = next((before[one] for one in symbol.origins() if one in before), None)
    if first is not None:
        start.append(measure_of(first, kind))
    elif symbol.starts_from is not None:
        start.append(measured(Measure(kind, Written((symbol.starts_from,)))))
    for known in after:
        value = known.get(symbol)
        whole = measured(own) if value is None else measure_of(value, kind)
        ways = whole.replaced(meaning).ways()
        for way in ways:
            if way.covers(measured(own)):
                rest = way.without(measured(own))
                grown = largest(grown, rest)
            else:
                rest = way
                start.append(rest)
            if any(measure.turn == turn for measure in rest.measures()):
                return None
    if grown.is_zero:
        return largest(*start)
    return None if turns is None else largest(*start) + grown * turns
