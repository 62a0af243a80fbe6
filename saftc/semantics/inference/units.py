"""Types, inferred forward through the whole module, across calls.

In: a module and its names. Out: facts. The module and each function are units; a unit's types rest
on what other units return and assign, so a unit is inferred again when something it has read has
grown, until nothing grows any more (types only grow, and are bounded, so this ends). Its mistakes
are those that are found the last time.

    sum_ = 0                    // int
    for row in rows:            // rows: any, so row: any
        sum_ = sum_ + row.price // any
    ret sum_                    // any: in a loop, a variable is all that the loop assigns

Inside a loop a variable has the join of its type before the loop and of all that the loop's body
assigns to it, so `break` and `continue` need no thought.
"""

from collections.abc import Iterable
from itertools import chain

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.semantics.facts import Facts
from saftc.semantics.inference.context import Inference, Unit
from saftc.semantics.inference.environment import Environment
from saftc.semantics.inference.expressions import type_of
from saftc.semantics.inference.statements import block
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    NIL,
    Type,
    show,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# Of so many rounds for each unit, the types do not settle.
_MOST_ROUNDS = 6


def infer_types(module: n.Module, facts: Facts) -> Iterable[Diagnostic]:
    """Infers the types of all expressions, and the forms of constructs; gives the mistakes."""
    units: list[Unit] = [node for node in nodes_of(module) if isinstance(node, n.FunctionDef)]
    units += [node for node in nodes_of(module) if isinstance(node, n.RecordDef) and node.rules]
    units.append(module)
    inference = Inference(facts, type_of, module)
    inference.outdated.update(dict.fromkeys(units))
    budget = _MOST_ROUNDS * len(units) + 100
    while inference.outdated and budget:
        _infer(inference, inference.next_outdated())
        budget -= 1
    for unit in units:
        if unit in inference.read_own or unit in inference.outdated:
            _infer(inference, unit)
    return chain.from_iterable(inference.mistakes[unit] for unit in units)


def _infer(inference: Inference, unit: Unit) -> None:
    inference.unit = unit
    inference.mistakes[unit] = []
    inference.logs.clear()
    env = Environment()
    if isinstance(unit, n.Module):
        block(inference, unit.statements, env)
        return
    if isinstance(unit, n.RecordDef):
        _rules(inference, unit, env)
        return
    function = inference.facts.functions[unit]
    for parameter, type_ in zip(unit.parameters, function.parameters, strict=True):
        symbol = inference.facts.names.of(parameter.name)
        env.assign(symbol, type_)
        inference.grow(symbol, type_)
    for symbol in inference.facts.names.scopes[unit].symbols.values():
        if symbol.starts_from is not None:
            env.assign(symbol, _outer_type(inference, symbol.starts_from))
    block(inference, unit.body, env)
    if not env.has_ended:
        inference.returned(NIL)
        declared = function.declared
        if declared is not None and fit(NIL, declared) != Fit.EXACT:
            function.can_lack_value = True
            inference.report(
                catalogue.MISSING_RETURN.at(
                    unit.name.span,
                    name=unit.name.text,
                    expected=show(declared),
                    hint="on that path it stops with an error",
                )
            )


def _rules(inference: Inference, record: n.RecordDef, env: Environment) -> None:
    """Each rule stands by itself: what one shows of a field, Python's checkers do not remember."""
    known = inference.facts.record_facts.get(record)
    for field in record.fields:
        type_ = ANY if known is None else known.fields[field.name.text]
        env.assign(inference.facts.names.of(field.name), type_)
    for rule in record.rules:
        block(inference, [rule], Environment(env))


def _outer_type(inference: Inference, outer: Symbol) -> Type:
    return inference.lasting(outer) if outer.kind in ("variable", "parameter") else ANY
