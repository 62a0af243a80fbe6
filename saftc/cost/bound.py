"""Upper bounds for the requests of a prompt, a function or a script, each with an explanation."""

from collections.abc import Iterable
from dataclasses import dataclass

from saftc.cost.algebra import ZERO, Polynomial, Reason, largest
from saftc.source import Source
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound for requests: a formula, or the reasons why there is no bound."""

    most: Polynomial = ZERO
    reasons: tuple[Reason, ...] = ()

    @property
    def is_zero(self) -> bool:
        """Whether the bound allows no requests."""
        return self.most.is_zero and not self.reasons

    @property
    def number(self) -> int | None:
        """The bound as a number.

        Returns None if there is no bound, or if its formula contains a measure.
        """
        return None if self.reasons else self.most.number

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.most + other.most, each_once(self.reasons, other.reasons))

    def times(self, factor: Polynomial) -> "Bound":
        """The bound for `factor` repetitions."""
        return NOTHING if factor.is_zero else Bound(self.most * factor, self.reasons)


NOTHING = Bound()


def largest_bound(bounds: Iterable[Bound]) -> Bound:
    """An upper bound of all these bounds. It is unbounded if one of them is unbounded."""
    found = list(bounds)
    reasons = each_once(*(one.reasons for one in found))
    return Bound(largest(*(one.most for one in found)), reasons)


def each_once(*reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The distinct reasons, in order of their first appearance."""
    return tuple(dict.fromkeys(one for some in reasons for one in some))


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
    """The bound of a function, or of a script's top level, with the call sites in it."""

    name: str
    definition: n.FunctionDef | n.Module
    source: Source
    bound: Bound
    pieces: tuple[CallSite, ...]
