"""Reaching definitions: the assignments that a read of a rebound name can see.

    answer = $ ... $                  // one binding
    print(answer.toolCalls)           // sees the first binding, with its history
    answer = strip(answer)            // another binding: plain text from here on

A binding is an assignment of a name. Most names have only one. If a name has several bindings, and
no read can see more than one of them, each binding gets its own symbol. Then one binding can hold a
prompt's result with its history while another holds a plain value. A name that inner functions
read, or that starts with an outer value, has one symbol for all bindings.
"""

from collections.abc import Sequence
from functools import reduce

from saftc.check.forward import ForwardAnalysis
from saftc.check.names import Code, Names, Symbol, body_of
from saftc.check.statements import assigned_by
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# The analysis state: for each name, the assignments that its current value may come from.
_State = dict[Symbol, frozenset[n.Identifier]]

_BINDING = (n.AssignStmt, n.AugmentedAssignStmt, n.UnpackStmt, n.DestructureStmt, n.ForStmt)


def separate_bindings(module: n.Module, names: Names) -> dict[n.Node, Symbol]:
    """Gives the bindings of a name separate symbols where no read can see two of them.

    Returns the symbol for each read and each assignment of a name with separate bindings.
    """
    several = _names_bound_again(module, names)
    if not several:
        return {}
    finder = _ReachingAssignments(names, set(several))
    for owner in names.scopes:
        if isinstance(owner, n.Module):
            finder.block(owner.statements, {})
        elif isinstance(owner, Code):
            finder.block(body_of(owner), {})
    return finder.found(several)


def variable_annotations(module: n.Module, names: Names) -> dict[n.Identifier, n.Schema]:
    """Maps unannotated assignments to the annotations that they inherit.

    An assignment inherits the last annotation of the same variable above it.
    """
    latest: dict[Symbol, n.Schema] = {}
    held: dict[n.Identifier, n.Schema] = {}
    nodes = nodes_of(module, n.FunctionDef, *_BINDING)
    for node in sorted(nodes, key=lambda one: one.span.start):
        annotated = _annotated_by(node)
        latest.update((names.of(name), schema) for name, schema in annotated.items())
        for identifier in assigned_by(node):
            schema = latest.get(names.of(identifier))
            if schema is not None and identifier not in annotated:
                held[identifier] = schema
    return held


def sole_assignments(module: n.Module, names: Names) -> dict[Symbol, n.AssignStmt]:
    """Maps each variable that is assigned exactly once to that assignment.

    Variables that get an initial value from an outer scope are excluded.
    """
    assigned = {node.name: node for node in nodes_of(module, n.AssignStmt)}
    bindings: dict[Symbol, list[n.AssignStmt | None]] = {}
    for node, symbol in names.symbols.items():
        if isinstance(node, n.Identifier) and symbol.starts_from is None:
            bindings.setdefault(symbol, []).append(assigned.get(node))
    return {
        symbol: only
        for symbol, (only, *others) in bindings.items()
        if only is not None and not others
    }


def _annotated_by(node: n.Statement) -> dict[n.Identifier, n.Schema]:
    """The annotation of each target, field or parameter that a statement annotates."""
    match node:
        case n.AssignStmt(name=name, schema=schema):
            return {} if schema is None else {name: schema}
        case n.DestructureStmt(fields=fields):
            return {field.name: field.schema for field in fields}
        case n.FunctionDef(parameters=parameters):
            return {one.name: one.schema for one in parameters if one.schema is not None}
        case _:
            return {}


def _names_bound_again(
    module: n.Module, names: Names
) -> dict[Symbol, dict[n.Identifier, n.Statement]]:
    """Maps each variable whose bindings may be separated to its assignments.

    Such a variable has several assignments, and at least one assigns a prompt or a call. No inner
    function reads the variable, and it has no initial value from an outer scope.
    """
    bound: dict[Symbol, dict[n.Identifier, n.Statement]] = {}
    for node in nodes_of(module, *_BINDING):
        for identifier in assigned_by(node):
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
    captured = {symbol for symbols in names.captures.values() for symbol in symbols}
    return {symbol: statements for symbol, statements in several.items() if symbol not in captured}


class _ReachingAssignments(ForwardAnalysis[_State]):
    """Records the assignments that each read can see."""

    def __init__(self, names: Names, several: set[Symbol]) -> None:
        super().__init__()
        self.names = names
        self.several = several
        # Union-find: the assignments that one read can see form a group. Each assignment points to
        # another one of its group, up to the representative.
        self.together: dict[n.Identifier, n.Identifier] = {}
        self.reads: dict[n.Name, n.Identifier] = {}

    def evaluate(self, node: n.Expression, statement: n.Statement, state: _State) -> _State:
        for symbol, read in self.names.read(node):
            seen = sorted(state.get(symbol, ()), key=lambda one: one.span.start)
            if seen:
                self.reads[read] = seen[0]
            for other in seen[1:]:
                self._join(seen[0], other)
        return state

    def bind(self, statement: n.Statement, state: _State) -> _State:
        bound = {self.names.of(one): frozenset((one,)) for one in assigned_by(statement)}
        return state | {symbol: one for symbol, one in bound.items() if symbol in self.several}

    def join(self, states: Sequence[_State]) -> _State:
        return reduce(_joined, states)

    def unreached(self, statement: n.Statement, last: _State) -> _State:
        return last

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
        """The representative of the group of assignments that `identifier` belongs to."""
        while identifier in self.together:
            identifier = self.together[identifier]
        return identifier

    def _join(self, one: n.Identifier, other: n.Identifier) -> None:
        first, second = sorted(
            (self.first(one), self.first(other)), key=lambda identifier: identifier.span.start
        )
        if first is not second:
            self.together[second] = first


def _joined(one: _State, other: _State) -> _State:
    return one | {symbol: seen | one.get(symbol, frozenset()) for symbol, seen in other.items()}
