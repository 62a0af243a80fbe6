"""The most requests of a place, a function or a script, and how that comes about."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from saftc.cost.algebra import ZERO, Polynomial, largest
from saftc.source import Source
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a number of requests is not bounded: the place, why, and what would bound it."""

    node: n.Node
    source: Source = field(compare=False)
    words: str
    advice: str | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """A number of requests at most: a formula, or the reasons why there is none."""

    most: Polynomial = ZERO
    reasons: tuple[Reason, ...] = ()

    @property
    def is_zero(self) -> bool:
        """Whether nothing is asked."""
        return self.most.is_zero and not self.reasons

    @property
    def number(self) -> int | None:
        """The number, where it is one."""
        return None if self.reasons else self.most.number

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.most + other.most, each_once(self.reasons, other.reasons))

    def times(self, factor: Polynomial) -> "Bound":
        """So often the same."""
        return NOTHING if factor.is_zero else Bound(self.most * factor, self.reasons)


NOTHING = Bound()


def largest_bound(bounds: Iterable[Bound]) -> Bound:
    """The largest of several; unknown, where one is."""
    found = list(bounds)
    reasons = each_once(*(one.reasons for one in found))
    return Bound(largest(*(one.most for one in found)), reasons)


def each_once(*reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The reasons, each once."""
    return tuple(dict.fromkeys(one for some in reasons for one in some))


@dataclass(frozen=True, slots=True)
class Piece:
    """A place that asks, with its own part in the bound, and in words how that comes about.

    `inner` are the places in a turn of a loop, each for one turn; `called` the function that a call
    is of.
    """

    node: n.Node
    source: Source
    bound: Bound
    words: str
    inner: "tuple[Piece, ...]" = ()
    called: "FunctionBound | None" = None


@dataclass(frozen=True, slots=True)
class FunctionBound:
    """A function, or what a script does at its top: its bound, and the places that ask."""

    name: str
    definition: n.FunctionDef | n.Module
    source: Source
    bound: Bound
    pieces: tuple[Piece, ...]
