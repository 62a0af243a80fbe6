"""How a script runs through its statements: what a block binds, and whether the flow goes on below.

There is one answer to that for names, types, uses and histories, and it takes the script as it is
written: `while true` without a `break` has nothing below it, `while x` may have.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from saftc.syntax import nodes as n

Statements = Iterable[n.Statement]


def blocks_of(statement: n.Statement) -> list[tuple[n.Statement, ...]]:
    """The blocks inside `statement` that run in the same scope; of an `if`, that of `else` last."""
    match statement:
        case n.IfStmt():
            return [*(branch.body for branch in statement.branches), statement.other]
        case n.ForStmt() | n.WhileStmt():
            return [statement.body]
        case n.TryStmt():
            return [statement.body, statement.handler]
        case _:
            return []


def all_statements(statements: Statements) -> Iterator[n.Statement]:
    """The statements and those inside them that run in the same scope, in source order."""
    for statement in statements:
        yield statement
        for block in blocks_of(statement):
            yield from all_statements(block)


def ends(statements: Statements) -> bool:
    """Whether the flow never goes on below a block that begins to run."""
    return any(map(_ends, statements))


def _ends(statement: n.Statement) -> bool:
    match statement:
        case n.RetStmt() | n.BreakStmt() | n.ContinueStmt() | n.FailStmt():
            return True
        case n.AssertStmt():
            return statement.always_fails
        case n.IfStmt() | n.TryStmt():
            return all(map(ends, blocks_of(statement)))
        case n.WhileStmt(condition=n.Literal(value=True)):
            return not has_break(statement)
        case _:
            return False


def has_break(loop: n.WhileStmt) -> bool:
    """Whether a `break` of the loop itself stands in it."""
    return any(map(_breaks, loop.body))


def _breaks(statement: n.Statement) -> bool:
    if isinstance(statement, n.IfStmt | n.TryStmt):
        return any(_breaks(inner) for block in blocks_of(statement) for inner in block)
    return isinstance(statement, n.BreakStmt)


def bound_by(node: n.Statement | n.ComprehensionClause) -> Iterator[n.Identifier]:
    """The names that a statement itself assigns, or a clause of a comprehension."""
    match node:
        case n.AssignStmt() | n.AugmentedAssignStmt():
            yield node.name
        case n.DestructureStmt():
            yield from (field.name for field in node.fields)
        case n.ForStmt() | n.ComprehensionClause() | n.UnpackStmt():
            yield from _names_in(node.pattern)
        case _:
            return


def _names_in(pattern: n.Pattern) -> Iterator[n.Identifier]:
    match pattern:
        case n.NamePattern():
            yield pattern.name
        case n.TuplePattern():
            for item in pattern.items:
                yield from _names_in(item)
        case _:
            assert_never(pattern)
