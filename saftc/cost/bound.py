"""Upper bounds for requests, lengths and numbers, each with an explanation: `3 * len(mails) + 2`.

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

A_BUDGET = "a budget of the run (`--budget-requests`) bounds it"
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
class Bound:
    """An upper bound: a sum of products of measures, each with its coefficient.

    If there are `reasons` why there is no bound, the sum is only a part of the value. Equal bounds
    compare equal.
    """

    terms: tuple[tuple[Term, int], ...] = ()
    reasons: tuple[Reason, ...] = ()

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
        """The value of a constant. Returns None if there is no bound, or if it has a measure."""
        is_constant = not self.reasons and not any(term for term, _ in self.terms)
        return self.constant if is_constant else None

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
        """Whether the bound is zero."""
        return not self.terms and not self.reasons

    def __add__(self, other: "Bound") -> "Bound":
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        return _bound([*self.terms, *other.terms], self.reasons + other.reasons)

    def __mul__(self, other: "Bound") -> "Bound":
        if self.is_zero or other.is_zero:
            return ZERO
        products = (
            (tuple(sorted((*a, *b), key=lambda one: one.text)), i * j)
            for a, i in self.terms
            for b, j in other.terms
        )
        return _bound(products, self.reasons + other.reasons)

    def less(self, taken: int) -> "Bound":
        """The bound with `taken` subtracted from its constant, which stays at least 0."""
        rest = ((term, times) for term, times in self.terms if term)
        return _bound([*rest, ((), max(0, self.constant - taken))])


def number(value: int) -> Bound:
    """The constant of a value. It is zero if the value is negative."""
    return ZERO.less(-value)


def measured(measure: Measure) -> Bound:
    """The bound that consists of a single measure."""
    return Bound((((measure,), 1),))


def largest(ways: Iterable[Bound]) -> Bound:
    """An upper bound of several bounds, with the largest coefficient of each product.

    There is no bound if one of them is none.
    """
    found, reasons = dict[Term, int](), list[Reason]()
    for way in ways:
        reasons += way.reasons
        for term, times in way.terms:
            found[term] = max(found.get(term, 0), times)
    return _bound(found.items(), reasons)


def least(*ways: Bound) -> Bound:
    """The smallest constant among the bounds. Returns the first bound if none is constant."""
    return min(ways, key=lambda way: (way.number is None, way.number or 0))


def _bound(terms: Iterable[tuple[Term, int]], reasons: Iterable[Reason] = ()) -> Bound:
    found: dict[Term, int] = {}
    for term, times in terms:
        found[term] = found.get(term, 0) + times
    products = sorted(((t, i) for t, i in found.items() if i), key=_place)
    return Bound(tuple(products), tuple(dict.fromkeys(reasons)))


def _place(one: tuple[Term, int]) -> tuple[int, list[str]]:
    return -len(one[0]), [factor.text for factor in one[0]]


ZERO = Bound()
ONE = number(1)


@dataclass(frozen=True, slots=True)
class CallSite:
    """A prompt, a call or a loop that may send requests: its bound, and an explanation in words.

    `inner` has the call sites inside a loop, bounded for one iteration. `called` is the callee of a
    call, if the only possible callee is a function of a script.
    """

    node: n.Node
    source: Source
    bound: Bound
    words: str
    inner: "tuple[CallSite, ...]" = ()
    called: "FunctionBound | None" = None


@dataclass(frozen=True, slots=True)
class FunctionBound:
    """The bound of a function, or of a script's top level, with the call sites in it.

    `title` is the first column of its row in a table.
    """

    name: str
    title: str
    definition: n.FunctionDef | n.Module
    source: Source
    bound: Bound
    pieces: tuple[CallSite, ...]
