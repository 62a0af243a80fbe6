"""Names that are bound again: which of its assignments a read of a name can see.

    answer = $ ... $                  // one binding
    print(answer.toolCalls)           // sees that one, with its history
    answer = strip(answer)            // another binding: plain text from here on

Most names have one binding. Of a name with several that never meet in one read, each is told apart
by a symbol of its own, which is the key of what is known of its history. Names that inner functions
read, or that begin with an outer value, have one.
"""

from collections.abc import Iterable
from typing import assert_never

from saftc.semantics.flow import all_statements, blocks_of, bound_by, ends
from saftc.semantics.names import Code, Names, Scope, Symbol, body_of
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, nodes_of

# The assignments that a name may have its value from, at some point.
_State = dict[Symbol, frozenset[n.Identifier]]

_BINDING = (n.AssignStmt, n.AugmentedAssignStmt, n.UnpackStmt, n.DestructureStmt, n.ForStmt)


def separate_bindings(module: n.Module, names: Names) -> dict[n.Node, Symbol]:
    """A symbol for each read and assignment of a name whose bindings can be told apart."""
    several = _names_bound_again(module, names)
    if not several:
        return {}
    finder = _Finder(names, set(several))
    for owner in names.scopes:
        if isinstance(owner, n.Module):
            finder.block(owner.statements, {})
        elif isinstance(owner, Code):
            finder.block(body_of(owner), {})
    return finder.found(several)


def held_annotations(module: n.Module, names: Names) -> dict[n.Identifier, n.Schema]:
    """The annotation that holds where a name is assigned without one: the last one above it."""
    latest: dict[Symbol, n.Schema] = {}
    held: dict[n.Identifier, n.Schema] = {}
    for node in sorted(nodes_of(module, *_BINDING), key=lambda one: one.span.start):
        if isinstance(node, n.AssignStmt) and node.schema is not None:
            latest[names.of(node.name)] = node.schema
            continue
        if isinstance(node, n.DestructureStmt):
            # A field says its type anew, for this assignment.
            for identifier in bound_by(node):
                latest.pop(names.of(identifier), None)
            continue
        for identifier in bound_by(node):
            schema = latest.get(names.of(identifier))
            if schema is not None:
                held[identifier] = schema
    return held


def _names_bound_again(
    module: n.Module, names: Names
) -> dict[Symbol, dict[n.Identifier, n.Statement]]:
    """The variables with several assignments, one of them to a prompt or a call, none captured."""
    bound: dict[Symbol, dict[n.Identifier, n.Statement]] = {}
    for node in nodes_of(module, *_BINDING):
        for identifier in bound_by(node):
            bound.setdefault(names.of(identifier), {})[identifier] = node
    several = {
        symbol: statements
        for symbol, statements in bound.items()
        if len(statements) > 1
        and symbol.kind == "variable"
        and symbol.starts_from is None
        and any(
            isinstance(one, n.AssignStmt | n.DestructureStmt)
            and isinstance(one.value, n.Prompt | n.Call)
            for one in statements.values()
        )
    }
    for scope in names.scopes.values() if several else ():
        if isinstance(scope.owner, Code):
            for symbol in _captured(scope.owner, scope, names):
                several.pop(symbol, None)
    return several


def _captured(code: Code, scope: Scope, names: Names) -> Iterable[Symbol]:
    """What a function reads of the calls around it."""
    pending: list[n.Node] = [*body_of(code)]
    while pending:
        node = pending.pop()
        pending += children(node)
        if isinstance(node, n.Name):
            symbol = names.of(node)
            if symbol.scope is not None and symbol.scope.call is not scope:
                yield symbol


class _Finder:
    def __init__(self, names: Names, several: set[Symbol]) -> None:
        self.names = names
        self.several = several
        # Assignments that one read sees belong together; each leads to another of the same group.
        self.together: dict[n.Identifier, n.Identifier] = {}
        self.reads: dict[n.Name, n.Identifier] = {}

    def found(self, several: dict[Symbol, dict[n.Identifier, n.Statement]]) -> dict[n.Node, Symbol]:
        symbols: dict[n.Node, Symbol] = {}
        result: dict[n.Node, Symbol] = {}
        for symbol, statements in several.items():
            firsts = {self.first(identifier) for identifier in statements}
            if len(firsts) == 1:
                continue
            for first in firsts:
                symbols[first] = Symbol(symbol.name, "variable", symbol.scope, statements[first])
            result |= {identifier: symbols[self.first(identifier)] for identifier in statements}
        for read, identifier in self.reads.items():
            if self.first(identifier) in symbols:
                result[read] = symbols[self.first(identifier)]
        return result

    def first(self, identifier: n.Identifier) -> n.Identifier:
        """The assignment that stands for the group of this one."""
        while identifier in self.together:
            identifier = self.together[identifier]
        return identifier

    def block(self, statements: Iterable[n.Statement], state: _State) -> _State:
        """The state below a block."""
        for statement in statements:
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: n.Statement, state: _State) -> _State:
        match statement:
            case n.IfStmt():
                ways: list[_State] = []
                for branch in statement.branches:
                    self._read(branch.condition, state)
                    ways.append(self.block(branch.body, state))
                ways.append(self.block(statement.other, state))
                return _joined(_reached(statement, ways))
            case n.TryStmt():
                # Where the block fails, anything in it may have been assigned, or nothing.
                failed = _joined([state, self._assigned_in(statement.body)])
                ways = [self.block(statement.body, state), self.block(statement.handler, failed)]
                return _joined(_reached(statement, ways))
            case n.ForStmt() | n.WhileStmt():
                if isinstance(statement, n.ForStmt):
                    self._read(statement.iterable, state)
                # At its head a loop may have assigned all that it assigns; below it as well.
                head = _joined([state, self._assigned_in((statement,))])
                if isinstance(statement, n.WhileStmt):
                    self._read(statement.condition, head)
                self.block(statement.body, self._bind(statement, head))
                return head
            case n.FunctionDef():
                for parameter in statement.parameters:
                    if parameter.default is not None:
                        self._read(parameter.default, state)
                return state
            case n.RecordDef():
                for field in statement.fields:
                    if field.default is not None:
                        self._read(field.default, state)
                return state
            case (
                n.AssignStmt()
                | n.AugmentedAssignStmt()
                | n.UnpackStmt()
                | n.DestructureStmt()
                | n.ExpressionStmt()
                | n.RetStmt()
                | n.AssertStmt()
                | n.FailStmt()
                | n.TypeAlias()
                | n.ImportStmt()
                | n.FromImport()
                | n.BreakStmt()
                | n.ContinueStmt()
            ):
                self._read(statement, state)
                return self._bind(statement, state)
            case _:
                assert_never(statement)

    def _bind(self, statement: n.Statement, state: _State) -> _State:
        bound = {self.names.of(one): frozenset((one,)) for one in bound_by(statement)}
        return state | {symbol: one for symbol, one in bound.items() if symbol in self.several}

    def _assigned_in(self, statements: Iterable[n.Statement]) -> _State:
        found: dict[Symbol, set[n.Identifier]] = {}
        for statement in all_statements(statements):
            for identifier in bound_by(statement):
                found.setdefault(self.names.of(identifier), set()).add(identifier)
        return {s: frozenset(ones) for s, ones in found.items() if s in self.several}

    def _read(self, node: n.Node, state: _State) -> None:
        """Notes what each name in `node` sees."""
        if isinstance(node, n.Name):
            seen = sorted(state.get(self.names.of(node), ()), key=lambda one: one.span.start)
            if seen:
                self.reads[node] = seen[0]
            for other in seen[1:]:
                self._join(seen[0], other)
        for child in children(node):
            self._read(child, state)

    def _join(self, one: n.Identifier, other: n.Identifier) -> None:
        first, second = sorted(
            (self.first(one), self.first(other)), key=lambda identifier: identifier.span.start
        )
        if first is not second:
            self.together[second] = first


def _reached(statement: n.Statement, ways: list[_State]) -> list[_State]:
    """The states at the ends of a statement's blocks from which the flow goes on below it."""
    blocks = zip(ways, blocks_of(statement), strict=True)
    return [way for way, block in blocks if not ends(block)] or ways


def _joined(states: Iterable[_State]) -> _State:
    result: _State = {}
    for state in states:
        for symbol, seen in state.items():
            result[symbol] = result.get(symbol, frozenset()) | seen
    return result
