"""Reaching definitions of a script's variables.

definitions = Definitions(facts)
definitions.at(symbol, statement)       the definition that reaches it, if there is just one
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from saftc.check.facts import Facts
from saftc.check.names import Code, Symbol, body_of
from saftc.check.statements import assigned_by, blocks_of
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# The node that binds a variable. For bindings like the one of `except`, it is the identifier.
Definition = n.Statement | n.ComprehensionClause | n.Parameter | n.Identifier
Assignment = n.AssignStmt | n.AugmentedAssignStmt


class _Place(NamedTuple):
    """The position of a statement: the statement around it, its block, and the index there."""

    above: n.Statement | None
    block: Sequence[n.Statement]
    position: int

    @property
    def before(self) -> Sequence[n.Statement]:
        """The statements above this position in the block."""
        return self.block[: self.position]


class Definitions:
    """The definitions of a script's variables, and which of them reach a statement."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._places: dict[n.Statement, _Place] = {}
        self._touched: dict[Symbol, dict[int, list[int]]] = {}
        self._add(facts.module.statements, None)
        for owner in facts.names.scopes:
            if isinstance(owner, Code):
                self._add(body_of(owner), None)

    def _add(self, block: Sequence[n.Statement], above: n.Statement | None) -> None:
        for position, statement in enumerate(block):
            self._places[statement] = _Place(above, block, position)
            for inner in blocks_of(statement):
                self._add(inner, statement)

    @cached_property
    def _all(self) -> dict[Symbol, list[Definition]]:
        owners: dict[n.Identifier, Definition] = {}
        for one in nodes_of(self.facts.module, n.Parameter):
            owners[one.name] = one
        clauses = nodes_of(self.facts.module, n.ComprehensionClause)
        for node in (*self._places, *clauses):
            owners.update((name, node) for name in assigned_by(node))
        found: dict[Symbol, list[Definition]] = {}
        for node, symbol in self.facts.names.symbols.items():
            if isinstance(node, n.Identifier):
                found.setdefault(symbol, []).append(owners.get(node, node))
        return found

    def of(self, symbol: Symbol) -> list[Definition]:
        """All definitions of a variable."""
        return self._all.get(symbol, [])

    def only(self, symbol: Symbol) -> Definition | None:
        """The only definition of a variable.

        Returns None if the variable has several definitions, or starts with the value of an outer
        variable.
        """
        found = self.of(symbol)
        return found[0] if len(found) == 1 and symbol.starts_from is None else None

    def at(self, symbol: Symbol, statement: n.Statement | None) -> Definition | None:
        """The definition of a variable that reaches a statement.

        Returns None if one of several definitions may reach the statement. A definition in an outer
        block reaches the statement if no statement in between, and no iteration of a loop, may
        assign the variable again.
        """
        only = self.only(symbol)
        if only is not None or statement is None:
            return only
        touching = self._touching(symbol)
        place = self._places[statement]
        for place in self.around(statement):
            known, around = touching.get(id(place.block), []), place.block[place.position]
            before = bisect_left(known, place.position)
            is_touched = known[before : before + 1] == [place.position] and around is not statement
            if is_touched and not isinstance(around, n.IfStmt):
                return None
            if before:
                last = place.block[known[before - 1]]
                return last if isinstance(last, Assignment) else None
        owner = None if symbol.scope is None else symbol.scope.owner
        is_own = isinstance(owner, n.FunctionDef) and place.block is owner.body
        parameters = (one for one in self.of(symbol) if isinstance(one, n.Parameter))
        return next(parameters, None) if is_own else None

    def around(self, statement: n.Statement) -> Iterator[_Place]:
        """The positions of a statement and of the statements around it, innermost first."""
        above: n.Statement | None = statement
        while above is not None:
            place = self._places[above]
            yield place
            above = place.above

    def _touching(self, symbol: Symbol) -> dict[int, list[int]]:
        """Maps the id of each block to the positions of its statements that assign the variable.

        A statement counts if it assigns the variable itself, or if a statement in its blocks does.
        """
        if symbol not in self._touched:
            found: dict[int, set[int]] = {}
            for one in self.of(symbol):
                for place in self.around(one) if isinstance(one, n.Statement) else ():
                    found.setdefault(id(place.block), set()).add(place.position)
            self._touched[symbol] = {block: sorted(known) for block, known in found.items()}
        return self._touched[symbol]
