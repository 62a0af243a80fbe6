"""One walk along the flow, for all that is found out on the way.

An analysis has a *state*: what is known at a point of the flow. It says what an expression and
what a binding make of the state (`evaluate`, `bind`), and what is known where several ways meet
(`join`). The walk knows the rest, once: in what order statements do these things, which ways lead
where, how often a loop turns, and where a `try` may be left.

    Owning(...).block(module.statements, {})    the state below the module

A loop is gone through until the state at its head is the same again, so an analysis is asked again
about the same places, with more ways that lead there; what it was asked last is what holds. States
are values: they are compared and kept, and never changed. That ends because `join` only ever goes
one way.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from saftc.check.statements import Statements, evaluated_by
from saftc.syntax import nodes as n

State = TypeVar("State")
Loop = n.ForStmt | n.WhileStmt


@dataclass(slots=True)
class Turn(Generic[State]):
    """A turn of a loop: the states in which `break` leaves it and `continue` ends it."""

    loop: Loop
    breaks: list[State] = field(default_factory=list[State])
    continues: list[State] = field(default_factory=list[State])


class ForwardAnalysis(ABC, Generic[State]):
    """A forward analysis; a state of None is that of a place which the flow never reaches."""

    def __init__(self) -> None:
        # The loops around, and the states in which each `try` around may be left for its handler.
        self.turns: list[Turn[State]] = []
        self.failing: list[list[State]] = []

    # What an analysis says

    def evaluate(self, node: n.Expression, statement: n.Statement, state: State) -> State:
        """What is known once `statement` has evaluated `node`."""
        del node, statement
        return state

    def bind(self, statement: n.Statement, state: State) -> State:
        """What is known once a statement has bound its names: a loop does so in each turn, and a
        `try` when it gives the failure its name.
        """
        del statement
        return state

    def assume(self, condition: n.Expression, state: State, *, truth: bool) -> State:
        """What is known where a condition that was evaluated turned out to be true, or not."""
        del condition, truth
        return state

    @abstractmethod
    def join(self, states: Sequence[State]) -> State:
        """What is known where several ways meet."""

    def widen(self, loop: Loop, head: State, again: State) -> State | None:
        """The state in which a loop turns once more; None where it need not.

        `head` is the one in which its turns were gone through last, `again` what that has made it.
        """
        del loop
        return None if again == head else again

    def certainly_turns(self, loop: n.ForStmt) -> bool:
        """Whether a loop certainly turns once, for what is found out."""
        return _has_items(loop.iterable)

    def unreached(self, statement: n.Statement, last: State) -> State | None:
        """The state to go on with at a statement that the flow does not reach; None: it ends.

        `last` is the state in which the statement above it began.
        """
        del statement, last
        return None

    # The flow

    def block(self, statements: Statements, state: State) -> State | None:
        """The state below a block that begins in `state`."""
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
        """A block that runs on some paths only."""
        return self.block(statements, state)

    def statement(self, statement: n.Statement, state: State) -> State | None:
        """The state below a statement."""
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
        """The state below a statement without blocks; None where nothing goes on below it."""
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
        """The turns of a loop, the first of which begins in `state`."""
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
            # That it never gets below its first turn, no checker of Python sees.
        is_endless = isinstance(loop, n.WhileStmt) and _is_true(loop.condition)
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
        """The handler begins with what holds wherever the block may fail."""
        self.failing.append([state])
        done = self.branch(statement.body, state)
        failed = self._bound(statement, self.join(self.failing.pop()))
        return self.met([done, self.branch(statement.handler, failed)])

    def met(self, states: Iterable[State | None]) -> State | None:
        """The state where several ways meet; those that nothing comes along do not count."""
        reached = [state for state in states if state is not None]
        return self.join(reached) if reached else None

    def _evaluated(self, node: n.Expression, statement: n.Statement, state: State) -> State:
        return self._passed(self.evaluate(node, statement, state))

    def _bound(self, statement: n.Statement, state: State) -> State:
        return self._passed(self.bind(statement, state))

    def _passed(self, state: State) -> State:
        """Notes that each `try` around may be left for its handler in this state."""
        for states in self.failing:
            states.append(state)
        return state


class _Reached(ForwardAnalysis[bool]):
    """Whether the flow gets to a place, and nothing else."""

    def join(self, states: Sequence[bool]) -> bool:
        return all(states)


def ends(statements: Statements) -> bool:
    """Whether the flow never goes on below a block that begins to run.

    This takes the script as it is written: `while true` without a `break` has nothing below it,
    `while x` may have.
    """
    return _Reached().block(statements, True) is None


def _is_true(condition: n.Expression) -> bool:
    return isinstance(condition, n.Literal) and condition.value is True


def _has_items(node: n.Expression) -> bool:
    """Whether a list is written with items, so that a loop over it certainly turns."""
    is_list = isinstance(node, n.ListLiteral | n.TupleLiteral)
    return is_list and any(not isinstance(item, n.Spread) for item in node.items)
