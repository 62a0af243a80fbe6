"""Which variables statements assign, and which they read before assigning them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from saftc.check.forward import ForwardAnalysis
from saftc.check.names import Code, Symbol
from saftc.check.statements import all_statements, blocks_of, bound_by
from saftc.syntax import nodes as n

if TYPE_CHECKING:
    from saftc.effects.effects import Effects

# Symbols that have a value.
_Certain = frozenset[Symbol]


class VariableFlow:
    """Finds the variables that statements read and assign. Reads in called functions count, too."""

    def __init__(self, effects: "Effects") -> None:
        self.facts = effects.facts
        self.effects = effects
        self._statements: dict[n.Statement, tuple[_Certain, _Certain | None]] = {}

    def assigned(self, statements: Iterable[n.Statement]) -> set[Symbol]:
        """The variables that the statements may assign."""
        return {symbol for one in all_statements(statements) for symbol in self.bound(one)}

    def bound(self, statement: n.Statement | n.ComprehensionClause) -> list[Symbol]:
        """The variables that a statement itself assigns or defines, in source order."""
        return [self.facts.names.of(identifier) for identifier in bound_by(statement)]

    def read(self, *nodes: n.Node) -> set[Symbol]:
        """The variables that evaluating the nodes reads, directly or in called functions."""
        own = {symbol for symbol, _ in self.facts.names.read(*nodes)}
        return own | self.effects.read_in_functions(*nodes)

    def early_reads(self, statements: Iterable[n.Statement], certain: set[Symbol]) -> set[Symbol]:
        """The variables that the statements may read before they certainly assign them.

        `certain` has the variables with a value before the statements. The method adds the
        variables that certainly have a value after them.
        """
        found, assigned = set[Symbol](), _Certain()
        for statement in statements:
            early, bound = self.of_statement(statement)
            found |= early - certain - assigned
            if bound is None:
                return found
            assigned |= bound
        certain |= assigned
        return found

    def of_statement(self, statement: n.Statement) -> "tuple[_Certain, _Certain | None]":
        """The variables that a statement may read too early, and those that it certainly assigns.

        A read is too early unless the statement has certainly assigned the variable before. The
        second set is None if the script never continues below the statement.
        """
        if statement not in self._statements:
            early = _Early(self)
            bound = early.block((statement,), _Certain())
            self._statements[statement] = _Certain(early.found), bound
        return self._statements[statement]


class _Early(ForwardAnalysis[_Certain]):
    """Collects variables that may be read before they are assigned.

    The state is the set of variables that were certainly assigned.
    """

    def __init__(self, flow: VariableFlow) -> None:
        super().__init__()
        self.flow = flow
        self.found = set[Symbol]()

    def evaluate(self, node: n.Expression, statement: n.Statement, state: _Certain) -> _Certain:
        self.found |= self.flow.read(node) - state
        return state

    def bind(self, statement: n.Statement, state: _Certain) -> _Certain:
        if isinstance(statement, Code):
            # The function may run from here on, also where no call is visible.
            self.found |= self.flow.effects.outer(statement) - state
        return state.union(self.flow.bound(statement))

    def join(self, states: Sequence[_Certain]) -> _Certain:
        first, *others = states
        return first.intersection(*others)


def continues_of(statements: Iterable[n.Statement]) -> Iterator[n.ContinueStmt]:
    """The `continue` statements of a loop itself, without those of inner loops."""
    for statement in statements:
        if isinstance(statement, n.ContinueStmt):
            yield statement
        elif not isinstance(statement, n.ForStmt | n.WhileStmt):
            for block in blocks_of(statement):
                yield from continues_of(block)
