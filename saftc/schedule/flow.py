"""Which variables a stretch of a script assigns, and which it reads before it has assigned them."""

from collections.abc import Iterable, Iterator

from saftc.schedule.effects import Effects
from saftc.semantics.flow import all_statements, blocks_of, bound_by, ends
from saftc.semantics.names import Scope, Symbol
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


class Flow:
    """Reads and assignments, also through the functions that are called."""

    def __init__(self, effects: Effects) -> None:
        self.facts = effects.facts
        self.effects = effects
        self._outer: dict[n.FunctionDef, frozenset[Symbol]] = {}

    def assigned(self, statements: Iterable[n.Statement]) -> set[Symbol]:
        """What the statements may assign."""
        return {symbol for one in all_statements(statements) for symbol in self.bound(one)}

    def bound(self, statement: n.Statement | n.ComprehensionClause) -> list[Symbol]:
        """What a statement itself assigns or defines, in order."""
        match statement:
            case n.FunctionDef() | n.RecordDef() | n.TypeAlias():
                return [self.facts.names.of(statement.name)]
            case n.ImportStmt():
                return [self.facts.names.of(statement.alias or statement.module)]
            case n.FromImport():
                return [self.facts.names.of(one.alias or one.name) for one in statement.names]
            case _:
                return [self.facts.names.of(identifier) for identifier in bound_by(statement)]

    def read(self, *nodes: n.Node) -> set[Symbol]:
        """What evaluating the nodes reads, itself or in functions."""
        own = {
            origin
            for node in nodes
            for inner in walk(node)
            if isinstance(inner, n.Name)
            for origin in _origins(self.facts.names.of(inner))
        }
        return own | self.read_in_functions(nodes)

    def read_in_functions(self, nodes: Iterable[n.Node]) -> set[Symbol]:
        """What the functions that the nodes may reach read of the names around them."""
        functions = self.effects.functions_in(nodes)
        return {symbol for function in functions for symbol in self.outer(function)}

    def outer(self, function: n.FunctionDef) -> frozenset[Symbol]:
        """The variables around a function that its body reads."""
        known = self._outer.get(function)
        if known is None:
            known = self._outer[function] = frozenset(self._outer_of(function))
        return known

    def _outer_of(self, function: n.FunctionDef) -> Iterator[Symbol]:
        scopes = self.facts.names.scopes
        if function not in scopes:
            return  # of another script, which does not see the names of this one
        for node in walk(function):
            if isinstance(node, n.Name):
                for symbol in _origins(self.facts.names.of(node)):
                    is_variable = symbol.kind in ("variable", "parameter")
                    if is_variable and not _is_within(symbol.scope, scopes[function]):
                        yield symbol

    def early_reads(self, statements: Iterable[n.Statement], certain: set[Symbol]) -> set[Symbol]:
        """What the statements may read that they have not certainly assigned before.

        `certain` has a value at the beginning, and grows by what has one at the end.
        """
        return {one for statement in statements for one in self._statement(statement, certain)}

    def _statement(self, node: n.Statement, certain: set[Symbol]) -> set[Symbol]:
        match node:
            case n.AssignStmt() | n.AugmentedAssignStmt() | n.DestructureStmt() | n.UnpackStmt():
                found = self.read(node.value) - certain
                certain.update(self.bound(node))
                return found
            case n.IfStmt():
                found = set[Symbol]()
                reached: list[set[Symbol]] = []
                for branch in node.branches:
                    found |= self.read(branch.condition) - certain
                for block in blocks_of(node):
                    inside = set(certain)
                    found |= self.early_reads(block, inside)
                    if not ends(block):
                        reached.append(inside)
                if reached:
                    certain |= set[Symbol].intersection(*reached)
                return found
            case n.ForStmt():
                found = self.read(node.iterable) - certain
                return found | self.early_reads(node.body, {*certain, *self.bound(node)})
            case n.WhileStmt():
                found = self.read(node.condition) - certain
                return found | self.early_reads(node.body, set(certain))
            case n.TryStmt():
                # The handler may run before anything in the body has been assigned.
                handled, inside = set(certain), set(certain)
                found = self.early_reads(node.body, inside)
                found |= self.early_reads(node.handler, handled)
                reached = [
                    after
                    for block, after in ((node.body, inside), (node.handler, handled))
                    if not ends(block)
                ]
                if reached:
                    certain |= set[Symbol].intersection(*reached)
                return found
            case n.FunctionDef():
                found = set(self.outer(node)) - certain
                certain.update(self.bound(node))
                return found
            case n.RetStmt() | n.AssertStmt() | n.FailStmt() | n.ExpressionStmt():
                return self.read(node) - certain
            case n.BreakStmt() | n.ContinueStmt() | n.TypeAlias():
                return set()
            case n.ImportStmt() | n.FromImport():
                certain.update(self.bound(node))
                return set()
            case _:  # of others, nothing is certain to be assigned
                return self.read(node) - certain


def continues_of(statements: Iterable[n.Statement]) -> Iterator[n.ContinueStmt]:
    """The `continue`s of a loop's own body."""
    for statement in statements:
        if isinstance(statement, n.ContinueStmt):
            yield statement
        elif not isinstance(statement, n.ForStmt | n.WhileStmt):
            for block in blocks_of(statement):
                yield from continues_of(block)


def _origins(symbol: Symbol) -> Iterator[Symbol]:
    origin: Symbol | None = symbol
    while origin is not None:
        yield origin
        origin = origin.starts_from


def _is_within(scope: Scope | None, outer: Scope) -> bool:
    return scope is not None and any(one is outer for one in scope.around())
