"""Sums of products of lengths and numbers: `3 * len(mails) + 2`.

    n = measured("len", mails)
    n * 2 + n                       3 * len(mails)
    largest(n + 3, 2)               len(mails) + 3

No number in them is below zero, and what a measure stands for is not either. So of several, the
largest is not above the one that has each product as often as any of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby
from math import prod
from typing import Literal

from saftc.cost.written import Written

Kind = Literal["len", "int"]


@dataclass(frozen=True)
class Measure:
    """The length of a value, or a whole number, that is known when the script runs.

    It is the largest that the expression has in a run, and 0 where that is below.
    """

    kind: Kind
    of: Written

    @cached_property
    def text(self) -> str:
        """As the script would write it."""
        shown = self.of.shown
        if self.kind == "len":
            return f"len({shown})"
        return f"({shown})" if " " in shown else shown


Term = tuple[Measure, ...]


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
        return None if any(term for term, _ in self.terms) else self.value(lambda _: 0)

    @property
    def shown(self) -> str:
        """The text, a number with commas."""
        return self.text if self.number is None else f"{self.number:,}"

    @property
    def is_zero(self) -> bool:
        """Whether it is nothing at all."""
        return not self.terms

    def measures(self) -> "Iterable[Measure]":
        """The measures in it, each once, in the order of the text."""
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
        """The polynomial without a number, as far as a number is in it."""
        return _sum((term, times if term else max(0, times - taken)) for term, times in self.terms)

    def replaced(self, meaning: "Callable[[Measure], Polynomial]") -> "Polynomial":
        """The polynomial with others in the place of measures."""
        total = ZERO
        for term, times in self.terms:
            total += reduce(Polynomial.__mul__, map(meaning, term), number(times))
        return total

    def value(self, values: Callable[[Measure], int]) -> int:
        """The number that it is when the measures are these."""
        return sum(times * prod(max(0, values(one)) for one in term) for term, times in self.terms)


def number(value: int) -> Polynomial:
    """A number, not below zero."""
    return Polynomial((((), value),)) if value > 0 else ZERO


def measured(kind: Kind, of: Written) -> Polynomial:
    """A length or a number alone."""
    return Polynomial((((Measure(kind, of),), 1),))


ZERO = Polynomial()
ONE = number(1)


def largest(*ways: Polynomial) -> Polynomial:
    """One that is not below any of the polynomials: of each product the largest number of times."""
    found: dict[Term, int] = {}
    for way in ways:
        for term, times in way.terms:
            found[term] = max(found.get(term, 0), times)
    return _sum(found.items())


def least(*ways: Polynomial) -> Polynomial:
    """The one of the polynomials that is the least number; where none is a number, the first."""
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
