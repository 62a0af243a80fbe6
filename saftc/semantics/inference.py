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

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import assert_never

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.semantics.base import LoopLog, Unit
from saftc.semantics.environment import Environment
from saftc.semantics.expressions import Expressions
from saftc.semantics.facts import Facts, FunctionFacts, has_field
from saftc.semantics.history import find_history
from saftc.semantics.modules import Loader, link_imports, no_modules
from saftc.semantics.programs import check_programs
from saftc.semantics.relations import Fit, fit
from saftc.semantics.schemas import resolve_schemas
from saftc.semantics.scopes import Symbol, resolve
from saftc.semantics.types import (
    ANY,
    NEVER,
    NIL,
    ListType,
    TupleType,
    Type,
    item_type,
    kinds,
    members,
    opened,
    show,
    union,
    without,
)
from saftc.semantics.usage import parameter_uses
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# After so many rounds a variable that still grows in a loop is any value.
_MOST_ROUNDS = 6


def analyze(module: n.Module, found: Collector, load: Loader = no_modules) -> Facts:
    """The facts about `module`; mistakes go to `found`, and `load` finds what it imports."""
    names = resolve(module, found)
    facts = Facts(names)
    link_imports(module, facts, load, found)
    resolve_schemas(module, facts, found)
    facts.history = find_history(
        module,
        names,
        lambda schema, name: any(
            has_field(facts, member, name) for member in members(facts.schemas[schema])
        ),
    )
    _declare_functions(module, facts)
    for mistake in _Inference(module, facts).run():
        found.add(mistake)
    check_programs(module, facts, found)
    return facts


def _declare_functions(module: n.Module, facts: Facts) -> None:
    functions = [node for node in nodes_of(module) if isinstance(node, n.FunctionDef)]
    for function in functions:
        types = tuple(
            facts.schemas[parameter.schema] if parameter.schema else ANY
            for parameter in function.parameters
        )
        declared = facts.schemas[function.returns] if function.returns else None
        facts.functions[function] = FunctionFacts(function, types, declared)
        for parameter, type_ in zip(function.parameters, types, strict=True):
            if parameter.schema is not None:
                facts.declared[facts.names.of(parameter.name)] = type_
    for node in nodes_of(module):
        if isinstance(node, n.AssignStmt) and node.schema is not None:
            symbol = facts.names.of(node.name)
            earlier = facts.declared.get(symbol)
            type_ = facts.schemas[node.schema]
            facts.declared[symbol] = type_ if earlier is None else union((earlier, type_))
    # What one function's use of a parameter asks for may follow from another's.
    for _ in range(3):
        news = [_note_uses(function, facts) for function in functions]
        if not any(news):
            break


def _note_uses(function: n.FunctionDef, facts: Facts) -> bool:
    """Takes what the uses of a function's bare parameters ask for; whether that is news."""
    uses, known = parameter_uses(function, facts), facts.functions[function]
    before = known.parameters
    known.parameters = tuple(
        type_ if parameter.schema else uses.get(facts.names.of(parameter.name), ANY)
        for parameter, type_ in zip(function.parameters, before, strict=True)
    )
    return known.parameters != before


class _Inference(Expressions):
    """The part of inference that knows statements and units."""

    def run(self) -> Iterator[Diagnostic]:
        """Infers all types; gives the mistakes."""
        own = (node for node in nodes_of(self.module) if isinstance(node, n.FunctionDef))
        units: list[Unit] = [*own, self.module]
        self.outdated = dict.fromkeys(units)
        budget = _MOST_ROUNDS * len(units) + 100
        while self.outdated and budget:
            unit = next(iter(self.outdated))
            del self.outdated[unit]
            self._infer(unit)
            budget -= 1
        for unit in units:
            if unit in self.read_own or unit in self.outdated:
                self._infer(unit)
        return chain.from_iterable(self.mistakes[unit] for unit in units)

    def _infer(self, unit: Unit) -> None:
        self.unit = unit
        self.mistakes[unit] = []
        env = Environment()
        self.scope = self.facts.names.scopes[unit]
        if isinstance(unit, n.Module):
            self._block(unit.statements, env)
            return
        function = self.facts.functions[unit]
        for parameter, type_ in zip(unit.parameters, function.parameters, strict=True):
            symbol = self.facts.names.of(parameter.name)
            env.assign(symbol, type_)
            self.grow(symbol, type_)
        for symbol in self.scope.symbols.values():
            if symbol.starts_from is not None:
                env.assign(symbol, self._outer_type(symbol.starts_from))
        self._block(unit.body, env)
        if not env.has_ended:
            self.facts.can_fall_through.add(unit)
            self.returned(NIL)
            declared = function.declared
            if declared is not None and fit(NIL, declared) != Fit.EXACT:
                self.report(
                    catalogue.MISSING_RETURN.at(
                        unit.name.span,
                        name=unit.name.text,
                        expected=show(declared),
                        hint="on that path it stops with an error",
                    )
                )

    def _outer_type(self, outer: Symbol) -> Type:
        return self.lasting(outer) if outer.kind in ("variable", "parameter") else ANY

    # Statements

    def _block(self, statements: Sequence[n.Statement], env: Environment) -> None:
        for statement in statements:
            self._statement(statement, env)

    def _statement(self, statement: n.Statement, env: Environment) -> None:
        match statement:
            case n.AssignStmt():
                self._assign_stmt(statement, env)
            case n.DestructureStmt():
                self.expression(statement.value, env)
                for field in statement.fields:
                    type_ = self.facts.schemas[field.schema]
                    self.asked_of_model(field.schema, type_)
                    self.assign(self.facts.names.of(field.name), type_, env)
            case n.IfStmt():
                self._if_stmt(statement, env)
            case n.ForStmt():
                iterable = self.expression(statement.iterable, env)
                item = self.iterated(statement, iterable)
                self._loop(statement, env, lambda inner: self.bind(statement.pattern, item, inner))
            case n.WhileStmt():
                self._while_stmt(statement, env)
            case n.BreakStmt() | n.ContinueStmt():
                env.has_ended = True
            case n.RetStmt():
                self._ret_stmt(statement, env)
            case n.AssertStmt():
                self.condition(statement.condition, env)
                if statement.message is not None:
                    self.expression(statement.message, env)
                self.narrow(statement.condition, env, truth=True)
                env.has_ended = env.has_ended or statement.always_fails
            case n.ExpressionStmt():
                self.expression(statement.value, env)
            case n.FunctionDef():
                self._defaults(statement.parameters, env)
                self._bare_defaults(statement, env)
            case n.RecordDef():
                self._defaults(statement.fields, env)
            case n.TypeAlias() | n.ImportStmt() | n.FromImport():
                pass
            case _:
                assert_never(statement)

    def _defaults(self, parameters: Sequence[n.Parameter], env: Environment) -> None:
        for parameter in parameters:
            if parameter.default is not None and parameter.schema is not None:
                self.place(parameter.default, self.facts.schemas[parameter.schema], env)

    def _bare_defaults(self, definition: n.FunctionDef, env: Environment) -> None:
        """Holds the defaults of bare parameters against what their use asks for.

        Without an argument the parameter is its default: `nil` for one that may be left out, or
        a value that is only known when the script runs. Then that is what it can be as well.
        """
        function = self.facts.functions[definition]
        for position, parameter in enumerate(definition.parameters):
            if parameter.default is None or parameter.schema is not None:
                continue
            given, asked = self.expression(parameter.default, env), function.parameters[position]
            how = fit(given, asked)
            if how == Fit.CHECK or (how == Fit.NEVER and given == NIL):
                types = list(function.parameters)
                types[position] = union((asked, given))
                function.parameters = tuple(types)
                self.outdate(definition)
                self.outdated[definition] = None
            else:
                self.settle(parameter.default, given, asked)

    def _assign_stmt(self, statement: n.AssignStmt, env: Environment) -> None:
        symbol = self.facts.names.of(statement.name)
        if statement.schema is None:
            model = self.facts.declared.get(symbol, NEVER)
            self.assign(symbol, self.adopting(statement.value, model, env), env)
            return
        wanted = self.facts.schemas[statement.schema]
        found = self.place(statement.value, wanted, env)
        self.assign(symbol, _after_assignment(found, wanted), env)

    def _ret_stmt(self, statement: n.RetStmt, env: Environment) -> None:
        declared = None
        if isinstance(self.unit, n.FunctionDef):
            declared = self.facts.functions[self.unit].declared
        env.has_ended = True
        if statement.value is None:
            self.returned(NIL)
            if declared is not None and fit(NIL, declared) == Fit.NEVER:
                self.report(
                    catalogue.TYPE_MISMATCH.at(statement.span, expected=show(declared), found="nil")
                )
        elif declared is None:
            self.returned(self.expression(statement.value, env))
        else:
            self.returned(self.place(statement.value, declared, env))

    def _if_stmt(self, statement: n.IfStmt, env: Environment) -> None:
        ends: list[Environment] = []
        # Each later condition is reached only when the earlier ones were false.
        other = Environment(env)
        for branch in statement.branches:
            self.condition(branch.condition, other)
            inner = Environment(other)
            self.narrow(branch.condition, inner, truth=True)
            self._block(branch.body, inner)
            ends.append(inner)
            other = Environment(other)
            self.narrow(branch.condition, other, truth=False)
        self._block(statement.other, other)
        env.join([*ends, other])

    def _while_stmt(self, statement: n.WhileStmt, env: Environment) -> None:
        def enter(inner: Environment) -> None:
            self.condition(statement.condition, inner)
            self.narrow(statement.condition, inner, truth=True)

        self._loop(statement, env, enter)
        if not _has_break(statement.body):
            if isinstance(statement.condition, n.Literal) and statement.condition.value is True:
                env.has_ended = True
            self.narrow(statement.condition, env, truth=False)

    def _loop(
        self,
        statement: n.ForStmt | n.WhileStmt,
        env: Environment,
        enter: Callable[[Environment], None],
    ) -> None:
        """Infers a body until what it assigns no longer changes what it reads."""
        log: LoopLog = {}
        for round_ in range(_MOST_ROUNDS + 1):
            head = Environment(env)
            for symbol, type_ in log.items():
                before = env.slot(symbol)
                head.assign(symbol, union((before.type if before else NEVER, type_)))
            known = dict(log)
            self.loop_logs.append(log)
            inner = Environment(head)
            enter(inner)
            self._block(statement.body, inner)
            self.loop_logs.pop()
            if log == known:
                break
            if round_ == _MOST_ROUNDS - 1:
                growing = [s for s, type_ in log.items() if known.get(s) != type_]
                log.update(dict.fromkeys(growing, ANY))
        for symbol, type_ in log.items():
            before = env.slot(symbol)
            self.assign(symbol, union((before.type if before else NEVER, type_)), env)

    # Patterns

    def bind(self, pattern: n.Pattern, type_: Type, env: Environment) -> None:
        match pattern:
            case n.NamePattern():
                self.assign(self.facts.names.of(pattern.name), opened(type_), env)
            case n.TuplePattern():
                self._unpack(pattern, type_, env)
            case _:
                assert_never(pattern)

    def _unpack(self, pattern: n.TuplePattern, type_: Type, env: Environment) -> None:
        count = len(pattern.items)
        found = kinds(type_)
        is_wrong = found is not None and bool(found) and not found & {"list", "tuple"}
        if isinstance(type_, TupleType) and len(type_.items) != count:
            is_wrong = True
        if is_wrong:
            self.report(catalogue.UNPACK.at(pattern.span, found=show(type_), count=count))
        for position, item in enumerate(pattern.items):
            self.bind(item, _unpacked(type_, position, count), env)


def _unpacked(type_: Type, position: int, count: int) -> Type:
    results: list[Type] = []
    for member in members(type_):
        match member:
            case TupleType() if len(member.items) == count:
                results.append(member.items[position])
            case ListType():
                results.append(item_type(member))
            case _:
                results.append(ANY)
    return union(results)


def _after_assignment(found: Type, wanted: Type) -> Type:
    """What is known of a variable right after an annotated assignment."""
    if NIL in members(wanted) and NIL not in members(found) and found != ANY:
        return without(wanted, NIL)
    return wanted


def _has_break(body: Sequence[n.Statement]) -> bool:
    for statement in body:
        match statement:
            case n.BreakStmt():
                return True
            case n.IfStmt():
                bodies = [*(branch.body for branch in statement.branches), statement.other]
                if any(_has_break(inner) for inner in bodies):
                    return True
            case _:
                pass
    return False
