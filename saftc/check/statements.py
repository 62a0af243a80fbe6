"""Statements in the control flow: blocks, evaluated expressions and bound names."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

Statements = Iterable[n.Statement]


def blocks_of(statement: n.Statement) -> list[tuple[n.Statement, ...]]:
    """The blocks inside `statement` that run in the same scope; `else` comes last."""
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
    """Yields the statements and all statements in their blocks, in source order.

    The bodies of functions are excluded, because they have another scope.
    """
    for statement in statements:
        yield statement
        for block in blocks_of(statement):
            yield from all_statements(block)


def evaluated_by(statement: n.Statement) -> Sequence[n.Expression]:
    """The expressions that a statement itself evaluates, in order.

    An `if` and an `assert` may stop before the last expression. A `for` evaluates its iterable
    once; a `while` evaluates its condition before each turn. For statements of an unknown kind, the
    result is all names that they read.
    """
    match statement:
        case (
            n.AssignStmt()
            | n.AugmentedAssignStmt()
            | n.UnpackStmt()
            | n.DestructureStmt()
            | n.ExpressionStmt()
            | n.FailStmt()
        ):
            return [statement.value]
        case n.RetStmt():
            return [] if statement.value is None else [statement.value]
        case n.AssertStmt():
            return [statement.condition, *([statement.message] if statement.message else [])]
        case n.IfStmt():
            return [branch.condition for branch in statement.branches]
        case n.ForStmt():
            return [statement.iterable]
        case n.WhileStmt():
            return [statement.condition]
        case n.FunctionDef() | n.RecordDef():
            return statement.defaults
        case (
            n.TryStmt()
            | n.BreakStmt()
            | n.ContinueStmt()
            | n.TypeAlias()
            | n.ImportStmt()
            | n.FromImport()
            | n.ServerImport()
        ):
            return []
        case _:
            return [one for one in walk(statement) if isinstance(one, n.Name)]


def bound_by(node: n.Statement | n.ComprehensionClause) -> list[n.Identifier]:
    """The names that a statement itself binds by assignment, definition or import, in order.

    A `try` binds no name: the failure's name is local to the `except` block.
    """
    match node:
        case n.FunctionDef() | n.RecordDef() | n.TypeAlias():
            return [node.name]
        case n.ImportStmt() | n.FromImport() | n.ServerImport():
            return [name for name, _ in imported_by(node)]
        case _:
            return assigned_by(node)


def imported_by(
    node: n.ImportStmt | n.FromImport | n.ServerImport,
) -> list[tuple[n.Identifier, n.Identifier]]:
    """The names that an import binds, each with the name of the imported module or member."""
    if isinstance(node, n.ImportStmt):
        return [(node.alias or node.module, node.module)]
    return [(one.alias or one.name, one.name) for one in node.names]


def assigned_by(node: n.Statement | n.ComprehensionClause) -> list[n.Identifier]:
    """The variables that a statement itself assigns, in order."""
    match node:
        case n.AssignStmt() | n.AugmentedAssignStmt():
            return [node.name]
        case n.DestructureStmt():
            return [field.name for field in node.fields]
        case n.ForStmt() | n.ComprehensionClause() | n.UnpackStmt():
            return list(_names_in(node.pattern))
        case _:
            return []


def names_bound(statements: Statements) -> set[str]:
    """The names that statements and the statements in their blocks bind."""
    return {name_of(one) for inner in all_statements(statements) for one in bound_by(inner)}


def name_of(identifier: n.Identifier) -> str:
    """The name that an identifier binds: `import a.b` binds `a`."""
    return identifier.text.split(".")[0]


def _names_in(pattern: n.Pattern) -> Iterator[n.Identifier]:
    match pattern:
        case n.NamePattern():
            yield pattern.name
        case n.TuplePattern():
            for item in pattern.items:
                yield from _names_in(item)
        case _:
            assert_never(pattern)
