"""Definite assignment: the names that are certainly or maybe assigned at each point of a scope.

    if is_new:
        rate = 2
    print(rate)         // maybe assigned
    rate = 3
    print(rate)         // certainly assigned

Sets of names are bit masks, so that the cost per line does not grow with the length of the script.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from saftc.check.forward import ForwardAnalysis, Loop
from saftc.check.statements import Statements, bound_by, name_of, names_bound
from saftc.syntax import nodes as n

# All names count as assigned at an unreachable point.
_ALL = -1


class Point(NamedTuple):
    """The names that have a value at a point, as bit masks.

    `certain`: the names with a value on every path. `maybe`: the names with a value on some path,
    including paths through earlier turns of a loop. `later`: the names in `maybe` that certainly
    have no value in the first turn of the loop.
    """

    certain: int
    maybe: int
    later: int


class Assigned(ForwardAnalysis[int]):
    """Finds the names that are certainly or maybe assigned at each point of a scope.

    `points` has the point before each statement, and the point of each expression that is evaluated
    by a statement. `given` are the names that have a value at the start.
    """

    def __init__(self, statements: Sequence[n.Statement], given: Iterable[str] = ()) -> None:
        super().__init__()
        begin = list(given)
        names = dict.fromkeys([*begin, *sorted(names_bound(statements))])
        self.bits = {name: 1 << number for number, name in enumerate(names)}
        self.points: dict[n.Node, Point] = {}
        # The first statement of each unreachable sequence of statements.
        self.dead: list[n.Statement] = []
        self.maybe = 0
        # For each enclosing block: the names that only its remaining statements assign.
        self.later = [0]
        certain = self.block(statements, self._bits_of(begin))
        self.end = Point(_ALL if certain is None else certain, self.maybe, 0)

    def has(self, point: Point, name: str) -> bool:
        """Whether a name of the scope certainly has a value at a point."""
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
