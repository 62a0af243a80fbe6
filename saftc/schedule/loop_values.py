"""What a variable holds where the part of a loop that asks has ended."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from saftc.flow.statements import bound_by
from saftc.semantics.facts import Facts
from saftc.semantics.forms import parts_of
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, NEVER, ListType, Type, item_type, members, union
from saftc.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Given:
    """A variable with its type; `is_result`: it holds the whole result of a prompt."""

    symbol: Symbol
    type: Type
    is_result: bool


def given_of(facts: Facts, symbol: Symbol, statements: Iterable[n.Statement]) -> Given | None:
    """What the statements leave in a variable; None when it may be a result and may be none.

    `statements` are those of a loop, with those inside them.
    """
    bound = [
        (one, name)
        for one in statements
        for name in bound_by(one)
        if facts.names.of(name) is symbol
    ]
    kept = {facts.keeps_history(name) for _, name in bound}
    if len(kept) != 1:
        return None
    types = {type_ for one, name in bound for type_ in bound_types(facts, one, name)}
    # An empty list is filled elsewhere: then the variable as a whole tells what of.
    is_told = not any(type_ == ANY or _is_empty(type_) for type_ in types)
    whole = facts.symbols.get(symbol, ANY)
    return Given(symbol, union(types) if is_told else whole, kept.pop())


def _is_empty(type_: Type) -> bool:
    return any(isinstance(one, ListType) and one.item == NEVER for one in members(type_))


def bound_types(facts: Facts, statement: n.Statement, name: n.Identifier) -> Iterator[Type]:
    """What a statement may bind a name to."""
    match statement:
        case n.AssignStmt(schema=None) | n.AugmentedAssignStmt():
            yield facts.type_of(statement.value)
        case n.AssignStmt(schema=schema) if schema is not None:
            yield facts.schemas[schema]
        case n.DestructureStmt():
            yield from (facts.schemas[one.schema] for one in statement.fields if one.name is name)
        case n.UnpackStmt():
            yield from _in_pattern(statement.pattern, facts.type_of(statement.value), name)
        case n.ForStmt():
            items = item_type(facts.type_of(statement.iterable))
            yield from _in_pattern(statement.pattern, items, name)
        case _:
            yield ANY


def _in_pattern(pattern: n.Pattern, type_: Type, name: n.Identifier) -> Iterator[Type]:
    for part, own in parts_of(pattern, type_):
        if isinstance(part, n.NamePattern) and part.name is name:
            yield own
