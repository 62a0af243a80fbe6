"""Parameters that get a value of another type, which then has a variable of its own.

    f parse(amount) -> int:                 def parse(amount: str) -> int:
        amount = int(strip(amount))             amount_ = int(amount.strip())
        ret amount * 2                          return amount_ * 2

Python's checkers hold a parameter to the annotation that its use has given it (one of the script
holds for all that it is bound to). A person would give the value another name, and so it has one.
Where a place that reads the name may see either of the two, the variable begins as the argument:

    f shown(amount, is_int: bool):          def shown(amount: str, is_int: bool) -> None:
        print(strip(amount))                    print(amount.strip())
        if is_int:                              amount_: str | int = amount
            amount = int(amount)                if is_int:
        print(amount)                               amount_ = int(amount)
                                                print(amount_)
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from saftc.flow.statements import all_statements, assigned_by
from saftc.schedule.loop_values import bound_types
from saftc.schedule.plan import Plan
from saftc.semantics.bindings import apart_from_parameters
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import ANY, Type, is_known, union
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk


@dataclass(frozen=True, slots=True)
class Copy:
    """A variable of a `type` that begins as an argument."""

    variable: Symbol
    parameter: Symbol
    type: Type


@dataclass(slots=True)
class SetApart:
    """The variable of each name that is bound to a value which its parameter cannot hold, and of
    each read of that; and by the statements above which they begin, those that begin as arguments.
    """

    variables: dict[n.Node, Symbol] = field(default_factory=dict[n.Node, Symbol])
    copies: dict[n.Statement, list[Copy]] = field(default_factory=dict[n.Statement, list[Copy]])


def set_apart(facts: Facts, plan: Plan, growth: Container[n.Statement]) -> SetApart:
    """The variables of a module beside its parameters."""
    captured = {symbol for found in facts.names.captures.values() for symbol in found}
    found = SetApart()
    for function in nodes_of(facts.module, n.FunctionDef):
        if any(node in plan.loops for node in walk(function)):
            continue  # what runs ahead has variables of its own
        taken = zip(function.parameters, facts.functions[function].parameters, strict=True)
        types = {facts.names.of(one.name): type_ for one, type_ in taken}
        types = {s: t for s, t in types.items() if t != ANY and s not in captured}
        others = _bound_to_others(facts, function, types, growth)
        if others:
            apart = apart_from_parameters(facts.names, function, others)
            found.variables |= apart.variables
            for variable, first in apart.beginning.items():
                symbol = facts.names.of(first)
                bound = [types[symbol], *_types_bound(facts, function, symbol)]
                type_ = union(bound)
                copy = Copy(variable, symbol, type_ if is_known(type_) else ANY)
                found.copies.setdefault(_statement_with(function, first), []).append(copy)
    return found


def _types_bound(facts: Facts, function: n.FunctionDef, symbol: Symbol) -> Iterator[Type]:
    for statement in all_statements(function.body):
        for name in assigned_by(statement):
            if facts.names.of(name) is symbol:
                yield from bound_types(facts, statement, name)


def _statement_with(function: n.FunctionDef, name: n.Identifier) -> n.Statement:
    """The statement of a function's own block that a name is in."""
    return next(one for one in function.body if name.span.end <= one.span.end)


def _bound_to_others(
    facts: Facts,
    function: n.FunctionDef,
    types: Mapping[Symbol, Type],
    growth: Container[n.Statement],
) -> dict[Symbol, set[n.Identifier]]:
    """Where parameters are bound to what they cannot hold; none of those that grow in place."""
    found: dict[Symbol, set[n.Identifier]] = {}
    grown = set[Symbol]()
    for statement in all_statements(function.body):
        for name in assigned_by(statement):
            symbol = facts.names.of(name)
            if symbol not in types:
                continue
            type_ = union(bound_types(facts, statement, name))
            if fit(type_, types[symbol]) != Fit.EXACT:
                found.setdefault(symbol, set()).add(name)
            if statement in growth or facts.keeps_history(name):
                grown.add(symbol)
    return {symbol: names for symbol, names in found.items() if symbol not in grown}
