"""Statements: how they assign variables, return values and narrow types."""

from collections.abc import Sequence
from typing import assert_never

from saftc.check.forward import ForwardAnalysis, Loop
from saftc.check.history import is_stream
from saftc.diagnostics import catalogue
from saftc.infer.parameters import passed
from saftc.infer.rules.conditions import condition, narrow
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment, join
from saftc.infer.rules.expected import check_assignable, fit_into, inherited_annotation
from saftc.infer.rules.loops import bind, iterated, unpack
from saftc.infer.rules.prompts import asked_of_model
from saftc.infer.tools import offered, streams_in
from saftc.syntax import nodes as n
from saftc.types.relations import Assignability, fit
from saftc.types.types import ANY, FAILURE, NIL, STRING, Type, members, show, union, without

# A variable whose type still grows in a loop after so many iterations becomes `ANY`.
_MOST_TURNS = 6


def infer_block(inference: Inference, statements: Sequence[n.Statement], env: Environment) -> bool:
    """Infers statements that start in `env`. Returns whether their end is reachable."""
    below = _Types(inference).block(statements, env)
    return below is not None and not below.has_ended


class _Types(ForwardAnalysis[Environment]):
    """Infers the types of variables along the control flow, also for unreachable statements."""

    def __init__(self, inference: Inference) -> None:
        super().__init__()
        self.inference = inference
        self.items: dict[n.ForStmt, Type] = {}
        # For each enclosing loop: the number of iterations after which types grew at its head, and
        # the number of diagnostics before the first.
        self.growths: list[int] = []
        self.reported: list[int] = []

    def plain(self, statement: n.Statement, state: Environment) -> Environment | None:
        env = state.copy() if self.failing else state
        _statement(self.inference, statement, env)
        for states in self.failing:
            states.append(env)
        if isinstance(statement, n.RetStmt | n.FailStmt) or _stops(self.inference, statement):
            return None
        return env

    def evaluate(
        self, node: n.Expression, statement: n.Statement, state: Environment
    ) -> Environment:
        # The state at the head of a `while` is needed again.
        is_shared = bool(self.failing) or isinstance(statement, n.WhileStmt)
        env = state.copy() if is_shared else state
        if isinstance(statement, n.ForStmt):
            schema = statement.schema
            wanted = None if schema is None else self.inference.facts.schemas[schema]
            iterable = self.inference.expression(node, env, wanted)
            self.items[statement] = iterated(self.inference, statement, iterable)
        else:
            condition(self.inference, node, env)
        return env

    def bind(self, statement: n.Statement, state: Environment) -> Environment:
        env = state.copy()
        match statement:
            case n.ForStmt():
                bind(self.inference, statement.pattern, self.items[statement], env)
            case n.TryStmt(error=error) if error is not None:
                self.inference.assign(self.inference.facts.names.of(error), FAILURE, env)
            case _:
                pass
        return env

    def assume(self, condition: n.Expression, state: Environment, *, truth: bool) -> Environment:
        env = state.copy()
        narrow(self.inference, condition, env, truth=truth)
        return env

    def join(self, states: Sequence[Environment]) -> Environment:
        return join(states)

    def unreached(self, statement: n.Statement, last: Environment) -> Environment:
        dead = last.copy()
        dead.has_ended = True
        return dead

    def certainly_turns(self, loop: n.ForStmt) -> bool:
        return False  # Python's type checkers do not know that a list literal has items

    def loop(self, loop: Loop, state: Environment) -> Environment | None:
        self.growths.append(0)
        self.reported.append(len(self.inference.mistakes))
        below = super().loop(loop, state.copy())
        self.growths.pop()
        self.reported.pop()
        return below

    def widen(self, loop: Loop, head: Environment, again: Environment) -> Environment | None:
        """The types at the head of a loop for the next iteration, as in `ForwardAnalysis.widen`.

        Types that still grow after `_MOST_TURNS` iterations become `ANY`.
        """
        wider = join([head, again])
        growing = [symbol for symbol, slot in wider.slots.items() if slot != head.get(symbol)]
        if all(head.get(symbol) is None for symbol in growing):
            # What the loop binds first has the type of all its values where it is read before.
            head.slots.update(wider.slots)
            return None
        self.growths[-1] += 1
        for symbol in growing if self.growths[-1] >= _MOST_TURNS else ():
            known = head.get(symbol)
            if known is not None and known.type != wider.slots[symbol].type:
                wider.assign(symbol, ANY)
        # Drop the diagnostics of this iteration: the next one reports those that remain valid.
        del self.inference.mistakes[self.reported[-1] :]
        return wider


def _stops(inference: Inference, statement: n.Statement) -> bool:
    """Whether a statement without blocks never completes."""
    match statement:
        case n.AssertStmt():
            return statement.always_fails
        case n.ExpressionStmt(value=n.Call(function=n.Name() as function)):
            symbol = inference.facts.names.of(function)
            return symbol.kind == "builtin" and symbol.name == "ambiguous"
        case _:
            return False


def _statement(inference: Inference, statement: n.Statement, env: Environment) -> None:
    match statement:
        case n.AssignStmt() | n.AugmentedAssignStmt():
            _assign(inference, statement, env)
        case n.UnpackStmt():
            unpack(inference, statement, inference.expression(statement.value, env), env)
        case n.DestructureStmt():
            inference.expression(statement.value, env)
            for field in statement.fields:
                type_ = inference.facts.schemas[field.schema]
                asked_of_model(inference, field.schema, type_)
                inference.assign(inference.facts.names.of(field.name), type_, env)
        case n.FailStmt():
            type_ = inference.expression(statement.value, env, STRING)
            if type_ != FAILURE:
                check_assignable(inference, statement.value, type_, STRING)
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
        case n.TypeAlias() | n.ImportStmt() | n.FromImport() | n.ServerImport():
            pass
        case n.IfStmt() | n.ForStmt() | n.WhileStmt() | n.TryStmt():
            raise AssertionError("the flow goes through its blocks")
        case n.BreakStmt() | n.ContinueStmt():
            raise AssertionError("the flow leaves the turn")
        case _:
            assert_never(statement)


def _warn_if_unused(inference: Inference, prompt: n.Prompt) -> None:
    """Warns about a prompt whose result is unused, unless it may call tools."""
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
    """Checks the defaults of bare parameters against the types that their uses require.

    If the default is `nil`, or can only be checked at run time, the default's type is added to the
    type of the parameter instead.
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
        if how == Assignability.CHECK or (how == Assignability.NEVER and given == NIL):
            types = list(function.parameters)
            types[position] = union((asked, given))
            inference.give(definition, types)
        else:
            check_assignable(inference, parameter.default, given, asked)


def _assign(
    inference: Inference, statement: n.AssignStmt | n.AugmentedAssignStmt, env: Environment
) -> None:
    symbol = inference.facts.names.of(statement.name)
    if isinstance(statement, n.AssignStmt) and statement.schema is not None:
        wanted, related = inference.facts.schemas[statement.schema], ()
    elif (found := inherited_annotation(inference, statement.name)) is not None:
        wanted, related = found
    else:
        inference.assign(symbol, inference.expression(statement.value, env), env)
        return
    given = fit_into(inference, statement.value, wanted, env, related)
    inference.assign(symbol, _after_assignment(given, wanted), env)


def _ret_stmt(inference: Inference, statement: n.RetStmt, env: Environment) -> None:
    declared = None
    if isinstance(inference.unit, n.FunctionDef):
        declared = inference.facts.functions[inference.unit].declared
    if statement.value is None:
        inference.returned(NIL)
        if declared is not None and fit(NIL, declared) == Assignability.NEVER:
            inference.report(
                catalogue.TYPE_MISMATCH.at(statement.span, expected=show(declared), found="nil")
            )
    elif declared is None:
        inference.returned(inference.expression(statement.value, env))
    else:
        inference.returned(fit_into(inference, statement.value, declared, env))
        _gives_stream(inference, statement.value)


def _gives_stream(inference: Inference, node: n.Expression) -> None:
    """Reports a `ret` without a stream in a function that declares `stream` as its return type."""
    unit = inference.unit
    if not isinstance(unit, n.FunctionDef) or not is_stream(unit.returns):
        return
    if not streams_in(inference.facts, node):
        found = "a prompt" if isinstance(node, n.Prompt) else "another value"
        hint = "`ret stream $ ... $` returns one"
        inference.report(catalogue.STREAM_EXPECTED.at(node.span, found=found, hint=hint))


def _after_assignment(given: Type, wanted: Type) -> Type:
    """The type of an annotated variable right after the assignment of a value of type `given`.

    It excludes nil if the value is not nil.
    """
    if NIL in members(wanted) and NIL not in members(given) and given != ANY:
        return without(wanted, NIL)
    return wanted
