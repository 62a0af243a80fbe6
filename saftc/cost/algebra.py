"""Polynomials of lengths and numbers: `3 * len(mails) + 2`.

    n = measured("len", mails)
    n * 2 + n                       3 * len(mails)
    largest(n + 3, 2)               len(mails) + 3

All numbers and measures are at least zero. So the polynomial with the largest coefficient of each
product is an upper bound of several polynomials.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby
from math import prod
from typing import Literal

from saftc.cost.symbolic import SymbolicExpression

Kind = Literal["len", "int"]


@dataclass(frozen=True)
class Measure:
    """The length of a value, or a whole number, known only when the script runs.

    A measure means the largest value that its expression has in a run, and at least 0.
    """

    kind: Kind
    of: SymbolicExpression

    @cached_property
    def text(self) -> str:
        """The measure as the script would write it."""
        shown = self.of.shown
        if self.kind == "len":
            return f"len({shown})"
        return f"({shown})" if " " in shown else shown


Term = tuple[Measure, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of measures, each with its coefficient. Equal polynomials compare equal."""

    terms: tuple[tuple[Term, int], ...] = ()

    @cached_property
    def text(self) -> str:
        """The usual notation. Products with the most factors come first, a number comes last."""
        return " + ".join(_product(term, times) for term, times in self.terms) or "0"

    @property
    def number(self) -> int | None:
        """The value of a constant polynomial. Returns None if the polynomial contains a measure."""
        return None if any(term for term, _ in self.terms) else self.value(lambda _: 0)

    @property
    def shown(self) -> str:
        """The polynomial's text. A constant has commas between its thousands."""
        return self.text if self.number is None else f"{self.number:,}"

    @property
    def is_zero(self) -> bool:
        """Whether the polynomial is zero."""
        return not self.terms

    def measures(self) -> "Iterable[Measure]":
        """The distinct measures, in the order in which they appear in the text."""
        return dict.fromkeys(factor for term, _ in self.terms for factor in term)

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return _sum([*self.terms, *other.terms])

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        return _sum(
            (tuple(sorted((*a, *b), key=lambda one: one.text)), i * j)
            for a, i in self.terms
            for b, j in other.terms
        )

    def less(self, taken: int) -> "Polynomial":
        """The polynomial with `taken` subtracted from its constant term, which stays at least 0."""
        return _sum((term, times if term else max(0, times - taken)) for term, times in self.terms)

    def replaced(self, meaning: "Callable[[Measure], Polynomial]") -> "Polynomial":
        """The polynomial with each measure replaced by the result of `meaning` for it."""
        total = ZERO
        for term, times in self.terms:
            total += reduce(Polynomial.__mul__, map(meaning, term), number(times))
        return total

    def value(self, values: Callable[[Measure], int]) -> int:
        """The polynomial's value, where `values` returns the value of each measure."""
        return sum(times * prod(max(0, values(one)) for one in term) for term, times in self.terms)


def number(value: int) -> Polynomial:
    """The constant polynomial of a value. It is zero if the value is negative."""
    return Polynomial((((), value),)) if value > 0 else ZERO


def measured(kind: Kind, of: SymbolicExpression) -> Polynomial:
    """The polynomial that consists of a single measure."""
    return Polynomial((((Measure(kind, of),), 1),))


ZERO = Polynomial()
ONE = number(1)


def largest(*ways: Polynomial) -> Polynomial:
    """An upper bound of the polynomials, with the largest coefficient of each product."""
    found: dict[Term, int] = {}
    for way in ways:
        for term, times in way.terms:
            found[term] = max(found.get(term, 0), times)
    return _sum(found.items())


def least(*ways: Polynomial) -> Polynomial:
    """The smallest of the polynomials that are constant.

    Returns the first polynomial if none is constant.
    """
    return min(ways, key=lambda way: (way.number is None, way.number or 0))


def _sum(terms: Iterable[tuple[Term, int]]) -> Polynomial:
    found: dict[Term, int] = {}
    for term, times in terms:
        found[term] = found.get(term, 0) + times
    return Polynomial(tuple(sorted(((t, i) for t, i in found.items() if i), key=_place)))


def _place(one: tuple[Term, int]) -> tuple[int, list[str]]:
    return -len(one[0]), [factor.text for factor in one[0]]


def _product(term: Term, times: int) -> str:
    factors = [_power(factor, len(list(same))) for factor, same in groupby(term)]
    return " * ".join([*([str(times)] if times > 1 or not factors else []), *factors])


def _power(factor: Measure, times: int) -> str:
    return factor.text if times == 1 else f"{factor.text}^{times}"
