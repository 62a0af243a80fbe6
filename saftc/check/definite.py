"""Definite assignment: which of its names a call has certainly assigned at a point, which maybe.

    if is_new:
        rate = 2
    print(rate)         // perhaps
    rate = 3
    print(rate)         // certainly

Sets of names are numbers, a bit for each name, so that a long script costs no more than a short one
for each of its lines.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from saftc.check.forward import ForwardAnalysis, Loop
from saftc.check.statements import Statements, bound_by, name_of, names_bound
from saftc.syntax import nodes as n

# All names are assigned where the flow never gets.
_ALL = -1


class Point(NamedTuple):
    """What has a value at a point, as bits.

    `maybe` has one on some path, among others on those that a loop takes in later turns; what is
    also in `later` certainly has none in the first one.
    """

    certain: int
    maybe: int
    later: int


class Assigned(ForwardAnalysis[int]):
    """What a call assigns where. `points`: that of each statement and of each expression in one.

    `given` are the names that have a value from the beginning.
    """

    def __init__(self, statements: Sequence[n.Statement], given: Iterable[str] = ()) -> None:
        super().__init__()
        begin = list(given)
        names = dict.fromkeys([*begin, *sorted(names_bound(statements))])
        self.bits = {name: 1 << number for number, name in enumerate(names)}
        self.points: dict[n.Node, Point] = {}
        # The first statement of each stretch that the flow never gets to.
        self.dead: list[n.Statement] = []
        self.maybe = 0
        # For the blocks around, what they assign further down alone.
        self.later = [0]
        certain = self.block(statements, self._bits_of(begin))
        self.end = Point(_ALL if certain is None else certain, self.maybe, 0)

    def has(self, point: Point, name: str) -> bool:
        """Whether a name of the call certainly has a value at a point."""
        return bool(self.bits.get(name, 0) & point.certain)

    def _bits_of(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= self.bits[name]
        return bits

    def _point(self, node: n.Node, state: int) -> None:
        self.points[node] = Point(state, self.maybe, self.later[-1])

    def join(self, states: Sequence[int]) -> int:
        certain = _ALL
        for state in states:
            certain &= state
        return certain

    def evaluate(self, node: n.Expression, statement: n.Statement, state: int) -> int:
        self._point(node, state)
        return state

    def bind(self, statement: n.Statement, state: int) -> int:
        bits = self._bits_of(map(name_of, bound_by(statement)))
        self.maybe |= bits
        self.later = [one & ~bits for one in self.later]
        return state | bits

    def unreached(self, statement: n.Statement, last: int) -> int:
        if last != _ALL:
            self.dead.append(statement)
        return _ALL

    def statement(self, statement: n.Statement, state: int) -> int | None:
        self._point(statement, state)
        return super().statement(statement, state)

    def branch(self, statements: Statements, state: int) -> int | None:
        self.later.append(0)
        below = super().branch(statements, state)
        self.later.pop()
        return below

    def loop(self, loop: Loop, state: int) -> int | None:
        bound = self._bits_of(names_bound([loop]))
        self.later.append(bound & ~self.maybe)
        self.maybe |= bound
        below = super().loop(loop, state)
        self.later.pop()
        return below
