"""Upper bounds for the requests of a place, a function or a script, with their explanation."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from saftc.cost.algebra import ZERO, Polynomial, largest
from saftc.source import Source
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a number of requests is unbounded: the place, the reason, and what would bound it."""

    node: n.Node
    source: Source = field(compare=False)
    words: str
    advice: str | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound for requests: a formula, or the reasons why there is none."""

    most: Polynomial = ZERO
    reasons: tuple[Reason, ...] = ()

    @property
    def is_zero(self) -> bool:
        """Whether it allows no requests."""
        return self.most.is_zero and not self.reasons

    @property
    def number(self) -> int | None:
        """The bound as a number; None if it is unknown or a formula."""
        return None if self.reasons else self.most.number

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.most + other.most, each_once(self.reasons, other.reasons))

    def times(self, factor: Polynomial) -> "Bound":
        """The bound of `factor` repetitions."""
        return NOTHING if factor.is_zero else Bound(self.most * factor, self.reasons)


NOTHING = Bound()


def largest_bound(bounds: Iterable[Bound]) -> Bound:
    """The largest of the bounds; unknown if one is unknown."""
    found = list(bounds)
    reasons = each_once(*(one.reasons for one in found))
    return Bound(largest(*(one.most for one in found)), reasons)


def each_once(*reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The distinct reasons, in order."""
    return tuple(dict.fromkeys(one for some in reasons for one in some))


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place that asks, with its own share of the bound and its explanation in words.

    `inner` are the places in a loop, each for one turn. `called` is the function that a call is of.
    """

    node: n.Node
    source: Source
    bound: Bound
    words: str
    inner: "tuple[CallSite, ...]" = ()
    called: "FunctionBound | None" = None


@dataclass(frozen=True, slots=True)
class FunctionBound:
    """A function, or the top level of a script: its bound, and the places that ask."""

    name: str
    definition: n.FunctionDef | n.Module
    source: Source
    bound: Bound
    pieces: tuple[CallSite, ...]
