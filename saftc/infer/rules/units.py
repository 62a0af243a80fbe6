"""Interprocedural type inference by forward analysis of the whole module.

The input is a module and its names, and the output is the facts. A unit is the module, a function,
or a record's rules. A unit depends on the results and variables of other units, so it is inferred
again if a unit that it has read has grown, up to a fixpoint. The fixpoint is reached, because types
only grow and are bounded, and a type that grows for too long becomes `ANY`. The diagnostics of the
last round count.

    sum_ = 0                    // int
    for row in rows:            // rows: any, so row: any
        sum_ = sum_ + row.price // any
    ret sum_                    // any: in a loop, a variable is all that the loop assigns

If a function is only called, the type of a bare parameter is the join of its arguments, which grows
in the same way. The function is inferred from its first call on. If this causes trouble (see
`doubtful_of`), the parameter becomes `ANY`.

Inside a function, inference is flow-sensitive: where paths meet, a variable has the union of its
types.
"""

from collections.abc import Callable, Sequence

from saftc.check.facts import Facts, FunctionFacts
from saftc.check.names import Symbol
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.infer.parameters import is_mixed, is_nested, only_called, settled
from saftc.infer.rules.context import Inference, Unit
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expressions import type_of
from saftc.infer.rules.statements import infer_block
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.relations import Assignability, fit
from saftc.types.types import ANY, NEVER, NIL, Type, show


def units_of(module: n.Module) -> list[Unit]:
    """The functions, records with rules, and the module, in the order of their first inference."""
    records = [node for node in nodes_of(module, n.RecordDef) if node.rules]
    return [*nodes_of(module, n.FunctionDef), *records, module]


def infer_types(module: n.Module, facts: Facts) -> list[Diagnostic]:
    """Infers the types of all expressions and the forms of constructs.

    Returns the diagnostics.
    """
    units = units_of(module)
    only = only_called(module, facts, lambda parameter: parameter.schema is None)
    functions = [one for one in nodes_of(module, n.FunctionDef) if one in only]
    waiting = [one for one in functions if _awaits_calls(facts.functions[one])]
    inference = Inference(facts, type_of, module, facts.uses_python)
    inference.outdated = {one: None for one in units if one not in waiting}
    inference.reached.update(one for one in inference.outdated if isinstance(one, n.FunctionDef))
    while inference.outdated or _revise(inference, waiting):
        unit = next(iter(inference.outdated))
        del inference.outdated[unit]
        _infer(inference, unit)
    return [one for unit in units for one in inference.found[unit] if one is not None]


def _awaits_calls(function: FunctionFacts) -> bool:
    """Lets calls determine the types of a function's untyped parameters.

    Returns whether the function has untyped parameters.
    """
    positions = [
        position
        for position, parameter in enumerate(function.node.parameters)
        if parameter.schema is None and function.parameters[position] == ANY
    ]
    function.from_calls = {position: [] for position in positions}
    function.parameters = tuple(
        NEVER if position in positions else type_
        for position, type_ in enumerate(function.parameters)
    )
    return bool(positions)


def _revise(inference: Inference, waiting: Sequence[n.FunctionDef]) -> bool:
    """Fixes the types of parameters after inference, and returns whether more must be inferred.

    The parameters of functions that are never called become `ANY`, and so do the parameters of
    doubtful functions (see `doubtful_of`).
    """
    functions = inference.facts.functions
    unreached = [one for one in waiting if one not in inference.reached]
    if unreached:
        # The last one first: functions mostly call functions above them, which get arguments then.
        inference.reach(unreached[-1])
        _open(inference, functions[unreached[-1]], lambda type_: ANY if type_ == NEVER else type_)
        return True
    for one in waiting:
        _change(inference, functions[one], settled)
    doubtful = [] if inference.outdated else doubtful_of(inference, waiting)
    for one in doubtful:
        _open(inference, functions[one], lambda _: ANY)
    if doubtful:
        # The inferred types of variables are no longer valid.
        inference.facts.symbols.clear()
        inference.outdated.update(dict.fromkeys(inference.found))
    return bool(inference.outdated)


def _open(inference: Inference, function: FunctionFacts, change: Callable[[Type], Type]) -> None:
    """Changes the parameter types that come from calls. Later calls no longer affect them."""
    _change(inference, function, change)
    function.from_calls.clear()
    function.gives, inference.rounds[function.node] = NEVER, 0


def _change(inference: Inference, function: FunctionFacts, change: Callable[[Type], Type]) -> None:
    """Changes the parameter types that come from calls, by the function `change`."""
    types = tuple(
        change(type_) if position in function.from_calls else type_
        for position, type_ in enumerate(function.parameters)
    )
    if types != function.parameters:
        inference.give(function.node, types)


def doubtful_of(inference: Inference, waiting: Sequence[n.FunctionDef]) -> list[n.FunctionDef]:
    """The functions for which the types of arguments are not reliable as parameter types.

    A function is doubtful if it has diagnostics, because it may be meant for other values as well.
    It is also doubtful if it assigns a value of another type to a parameter, if an argument and
    the result are both of mixed types, because each call would then have the results of all calls,
    or if an argument is nested data, such as `[int] | [[int]]`, which may be deeper elsewhere.
    """
    return [one for one in waiting if _is_doubtful(inference, one)]


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
        any(inference.found[one] for one in inside)
        or (is_mixed(function.returns) and any(map(is_mixed, known.values())))
        or any(map(is_nested, known.values()))
        or any(
            fit(facts.symbols[one], type_) != Assignability.EXACT for one, type_ in known.items()
        )
    )


def _infer(inference: Inference, unit: Unit) -> None:
    inference.unit = unit
    inference.found[unit] = []
    inference.rounds[unit] += 1
    env = Environment()
    if isinstance(unit, n.Module):
        infer_block(inference, unit.statements, env)
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
    if infer_block(inference, unit.body, env):
        inference.returned(NIL)
        declared = function.declared
        if declared is not None and fit(NIL, declared) != Assignability.EXACT:
            function.can_lack_value = True
            inference.report(
                catalogue.MISSING_RETURN.at(
                    unit.name.span,
                    name=unit.name.text,
                    expected=show(declared),
                    hint="end that path with `ret` or `fail`: without it, the call fails",
                )
            )


def _rules(inference: Inference, record: n.RecordDef, env: Environment) -> None:
    """Infers each rule of a record separately.

    A rule narrows no types for the next rule, just as in Python's type checkers.
    """
    known = inference.facts.record_facts.get(record)
    for field in record.fields:
        type_ = ANY if known is None else known.fields[field.name.text]
        env.assign(inference.facts.names.of(field.name), type_)
    for rule in record.rules:
        infer_block(inference, [rule], env.copy())


def _outer_type(inference: Inference, outer: Symbol) -> Type:
    return inference.lasting(outer) if outer.kind in ("variable", "parameter") else ANY
