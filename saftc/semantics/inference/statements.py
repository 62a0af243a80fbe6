"""Statements: what each assigns, gives and shows about the variables below it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import assert_never

from saftc.diagnostics import catalogue
from saftc.flow.forward import ends
from saftc.flow.statements import blocks_of, has_break
from saftc.semantics.called import passed
from saftc.semantics.inference.conditions import condition, forget_changed_inside, narrow
from saftc.semantics.inference.context import Inference
from saftc.semantics.inference.environment import Environment
from saftc.semantics.inference.literals import adopting
from saftc.semantics.inference.loops import bind, iterated, unpack
from saftc.semantics.inference.places import fit_into, held, settle
from saftc.semantics.inference.prompts import asked_of_model
from saftc.semantics.names import Symbol
from saftc.semantics.relations import Fit, fit
from saftc.semantics.tools import offered
from saftc.semantics.types import (
    ANY,
    FAILURE,
    NEVER,
    NIL,
    STRING,
    Type,
    members,
    show,
    union,
    without,
)
from saftc.syntax import nodes as n

# After so many rounds a variable that still grows in a loop is any value.
_MOST_ROUNDS = 6


def block(inference: Inference, statements: Sequence[n.Statement], env: Environment) -> None:
    """Infers what a block assigns, gives and shows; notes in `env` whether the flow ends in it."""
    for statement in statements:
        _statement(inference, statement, env)
    env.has_ended = _stops(inference, statements)


def _stops(inference: Inference, statements: Sequence[n.Statement]) -> bool:
    """Whether the flow never goes on below a block: `ambiguous(...)` stops it as `ret` does."""
    return ends(statements) or any(_stops_call(inference, statement) for statement in statements)


def _stops_call(inference: Inference, statement: n.Statement) -> bool:
    match statement:
        case n.IfStmt() | n.TryStmt():
            return all(_stops(inference, inner) for inner in blocks_of(statement))
        case n.ExpressionStmt(value=n.Call(function=n.Name() as function)):
            symbol = inference.facts.names.of(function)
            return symbol.kind == "builtin" and symbol.name == "ambiguous"
        case _:
            return False


def _statement(inference: Inference, statement: n.Statement, env: Environment) -> None:
    match statement:
        case n.AssignStmt():
            _assign_stmt(inference, statement, env)
        case n.AugmentedAssignStmt():
            found = held(inference, statement.name)
            if found is None:
                given = inference.expression(statement.value, env)
            else:
                given = fit_into(inference, statement.value, found[0], env, found[1])
            inference.assign(inference.facts.names.of(statement.name), given, env)
        case n.UnpackStmt():
            unpack(inference, statement, inference.expression(statement.value, env), env)
        case n.DestructureStmt():
            inference.expression(statement.value, env)
            for field in statement.fields:
                type_ = inference.facts.schemas[field.schema]
                asked_of_model(inference, field.schema, type_)
                inference.assign(inference.facts.names.of(field.name), type_, env)
        case n.IfStmt():
            _if_stmt(inference, statement, env)
        case n.ForStmt():
            iterable = inference.expression(statement.iterable, env)
            item = iterated(inference, statement, iterable)
            _loop(
                inference,
                statement,
                env,
                lambda inner: bind(inference, statement.pattern, item, inner),
            )
        case n.WhileStmt():
            _while_stmt(inference, statement, env)
        case n.TryStmt():
            _try_stmt(inference, statement, env)
        case n.FailStmt():
            type_ = inference.expression(statement.value, env, STRING)
            if type_ != FAILURE:
                settle(inference, statement.value, type_, STRING)
        case n.RetStmt():
            _ret_stmt(inference, statement, env)
        case n.AssertStmt():
            condition(inference, statement.condition, env)
            if statement.message is not None:
                inference.expression(statement.message, env)
            narrow(inference, statement.condition, env, truth=True)
        case n.ExpressionStmt():
            inference.expression(statement.value, env)
            if isinstance(statement.value, n.Prompt):
                _warn_if_unused(inference, statement.value)
        case n.FunctionDef():
            _defaults(inference, statement.parameters, env)
            _bare_defaults(inference, statement, env)
        case n.RecordDef():
            _defaults(inference, statement.fields, env)
        case n.TypeAlias() | n.ImportStmt() | n.FromImport() | n.BreakStmt() | n.ContinueStmt():
            pass
        case _:
            assert_never(statement)


def _warn_if_unused(inference: Inference, prompt: n.Prompt) -> None:
    """A prompt that stands alone is for its tools; without any, nothing comes of it."""
    facts = inference.facts
    for one in offered(facts, prompt):
        if one.is_function or (one.type == ANY and one.facts.is_imported(one.value)):
            return
    inference.report(catalogue.UNUSED_RESULT.at(prompt.span, hint="bind it to a name, or print it"))


def _defaults(inference: Inference, parameters: Sequence[n.Parameter], env: Environment) -> None:
    for parameter in parameters:
        if parameter.default is not None and parameter.schema is not None:
            fit_into(inference, parameter.default, inference.facts.schemas[parameter.schema], env)


def _bare_defaults(inference: Inference, definition: n.FunctionDef, env: Environment) -> None:
    """Holds the defaults of bare parameters against what their use asks for.

    Without an argument the parameter is its default: `nil` for one that may be left out, or
    a value that is only known when the script runs. Then that is what it can be as well.
    """
    function = inference.facts.functions[definition]
    for position, parameter in enumerate(definition.parameters):
        if parameter.default is None or parameter.schema is not None:
            continue
        given, asked = inference.expression(parameter.default, env), function.parameters[position]
        if position in function.from_calls:
            inference.take(definition, position, passed(given), parameter.default)
            continue
        how = fit(given, asked)
        if how == Fit.CHECK or (how == Fit.NEVER and given == NIL):
            types = list(function.parameters)
            types[position] = union((asked, given))
            function.parameters = tuple(types)
            inference.outdate(definition)
            inference.outdated[definition] = None
        else:
            settle(inference, parameter.default, given, asked)


def _assign_stmt(inference: Inference, statement: n.AssignStmt, env: Environment) -> None:
    symbol = inference.facts.names.of(statement.name)
    if statement.schema is not None:
        wanted, related = inference.facts.schemas[statement.schema], ()
    elif (found := held(inference, statement.name)) is not None:
        wanted, related = found
    else:
        model = inference.facts.declared.get(symbol, NEVER)
        inference.assign(symbol, adopting(inference, statement.value, model, env), env)
        return
    given = fit_into(inference, statement.value, wanted, env, related)
    inference.assign(symbol, _after_assignment(given, wanted), env)


def _ret_stmt(inference: Inference, statement: n.RetStmt, env: Environment) -> None:
    declared = None
    if isinstance(inference.unit, n.FunctionDef):
        declared = inference.facts.functions[inference.unit].declared
    if statement.value is None:
        inference.returned(NIL)
        if declared is not None and fit(NIL, declared) == Fit.NEVER:
            inference.report(
                catalogue.TYPE_MISMATCH.at(statement.span, expected=show(declared), found="nil")
            )
    elif declared is None:
        inference.returned(inference.expression(statement.value, env))
    else:
        inference.returned(fit_into(inference, statement.value, declared, env))


def _if_stmt(inference: Inference, statement: n.IfStmt, env: Environment) -> None:
    branches: list[Environment] = []
    # Each later condition is reached only when the earlier ones were false.
    other = Environment(env)
    for branch in statement.branches:
        condition(inference, branch.condition, other)
        inner = Environment(other)
        narrow(inference, branch.condition, inner, truth=True)
        block(inference, branch.body, inner)
        branches.append(inner)
        other = Environment(other)
        narrow(inference, branch.condition, other, truth=False)
    block(inference, statement.other, other)
    env.join([*branches, other])


def _try_stmt(inference: Inference, statement: n.TryStmt, env: Environment) -> None:
    """Infers both blocks; in the second, what the first assigns may be assigned or not."""
    log: dict[Symbol, Type] = {}
    inference.open_logs.append(log)
    body, handler = Environment(env), Environment(env)
    block(inference, statement.body, body)
    inference.open_logs.pop()
    for symbol, type_ in log.items():
        before = env.slot(symbol)
        handler.assign(symbol, union((before.type if before else NEVER, type_)))
    if statement.error is not None:
        inference.assign(inference.facts.names.of(statement.error), FAILURE, handler)
    block(inference, statement.handler, handler)
    env.join([body, handler])


def _while_stmt(inference: Inference, statement: n.WhileStmt, env: Environment) -> None:
    def enter(inner: Environment) -> None:
        condition(inference, statement.condition, inner)
        narrow(inference, statement.condition, inner, truth=True)

    _loop(inference, statement, env, enter)
    if not has_break(statement):
        narrow(inference, statement.condition, env, truth=False)


def _loop(
    inference: Inference,
    statement: n.ForStmt | n.WhileStmt,
    env: Environment,
    enter: Callable[[Environment], None],
) -> None:
    """Infers a body until what it assigns no longer changes what it reads.

    That ends: each round from `_MOST_ROUNDS` on makes one more variable any value.
    """
    # A loop inside another one goes on from what it has assigned in earlier rounds of that.
    log = inference.logs.setdefault(statement, {})
    asked: set[Symbol] = set()
    forget_changed_inside(inference, statement, env)
    head = _head(log, env, asked)
    for round_ in count(1):
        known = dict(log)
        inference.open_logs.append(log)
        inner = Environment(head)
        enter(inner)
        block(inference, statement.body, inner)
        inference.open_logs.pop()
        if log == known:
            break
        if round_ >= _MOST_ROUNDS:
            growing = [s for s, type_ in log.items() if known.get(s) != type_]
            log.update(dict.fromkeys(growing, ANY))
        earlier, read = head, asked
        asked = set[Symbol]()
        head = _head(log, env, asked)
        if all(head.slot(symbol) == earlier.slot(symbol) for symbol in read):
            break
    for symbol, type_ in log.items():
        before = env.slot(symbol)
        inference.assign(symbol, union((before.type if before else NEVER, type_)), env)


def _head(log: Mapping[Symbol, Type], env: Environment, asked: set[Symbol]) -> Environment:
    """What is known where a round of a loop begins, by what the earlier ones have assigned."""
    head = Environment(env, asked)
    for symbol, type_ in log.items():
        before = env.slot(symbol)
        head.assign(symbol, union((before.type if before else NEVER, type_)))
    return head


def _after_assignment(given: Type, wanted: Type) -> Type:
    """What is known of a variable right after an annotated assignment."""
    if NIL in members(wanted) and NIL not in members(given) and given != ANY:
        return without(wanted, NIL)
    return wanted
