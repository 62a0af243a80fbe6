"""Types, inferred forward through the whole module, across calls.

In: a module and its names. Out: facts. The module and each function are units; a unit's types rest
on what other units return and assign, so a unit is inferred again when something it has read has
grown, until nothing grows any more (types only grow, and are bounded, and what grows for too long
is any value, so this ends). Its mistakes are those that are found the last time.

    sum_ = 0                    // int
    for row in rows:            // rows: any, so row: any
        sum_ = sum_ + row.price // any
    ret sum_                    // any: in a loop, a variable is all that the loop assigns

A bare parameter of a function that is only called has the join of what its calls pass, which grows
in the same way; the function waits for its first call. When that brings trouble (see
`doubtful_of`), everything is inferred anew without that function.

Inside of a function the types go along the flow: where ways meet, a variable is what it is on any.
"""

from collections.abc import Mapping, Sequence, Set

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.semantics.facts import Facts, FunctionFacts
from saftc.semantics.inference.context import Inference, Unit
from saftc.semantics.inference.environment import Environment
from saftc.semantics.inference.expressions import type_of
from saftc.semantics.inference.statements import along
from saftc.semantics.names import Symbol
from saftc.semantics.parameters import is_mixed, only_called, settled
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    NEVER,
    NIL,
    Type,
    show,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk

# What still grows after this many rounds for each unit is any value.
_MOST_ROUNDS = 6
# So often what calls tell of functions is revised; then it is told of none.
_MOST_REVISIONS = 12


def units_of(module: n.Module) -> list[Unit]:
    """The units of a module, in the order in which they are inferred."""
    records = [node for node in nodes_of(module, n.RecordDef) if node.rules]
    return [*nodes_of(module, n.FunctionDef), *records, module]


def infer_types(module: n.Module, facts: Facts) -> list[Diagnostic]:
    """Infers the types of all expressions, and the forms of constructs; gives the mistakes."""
    units = units_of(module)
    asked = {one: facts.functions[one].parameters for one in nodes_of(module, n.FunctionDef)}
    only = only_called(module, facts, lambda parameter: parameter.schema is None)
    inference = _infer_all(units, facts, asked, only)
    for revision in range(_MOST_REVISIONS):
        doubtful = doubtful_of(inference, only)
        if not doubtful:
            break
        only -= only if revision == _MOST_REVISIONS - 1 else doubtful
        inference = _infer_all(units, facts, asked, only)
    return [one for unit in units for one in inference.mistakes[unit]]


def _infer_all(
    units: Sequence[Unit],
    facts: Facts,
    asked: Mapping[n.FunctionDef, tuple[Type, ...]],
    only: Set[n.FunctionDef],
) -> Inference:
    """Infers everything anew; the functions `only` take what their calls pass."""
    facts.forget()
    for function, types in asked.items():
        facts.functions[function] = declared(facts.functions[function], types, only)
    inference = Inference(facts, type_of, facts.module, facts.uses_python)
    infer_units(inference, units)
    return inference


def declared(
    known: FunctionFacts, asked: tuple[Type, ...], only: Set[n.FunctionDef]
) -> FunctionFacts:
    """What is known of a function before it is inferred."""
    found = FunctionFacts(known.node, asked, known.declared)
    if known.node in only:
        bare = [i for i, one in enumerate(known.node.parameters) if one.schema is None]
        found.from_calls = {i: [] for i in bare if asked[i] == ANY}
        found.parameters = tuple(
            NEVER if i in found.from_calls else type_ for i, type_ in enumerate(asked)
        )
    return found


def infer_units(inference: Inference, units: Sequence[Unit]) -> None:
    """Infers units until nothing that they say of each other grows."""
    functions = inference.facts.functions
    waiting = {
        one: _called_in(one, inference.facts)
        for one in units
        if isinstance(one, n.FunctionDef) and functions[one].from_calls
    }
    inference.outdated.update(dict.fromkeys(one for one in units if one not in waiting))
    rounds, most = 0, _MOST_ROUNDS * len(units) + 100
    while inference.outdated or _go_on(inference, waiting) or inference.look_again():
        while inference.outdated:
            inference.widens = rounds >= most
            _infer(inference, inference.next_outdated())
            rounds += 1


def _called_in(function: n.FunctionDef, facts: Facts) -> set[n.Node | None]:
    """What the names mean that are called inside of a function."""
    return {
        facts.names.of(inner.function).node
        for inner in walk(function)
        if isinstance(inner, n.Call) and isinstance(inner.function, n.Name)
    }


def _go_on(inference: Inference, waiting: Mapping[n.FunctionDef, Set[n.Node | None]]) -> bool:
    """Takes what the calls have said, once nothing grows any more; whether there is more to infer.

    A function that is never called takes any value, and so may those that it calls, which
    `waiting` names.
    """
    functions = inference.facts.functions
    unreached = [one for one in waiting if one not in inference.reached]
    if unreached:
        called = {node for one in unreached for node in waiting[one]}
        first = next((one for one in unreached if one not in called), unreached[0])
        inference.reach(first)
        functions[first].from_calls.clear()
        functions[first].parameters = tuple(
            ANY if type_ == NEVER else type_ for type_ in functions[first].parameters
        )
        return True
    settle = _settled_for_good if inference.widens else settled
    for one in waiting:
        function = functions[one]
        settled_types = tuple(
            settle(type_) if position in function.from_calls else type_
            for position, type_ in enumerate(function.parameters)
        )
        if settled_types != function.parameters:
            function.parameters = settled_types
            inference.outdate(one)
            inference.outdated[one] = None
    return bool(inference.outdated)


def _settled_for_good(type_: Type) -> Type:
    return type_ if settled(type_) == type_ else ANY


def doubtful_of(inference: Inference, only: Set[n.FunctionDef]) -> set[n.FunctionDef]:
    """The functions that the calls say too little about: they stay as they would be without.

    Those in which there is something to report now, which may be meant for other values as well;
    those that give what they are given, whose calls would be joined; and those that assign
    something else to a parameter.
    """
    return {one for one in only if _is_doubtful(inference, one)}


def _is_doubtful(inference: Inference, definition: n.FunctionDef) -> bool:
    facts = inference.facts
    function = facts.functions[definition]
    known = {
        facts.names.of(definition.parameters[position].name): function.parameters[position]
        for position in function.from_calls
        if function.parameters[position] != ANY
    }
    if not known:
        return False
    inside = [node for node in walk(definition) if isinstance(node, n.FunctionDef)]
    return (
        any(inference.mistakes[one] or one in inference.doubting for one in inside)
        or (is_mixed(function.returns) and any(map(is_mixed, known.values())))
        or any(fit(facts.symbols[one], type_) != Fit.EXACT for one, type_ in known.items())
    )


def _infer(inference: Inference, unit: Unit) -> None:
    inference.unit = unit
    inference.mistakes[unit] = []
    env = Environment()
    if isinstance(unit, n.Module):
        along(inference, unit.statements, env)
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
            type_ = _outer_type(inference, symbol.starts_from)
            env.assign(symbol, type_)
            inference.grow(symbol, type_)
    if along(inference, unit.body, env):
        inference.returned(NIL)
        declared = function.declared
        if declared is not None and fit(NIL, declared) != Fit.EXACT:
            function.can_lack_value = True
            inference.report(
                catalogue.MISSING_RETURN.at(
                    unit.name.span,
                    name=unit.name.text,
                    expected=show(declared),
                    hint="end that path with `ret` or `fail`; as it is, it stops with an error",
                )
            )


def _rules(inference: Inference, record: n.RecordDef, env: Environment) -> None:
    """Each rule is by itself: what one shows of a field, Python's checkers do not remember."""
    known = inference.facts.record_facts.get(record)
    for field in record.fields:
        type_ = ANY if known is None else known.fields[field.name.text]
        env.assign(inference.facts.names.of(field.name), type_)
    for rule in record.rules:
        along(inference, [rule], env.copy())


def _outer_type(inference: Inference, outer: Symbol) -> Type:
    return inference.lasting(outer) if outer.kind in ("variable", "parameter") else ANY
