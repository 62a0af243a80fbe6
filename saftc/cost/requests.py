"""The bound pass: the most requests of each function of a script, and of the whole script.

    bounds = ProgramBounds(facts, source, limits)
    bounds.of_function(definition).bound        3 * len(mails)
    bounds.program.bound                        the bound of a run of the script

The pass visits each function once. A function's bound contains its parameters, which each call
replaces by its arguments.

A node without a rule counts as unbounded, never as zero. A value of unknown type may be any
function that the scripts use as a value, but no other function. So a Python program that imports a
script must itself count the calls of functions that it passes to the script.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from operator import mul

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.cost.bodies import BodyBounds
from saftc.cost.bound import (
    A_BUDGET,
    VARIABLE,
    ZERO,
    Bound,
    CallSite,
    FunctionBound,
    Measure,
    Reason,
    largest,
    measured,
    number,
)
from saftc.cost.lengths import argument
from saftc.cost.rules import Limits, Settings
from saftc.cost.script_bounds import Argument, ScriptBounds
from saftc.effects.awaits import function_values
from saftc.effects.effects import Effects
from saftc.infer.programs import conversions_of, functions_above
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.types import ANY, PROGRAM, FunctionType, Type, members

# The options that affect what a reply costs.
_OF_COST = frozenset(
    {"provider", "model", "base_url", "max_tokens", "reasoning_effort", "extra_body"}
)


class ProgramBounds:
    """The bounds of a script and of the scripts that it imports. Visits each function once."""

    def __init__(
        self,
        facts: Facts,
        source: Source,
        limits: Limits,
        overlapping: Overlapping = DEFAULT,
    ) -> None:
        self.facts = facts
        self.source = source
        self.limits = limits
        self.overlapping = overlapping
        self.effects = Effects(self.facts, overlapping.pure)
        self._functions: dict[n.FunctionDef, FunctionBound] = {}
        sources = (source, *facts.script_sources)
        # The script itself, then those that it imports.
        self.scripts = [
            ScriptBounds(self, one, its)
            for one, its in zip((facts, *facts.scripts), sources, strict=True)
        ]

    def of_function(self, definition: n.FunctionDef) -> FunctionBound:
        """The upper bound for the requests of a function, in terms of its parameters."""
        for ring in self.effects.unknown_of(definition, self._functions):
            for one in ring:
                # This holds while the body is read, which may call an unknown function.
                self._functions[one] = self._calls_itself(one)
                if not self.effects.summary(one).calls_itself:
                    self._functions[one] = self._found(one)
        return self._functions[definition]

    def _found(self, definition: n.FunctionDef) -> FunctionBound:
        script = self.script_of(definition)
        parameters = [script.facts.names.of(one.name) for one in definition.parameters]
        body = BodyBounds(script, {one: argument(one) for one in parameters})
        bound = body.block(definition.body)[0]
        return replace(self._functions[definition], bound=bound, pieces=tuple(body.pieces))

    def of_functions(self) -> list[FunctionBound]:
        """The bounds of the script's functions, in source order."""
        return [self.of_function(one) for one in nodes_of(self.facts.module, n.FunctionDef)]

    def of_prompt(self, node: n.Prompt) -> CallSite:
        """The bound of evaluating a prompt once, in terms of the script's variables."""
        return self.scripts[0].prompt(node, {})

    def chooses_model(self, definition: n.FunctionDef) -> bool:
        """Whether a function may reach a prompt with options that affect the price of a reply.

        For example, `model` and `max_tokens` are such options. A prompt with unknown options
        counts, too.
        """
        given = [
            self.script_of(one).options(node.options)
            for one in self.effects.reached([definition])
            for top in one.body
            for node in walk(top)
            if isinstance(node, n.Prompt)
        ]
        return any(one is None or not _OF_COST.isdisjoint(one) for one in given)

    @cached_property
    def top(self) -> FunctionBound:
        """The bound of importing the script, including the scripts that it imports."""
        bound, pieces = ZERO, list[CallSite]()
        for script in reversed(self.scripts):
            walk_ = BodyBounds(script, {})
            bound += walk_.block(script.facts.module.statements)[0]
            pieces += walk_.pieces
        return FunctionBound("", "top level", self.facts.module, self.source, bound, tuple(pieces))

    @cached_property
    def program(self) -> FunctionBound:
        """The bound of running the script: its top level, and `main` if the script has one."""
        symbol = self.facts.own_names.get("main")
        main = None if symbol is None else symbol.node
        if not isinstance(main, n.FunctionDef) or main.parameters:
            return self.top
        found = self.of_function(main)
        if self.top.bound.is_zero:
            return found
        bound, pieces = self.top.bound + found.bound, (*self.top.pieces, *found.pieces)
        return replace(found, title="all together", bound=bound, pieces=pieces)

    @cached_property
    def escaping_functions(self) -> list[n.FunctionDef]:
        """The functions that the scripts use as values, other than as callees or tools."""
        return [
            member.definition
            for facts in (self.facts, *self.facts.scripts)
            for node in function_values(facts)
            for member in members(facts.types.get(node, ANY))
            if isinstance(member, FunctionType)
        ]

    @cached_property
    def meets_functions(self) -> bool:
        """Whether a value of unknown type may be a function, of a script or of Python."""
        return any(
            bool(function_values(facts)) or facts.uses_python
            for facts in (self.facts, *self.facts.scripts)
        )

    def functions(self, types: Iterable[Type]) -> list[n.FunctionDef]:
        """The functions of scripts that a value of one of these types may be."""
        known = list(types)
        found = [one.definition for one in known if isinstance(one, FunctionType)]
        return found + self.escaping_functions if ANY in known else found

    def may_ask(self, types: Iterable[Type]) -> bool:
        """Whether a call of a value of one of these types may send requests."""
        return any(not self.of_function(one).bound.is_zero for one in self.functions(types))

    def of_any_call(self, definition: n.FunctionDef) -> Bound:
        """The bound for one call of a function, whatever the arguments are.

        The call is unbounded if the function's bound depends on a parameter.
        """
        return self.outside(self.of_function(definition), {})

    def outside(self, called: FunctionBound, given: Mapping[Symbol, Argument]) -> Bound:
        """The bound of a function in terms of the code that calls it.

        `given` has the arguments of the call. A measure without a meaning there is a reason.
        """
        found = Bound(reasons=called.bound.reasons)
        for term, times in called.bound.terms:
            factors = (self._meaning(measure, called, given) for measure in term)
            found += reduce(mul, factors, number(times))
        return found

    def _meaning(
        self, measure: Measure, called: FunctionBound, given: Mapping[Symbol, Argument]
    ) -> Bound:
        """The value of a function's measure for the code that calls the function."""
        local = measure.local or self._unknown_outside(measure, called, given)
        if local is not None:
            words = f"`{measure.text}` {local.words}"
            return Bound(reasons=(replace(local, words=words, advice=measure.advice),))
        meaning = {one: given[one] for one in measure.symbols if one in given}
        if measure.template == VARIABLE and meaning:
            (one,) = meaning.values()
            most = one.lengths.size if measure.kind == "len" else one.lengths.most
            return most(one.value, one.known)
        written = {symbol: one.lengths.written(one.value) for symbol, one in meaning.items()}
        return measured(measure.replaced(written))

    def _unknown_outside(
        self, measure: Measure, called: FunctionBound, given: Mapping[Symbol, Argument]
    ) -> Reason | None:
        """The variable of a function that makes a measure unknown outside. Returns None if none."""
        definition = called.definition
        assert isinstance(definition, n.FunctionDef)
        scope = self.script_of(definition).facts.names.scopes[definition]
        unknown = (one for one in measure.symbols if one.scope and one not in given)
        own = next((one for one in unknown if one.scope and scope in one.scope.around()), None)
        if own is None:
            return None
        words = f"is known only when `{called.name}` runs"
        if own.kind == "parameter":
            words = f"depends on the caller of `{called.name}`"
        return Reason(own.node or definition.name, called.source, words)

    @cached_property
    def recorded_programs(self) -> tuple[list[n.FunctionDef], Bound]:
        """The functions that a program given to `run` may call, and the most calls it may make."""
        functions, most = list[n.FunctionDef](), number(self.limits.program_calls)
        for script in self.scripts:
            facts = script.facts
            for node in nodes_of(facts.module, n.Prompt):
                if node.mode == "program" and facts.prompts.get(node) == PROGRAM:
                    functions += script.callable_by(node)
                    settings = script.settings(node, {})
                    if isinstance(settings, Settings):
                        most = largest((most, settings.program_calls))
            for node, coercion in facts.coercions.items():
                if coercion.wanted == PROGRAM:
                    functions += functions_above(node.span, facts.module, facts).values()
                    functions += conversions_of(facts.module, facts).values()
        return functions, most

    def script_of(self, definition: n.FunctionDef) -> ScriptBounds:
        """The script that defines a function."""
        return next(one for one in self.scripts if one.facts.is_own(definition))

    def _calls_itself(self, definition: n.FunctionDef) -> FunctionBound:
        name, source = definition.name.text, self.script_of(definition).source
        is_known = not self.escaping_functions and not self.recorded_programs[0]
        asks = "asks" in self.effects.of_function(definition) or not is_known
        reason = Reason(definition.name, source, f"`{name}` may call itself", A_BUDGET)
        bound = Bound(reasons=(reason,)) if asks else ZERO
        parameters = ", ".join(one.name.text for one in definition.parameters)
        return FunctionBound(name, f"{name}({parameters})", definition, source, bound, ())
