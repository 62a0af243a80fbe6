"""Sums of products of lengths and numbers: `3 * len(mails) + 2`.

    n = measured(mails)
    n * number(2) + n               3 * len(mails)
    largest(n, number(2))           len(mails) + 2

All numbers and measures are at least zero. So the sum with the largest coefficient of each product
is an upper bound of several sums.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from saftc.check.names import Symbol
from saftc.source import Source
from saftc.syntax import nodes as n

Kind = Literal["len", "int"]

# Longer expressions are shown in part.
WIDEST = 48
# Stands for a variable in a template.
VARIABLE = "\0"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a number of requests is unbounded: the node that causes it, the reason, and a remedy."""

    node: n.Node
    source: Source = field(compare=False)
    words: str
    advice: str | None = None


@dataclass(frozen=True)
class Measure:
    """The length of an expression, or its whole number, known only when the script runs.

    A measure means the largest value that its expression has in a run, and at least 0. `template`
    is the expression as the script writes it, with `VARIABLE` in place of each of `symbols`. If the
    expression has no meaning outside its function, `local` says why.
    """

    kind: Kind
    template: str
    symbols: tuple[Symbol, ...] = ()
    local: Reason | None = field(default=None, compare=False)

    @cached_property
    def shown(self) -> str:
        """The expression on one line, shortened if it is very long."""
        names = iter(self.symbols)
        text = "".join(next(names).name if one == VARIABLE else one for one in self.template)
        return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"

    @cached_property
    def text(self) -> str:
        """The measure as the script would write it."""
        if self.kind == "len":
            return f"len({self.shown})"
        return f"({self.shown})" if " " in self.shown else self.shown

    @property
    def advice(self) -> str:
        """How a script can bound the measure."""
        if self.kind == "len":
            return f"a slice bounds it: `{self.shown}[:10]`"
        return f"a smaller number bounds it: `min({self.shown}, 10)`"

    def replaced(self, meaning: "Mapping[Symbol, Measure]") -> "Measure":
        """The measure with its symbols replaced by the expressions in `meaning`."""
        inner = [meaning.get(one, Measure("len", VARIABLE, (one,))) for one in self.symbols]
        templates = iter([one.template for one in inner])
        template = "".join(next(templates) if one == VARIABLE else one for one in self.template)
        symbols = tuple(symbol for one in inner for symbol in one.symbols)
        local = next((one.local for one in (self, *inner) if one.local is not None), None)
        return Measure(self.kind, template, symbols, local)


Term = tuple[Measure, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of measures, each with its coefficient. Equal sums compare equal."""

    terms: tuple[tuple[Term, int], ...] = ()

    @cached_property
    def text(self) -> str:
        """The usual notation. Products with the most factors come first, a number comes last."""
        products = (
            " * ".join([*([str(times)] if times > 1 or not term else []), *(m.text for m in term)])
            for term, times in self.terms
        )
        return " + ".join(products) or "0"

    @property
    def number(self) -> int | None:
        """The value of a constant. Returns None if the sum contains a measure."""
        return None if any(term for term, _ in self.terms) else self.constant

    @property
    def constant(self) -> int:
        """The number in the sum that is in no product."""
        return sum(times for term, times in self.terms if not term)

    @property
    def shown(self) -> str:
        """The text. A constant has commas between its thousands."""
        return self.text if self.number is None else f"{self.number:,}"

    @property
    def is_zero(self) -> bool:
        """Whether the sum is zero."""
        return not self.terms

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return _sum([*self.terms, *other.terms])

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        return _sum(
            (tuple(sorted((*a, *b), key=lambda one: one.text)), i * j)
            for a, i in self.terms
            for b, j in other.terms
        )

    def less(self, taken: int) -> "Polynomial":
        """The sum with `taken` subtracted from its constant, which stays at least 0."""
        rest = ((term, times) for term, times in self.terms if term)
        return _sum([*rest, ((), max(0, self.constant - taken))])


def number(value: int) -> Polynomial:
    """The constant of a value. It is zero if the value is negative."""
    return ZERO.less(-value)


def measured(measure: Measure) -> Polynomial:
    """The sum that consists of a single measure."""
    return Polynomial((((measure,), 1),))


def largest(*ways: Polynomial) -> Polynomial:
    """An upper bound of the sums, with the largest coefficient of each product."""
    found: dict[Term, int] = {}
    for way in ways:
        for term, times in way.terms:
            found[term] = max(found.get(term, 0), times)
    return _sum(found.items())


def least(*ways: Polynomial) -> Polynomial:
    """The smallest constant among the sums. Returns the first sum if none is constant."""
    return min(ways, key=lambda way: (way.number is None, way.number or 0))


def _sum(terms: Iterable[tuple[Term, int]]) -> Polynomial:
    found: dict[Term, int] = {}
    for term, times in terms:
        found[term] = found.get(term, 0) + times
    return Polynomial(tuple(sorted(((t, i) for t, i in found.items() if i), key=_place)))


def _place(one: tuple[Term, int]) -> tuple[int, list[str]]:
    return -len(one[0]), [factor.text for factor in one[0]]


ZERO = Polynomial()
ONE = number(1)
