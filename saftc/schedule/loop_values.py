"""What a variable holds where the part of a loop that asks has ended.

    title = $ ... $                     holds a value of its own for each item
    found += [title]                    only grows: each item adds to it, and nothing reads it
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from saftc.flow.statements import all_statements, bound_by
from saftc.schedule.flow import Flow
from saftc.semantics.facts import Facts
from saftc.semantics.forms import Form, parts_of
from saftc.semantics.names import Symbol
from saftc.semantics.types import (
    ANY,
    INT,
    NEVER,
    STRING,
    ListType,
    MapType,
    Type,
    members,
    union,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


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
            yield from _in_pattern(statement.pattern, facts.item_of(statement), name)
        case _:
            yield ANY


def _in_pattern(pattern: n.Pattern, type_: Type, name: n.Identifier) -> Iterator[Type]:
    for part, own in parts_of(pattern, type_):
        if isinstance(part, n.NamePattern) and part.name is name:
            yield own


def growing(flow: Flow, loop: n.ForStmt) -> list[Symbol]:
    """The variables to which the loop only adds, and which nothing in it reads."""
    names = flow.facts.names
    adding: dict[Symbol, int] = {}
    for statement in all_statements(loop.body):
        symbol = added_to(flow, statement)
        if symbol is not None:
            adding[symbol] = adding.get(symbol, 0) + 1
    in_functions = flow.read_in_functions(loop.body)
    reads = [
        names.of(node)
        for statement in loop.body
        for node in walk(statement)
        if isinstance(node, n.Name)
    ]
    binds = [s for one in (loop, *all_statements(loop.body)) for s in flow.bound(one)]
    return [
        symbol
        for symbol, count in adding.items()
        if reads.count(symbol) == binds.count(symbol) == count
        and symbol not in in_functions
        and symbol.starts_from is None
    ]


def added_to(flow: Flow, statement: n.Statement) -> Symbol | None:
    """What a statement adds to: a list, an object with any keys, a text or a whole number.

        xs = xs + others        xs += others        xs = [...xs, other]
        counts = {...counts, [key]: other}          text += other           total += 1

    Of these, adding one after the other gives the same as adding all at once.
    """
    facts = flow.facts
    match statement:
        case n.AssignStmt(
            schema=None, value=n.Binary(operator="+", left=n.Name() as own, right=added) as value
        ) | n.AugmentedAssignStmt(
            value=n.Binary(operator="+", left=n.Name() as own, right=added) as value
        ):
            parts: tuple[n.Node, ...] = (added,)
            are_lists = {type(facts.type_of(one)) for one in (own, added)} == {ListType}
            is_growth = are_lists or _is_sum(facts, value, own)
        case n.AssignStmt(
            schema=None, value=n.ListLiteral(items=(n.Spread(value=n.Name() as own), *items))
        ):
            parts, is_growth = tuple(items), isinstance(facts.type_of(own), ListType)
        case n.AssignStmt(
            schema=None, value=n.ObjectLiteral(fields=(n.Spread(value=n.Name() as own), *entries))
        ):
            parts = tuple(entries)
            types = (facts.type_of(own), facts.type_of(statement.value))
            is_growth = all(isinstance(one, MapType) for one in types)
        case _:
            return None
    symbol = facts.names.of(statement.name)
    is_same = facts.names.of(own) is symbol
    only_adds = symbol not in flow.read(*parts)
    return symbol if is_same and is_growth and only_adds else None


def _is_sum(facts: Facts, value: n.Binary, own: n.Name) -> bool:
    """Whether whole numbers or texts are added; sums of floats depend on their order."""
    type_ = facts.type_of(own)
    is_native = facts.forms.operators[value] == Form.NATIVE
    return is_native and type_ in (INT, STRING) and facts.symbols.get(facts.names.of(own)) == type_
