"""Polynomials over lengths, with `max`: `3 * len(mails) + max(2, len(names))`.

    n = measured("len", mails)
    n * 2 + n                       3 * len(mails)
    largest(n + 3, n + 1)           len(mails) + 3

No number in them is below zero, and what a measure stands for is not either. So what is larger in
one part is larger as a whole, and a sum can be drawn into a `max`: that is all they are simplified
by.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby
from typing import Literal

from saftc.bounds.written import Written

# More ways than these in one `max` are not told apart any more.
_MOST_WAYS = 16


@dataclass(frozen=True)
class Measure:
    """The length of a value, or a whole number, that is known when the script runs.

    It is the largest that the expression has in a run, and 0 where that is below. One of a `turn`
    is that of a variable when a turn of a loop begins, while the loop is being gone through.
    """

    kind: Literal["len", "int"]
    of: Written
    turn: int = 0

    @cached_property
    def text(self) -> str:
        """As the script would write it."""
        shown = self.of.shown
        if self.kind == "len":
            return f"len({shown})"
        return f"({shown})" if " " in shown else shown


@dataclass(frozen=True)
class Largest:
    """The largest of several polynomials, none of which is always the largest."""

    of: "frozenset[Polynomial]"

    @cached_property
    def text(self) -> str:
        """`max(a, b)`, the ways with more in them first."""
        return f"max({', '.join(one.text for one in sorted(self.of, key=_order))})"


Factor = Measure | Largest
Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products: how often each product of factors is in it. Equal ones are equal."""

    terms: tuple[tuple[Term, int], ...] = ()

    @cached_property
    def text(self) -> str:
        """As people write it: the products with most factors first, a number last."""
        return " + ".join(_product(term, times) for term, times in self.terms) or "0"

    @property
    def number(self) -> int | None:
        """The number that it is, if it is one."""
        if not self.terms:
            return 0
        term, times = self.terms[0]
        return times if not term else None

    @property
    def shown(self) -> str:
        """The text, a number with commas."""
        return self.text if self.number is None else f"{self.number:,}"

    @property
    def is_zero(self) -> bool:
        """Whether it is nothing at all."""
        return not self.terms

    @property
    def constant(self) -> int:
        """The number in the sum."""
        return dict(self.terms).get((), 0)

    def measures(self) -> "Iterable[Measure]":
        """The measures in it, each once, in the order of the text."""
        found: dict[Measure, None] = {}
        for term, _ in self.terms:
            for factor in term:
                if isinstance(factor, Measure):
                    found[factor] = None
                else:
                    for way in sorted(factor.of, key=_order):
                        found |= dict.fromkeys(way.measures())
        return found

    def __add__(self, other: "Polynomial") -> "Polynomial":
        if not (self.terms and other.terms):
            return self if self.terms else other
        return _sum([*self.terms, *other.terms])

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        return _sum(
            (tuple(sorted((*a, *b), key=lambda one: one.text)), i * j)
            for a, i in self.terms
            for b, j in other.terms
        )

    def less(self, number: int) -> "Polynomial":
        """The polynomial without a number, of which it has as much."""
        return self.without(Polynomial((((), number),)) if number else ZERO)

    def without(self, part: "Polynomial") -> "Polynomial":
        """The rest of the polynomial, which covers the part."""
        assert self.covers(part)
        return _sum([*self.terms, *((term, -times) for term, times in part.terms)])

    def covers(self, other: "Polynomial") -> bool:
        """Whether it is certainly not below another one."""
        own = dict(self.terms)
        return all(own.get(term, 0) >= times for term, times in other.terms)

    def replaced(self, meaning: "Callable[[Measure], Polynomial]") -> "Polynomial":
        """The polynomial with others in the place of measures."""
        total = ZERO
        for term, times in self.terms:
            product = number(times)
            for factor in term:
                if isinstance(factor, Measure):
                    product *= meaning(factor)
                else:
                    product *= largest(*(one.replaced(meaning) for one in factor.of))
            total += product
        return total

    def value(self, values: Callable[[Measure], int]) -> int:
        """The number that it is when the measures are these."""
        total = 0
        for term, times in self.terms:
            for factor in term:
                if isinstance(factor, Measure):
                    times *= max(0, values(factor))
                else:
                    times *= max(one.value(values) for one in factor.of)
            total += times
        return total

    def ways(self) -> "Iterable[Polynomial]":
        """The polynomials of which it is the largest: itself, unless it is a `max` and no more."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            factor = self.terms[0][0][0]
            if isinstance(factor, Largest):
                return sorted(factor.of, key=_order)
        return [self]


def number(value: int) -> Polynomial:
    """A number, not below zero."""
    return Polynomial((((), value),)) if value > 0 else ZERO


def measured(measure: Measure) -> Polynomial:
    """A measure alone."""
    return Polynomial((((measure,), 1),))


ZERO = Polynomial()
ONE = number(1)


def total(*parts: Polynomial) -> Polynomial:
    """The sum of polynomials."""
    return reduce(Polynomial.__add__, parts, ZERO)


def largest(*ways: Polynomial) -> Polynomial:
    """The largest of polynomials: one of them, or what they have in common and a `max`."""
    kept = _uncovered(one for way in ways for one in way.ways())
    if not kept:
        return ZERO
    common = _common(kept)
    if len(kept) == 1:
        return kept[0]
    rest = _uncovered(one for way in kept for one in way.without(common).ways())
    if len(rest) == 1:
        return common + rest[0]
    if len(rest) > _MOST_WAYS:
        return common + _cover(rest)
    return common + Polynomial((((Largest(frozenset(rest)),), 1),))


def least(*ways: Polynomial) -> Polynomial:
    """One of the polynomials, which none of the others is certain to be below.

    A number goes before what is not known.
    """
    kept = [way for way in dict.fromkeys(ways) if not any(way != o and way.covers(o) for o in ways)]
    return next((way for way in kept if way.number is not None), kept[0])


def _sum(terms: Iterable[tuple[Term, int]]) -> Polynomial:
    found: dict[Term, int] = {}
    for term, times in terms:
        found[term] = found.get(term, 0) + times
    return Polynomial(tuple(sorted(((t, i) for t, i in found.items() if i), key=_place)))


def _place(one: tuple[Term, int]) -> tuple[int, list[str]]:
    return -len(one[0]), [factor.text for factor in one[0]]


def _order(one: Polynomial) -> tuple[int, str]:
    return -max((len(term) for term, _ in one.terms), default=0), one.text


def _uncovered(ways: Iterable[Polynomial]) -> list[Polynomial]:
    """Those that may be the largest."""
    kept: list[Polynomial] = []
    for way in ways:
        if not any(one.covers(way) for one in kept):
            kept = [one for one in kept if not way.covers(one)] + [way]
    return kept


def _common(ways: Iterable[Polynomial]) -> Polynomial:
    """What is in all of them."""
    first, *others = (dict(one.terms) for one in ways)
    return _sum((term, min(i, *(o.get(term, 0) for o in others), i)) for term, i in first.items())


def _cover(ways: Iterable[Polynomial]) -> Polynomial:
    """One that covers all of them."""
    found: dict[Term, int] = {}
    for way in ways:
        for term, times in way.terms:
            found[term] = max(found.get(term, 0), times)
    return _sum(found.items())


def _product(term: Term, times: int) -> str:
    factors = [_power(factor, len(list(same))) for factor, same in groupby(term)]
    return " * ".join([*([str(times)] if times > 1 or not factors else []), *factors])


def _power(factor: Factor, times: int) -> str:
    return factor.text if times == 1 else f"{factor.text}^{times}"
