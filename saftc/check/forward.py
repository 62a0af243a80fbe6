"""The framework of all forward dataflow analyses.

An analysis defines a *state*, which describes a point of the control flow, and three functions: the
state after an expression (`evaluate`), after a binding (`bind`), and where paths meet (`join`). The
framework does the rest: the order of evaluation, branches, loops, and the exits of a `try`.

    _Reached().block(module.statements, True)    the state at the end of the module

The body of a loop is analyzed until the state at the loop's head no longer changes (a fixpoint). So
an analysis sees the same nodes several times; only the last time counts. States are stored and
compared, so they must not be modified. The fixpoint is reached because `join` is monotone.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from saftc.check.statements import Statements, evaluated_by
from saftc.syntax import nodes as n

State = TypeVar("State")
Loop = n.ForStmt | n.WhileStmt
_WRITTEN = n.ListLiteral | n.TupleLiteral


@dataclass(slots=True)
class Turn(Generic[State]):
    """A turn of a loop, with the states at each `break` and each `continue`."""

    loop: Loop
    breaks: list[State] = field(default_factory=list[State])
    continues: list[State] = field(default_factory=list[State])


class ForwardAnalysis(ABC, Generic[State]):
    """A forward dataflow analysis. The state of an unreachable place is None."""

    def __init__(self) -> None:
        # The enclosing loops, and for each enclosing `try` the states in which its block may fail.
        self.turns: list[Turn[State]] = []
        self.failing: list[list[State]] = []

    # What an analysis overrides

    def evaluate(self, node: n.Expression, statement: n.Statement, state: State) -> State:
        """The state after `statement` has evaluated `node`."""
        del node, statement
        return state

    def bind(self, statement: n.Statement, state: State) -> State:
        """The state after a statement has bound its names.

        A loop binds its names at the start of each turn. A `try` binds the name of the failure at
        the start of its handler.
        """
        del statement
        return state

    def assume(self, condition: n.Expression, state: State, *, truth: bool) -> State:
        """The state after a condition has been found to be true or false (`truth`)."""
        del condition, truth
        return state

    @abstractmethod
    def join(self, states: Sequence[State]) -> State:
        """The state where several paths meet."""

    def widen(self, loop: Loop, head: State, again: State) -> State | None:
        """The state at the head of a loop for the next iteration of the fixpoint, or None to stop.

        The last iteration assumed the state `head` at the head of the loop, and produced `again`.
        """
        del loop
        return None if again == head else again

    def certainly_turns(self, loop: n.ForStmt) -> bool:
        """Whether a loop certainly has a turn, because it iterates over a literal with items."""
        items = loop.iterable.items if isinstance(loop.iterable, _WRITTEN) else ()
        return any(not isinstance(item, n.Spread) for item in items)

    def unreached(self, statement: n.Statement, last: State) -> State | None:
        """The state to assume at an unreachable statement, or None to skip the rest of the block.

        `last`: the state before the previous statement.
        """
        del statement, last
        return None

    # The flow

    def block(self, statements: Statements, state: State) -> State | None:
        """The state after a block that starts in `state`."""
        reached: State | None = state
        for statement in statements:
            if reached is None:
                reached = self.unreached(statement, state)
                if reached is None:
                    break
            state = reached
            reached = self.statement(statement, state)
        return reached

    def branch(self, statements: Statements, state: State) -> State | None:
        """The state after a block that runs on some paths only."""
        return self.block(statements, state)

    def statement(self, statement: n.Statement, state: State) -> State | None:
        """The state after a statement."""
        match statement:
            case n.IfStmt():
                return self._if(statement, state)
            case n.ForStmt():
                return self.loop(statement, self._evaluated(statement.iterable, statement, state))
            case n.WhileStmt():
                return self.loop(statement, state)
            case n.TryStmt():
                return self._try(statement, state)
            case n.BreakStmt() | n.ContinueStmt():
                if self.turns:  # outside of a loop it is a mistake, reported elsewhere
                    turn, is_break = self.turns[-1], isinstance(statement, n.BreakStmt)
                    (turn.breaks if is_break else turn.continues).append(state)
                return None
            case _:
                return self.plain(statement, state)

    def plain(self, statement: n.Statement, state: State) -> State | None:
        """The state after a statement without blocks, or None if the statement never completes."""
        match statement:
            case n.RetStmt() | n.FailStmt():
                for node in evaluated_by(statement):
                    self._evaluated(node, statement, state)
                return None
            case n.AssertStmt():
                state = self._evaluated(statement.condition, statement, state)
                if statement.message is not None:
                    self._evaluated(statement.message, statement, state)
                if statement.always_fails:
                    return None
                return self.assume(statement.condition, state, truth=True)
            case _:
                for node in evaluated_by(statement):
                    state = self._evaluated(node, statement, state)
                return self._bound(statement, state)

    def loop(self, loop: Loop, state: State) -> State | None:
        """The state after a loop whose first turn starts in `state`."""
        head = state
        while True:
            turn = Turn[State](loop)
            self.turns.append(turn)
            if isinstance(loop, n.ForStmt):
                done, begun = head, self._bound(loop, head)
            else:
                tested = self._evaluated(loop.condition, loop, head)
                begun = self.assume(loop.condition, tested, truth=True)
                done = self.assume(loop.condition, tested, truth=False)
            turned = [self.block(loop.body, begun), *turn.continues]
            self.turns.pop()
            again = self.join([state, *(one for one in turned if one is not None)])
            next_head = self.widen(loop, head, again)
            if next_head is None:
                break
            head = next_head
        if isinstance(loop, n.ForStmt) and self.certainly_turns(loop):
            below = self.met([*turned, *turn.breaks])
            if below is not None:
                return below
            # No turn completes. Python's type checkers do not see that: go on as if it had none.
        condition = loop.condition if isinstance(loop, n.WhileStmt) else None
        is_endless = isinstance(condition, n.Literal) and condition.value is True
        return self.met([*([] if is_endless else [done]), *turn.breaks])

    def _if(self, statement: n.IfStmt, state: State) -> State | None:
        ways: list[State | None] = []
        for branch in statement.branches:
            state = self._evaluated(branch.condition, statement, state)
            true = self.assume(branch.condition, state, truth=True)
            ways.append(self.branch(branch.body, true))
            state = self.assume(branch.condition, state, truth=False)
        ways.append(self.branch(statement.other, state))
        return self.met(ways)

    def _try(self, statement: n.TryStmt, state: State) -> State | None:
        """The state after a `try`.

        The handler starts in the join of the states in which the body may fail.
        """
        self.failing.append([state])
        done = self.branch(statement.body, state)
        failed = self._bound(statement, self.join(self.failing.pop()))
        return self.met([done, self.branch(statement.handler, failed)])

    def met(self, states: Iterable[State | None]) -> State | None:
        """The state where several paths meet. Unreachable paths, whose state is None, are ignored.

        The result is None if all paths are unreachable.
        """
        reached = [state for state in states if state is not None]
        return self.join(reached) if reached else None

    def _evaluated(self, node: n.Expression, statement: n.Statement, state: State) -> State:
        return self._passed(self.evaluate(node, statement, state))

    def _bound(self, statement: n.Statement, state: State) -> State:
        return self._passed(self.bind(statement, state))

    def _passed(self, state: State) -> State:
        """Records that each enclosing `try` may fail in this state, and returns the state."""
        for states in self.failing:
            states.append(state)
        return state


class _Reached(ForwardAnalysis[bool]):
    """Finds out which points are reachable. A reachable point has the state True."""

    def join(self, states: Sequence[bool]) -> bool:
        return all(states)


def ends(statements: Statements) -> bool:
    """Whether the end of a block is unreachable.

    Only a condition that is the literal `true` is taken into account: the end of `while true`
    without a `break` is unreachable, but the end of `while x` counts as reachable.
    """
    return _Reached().block(statements, True) is None
