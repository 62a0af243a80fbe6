"""The names of a script that are assigned at one place alone."""

from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


def constants_of(facts: Facts) -> dict[Symbol, n.Expression]:
    """What is assigned to each name that is assigned at one place alone."""
    names = facts.names
    values: dict[Symbol, list[n.Expression | None]] = {}
    assigned = {node.name: node.value for node in nodes_of(facts.module, n.AssignStmt)}
    for node, symbol in names.symbols.items():
        if isinstance(node, n.Identifier) and symbol.starts_from is None:
            values.setdefault(symbol, []).append(assigned.get(node))
    return {
        symbol: value
        for symbol, (value, *others) in values.items()
        if value is not None and not others
    }
