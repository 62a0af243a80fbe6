"""The bounds of prompts and calls in one script."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall
from saftc.cost.bound import ONE, ZERO, Bound, CallSite, FunctionBound, Reason, largest, number
from saftc.cost.lengths import Lengths, Values
from saftc.cost.rules import (
    Fields,
    Settings,
    program_calls,
    program_replies,
    replies,
    rounds_of,
    settings_of,
    tool_calls,
)
from saftc.cost.variables import Loop
from saftc.infer.programs import conversions_of
from saftc.infer.tools import OfferedTool, offered
from saftc.overlap.plan import Plan, plan
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.builtins import BUILTINS
from saftc.types.types import ANY, NIL, PROGRAM, BuiltinType, FunctionType, Type, members, within

if TYPE_CHECKING:
    from saftc.cost.requests import ProgramBounds

# The options of a prompt that bound its requests, with the fields of `Settings` they set.
_BOUNDING = {
    "max_repairs": ("max_repairs",),
    "max_tool_rounds": ("rounds",),
    "max_tool_calls": ("calls", "program_calls"),
}


class Argument(NamedTuple):
    """The argument of a call: an expression, with what is known where it is evaluated."""

    lengths: Lengths
    value: n.Expression
    known: Values


class ScriptBounds:
    """Bounds the prompts and calls of one script."""

    def __init__(self, bounds: "ProgramBounds", facts: Facts, source: Source) -> None:
        self.bounds = bounds
        self.facts = facts
        self.source = source
        self.effects = bounds.effects.of_script(facts)
        self.lengths = Lengths(facts, source, lambda node: "asks" in self.effects.of(node))

    def runs_again(self, loop: Loop) -> Sequence[n.Statement]:
        """The first statements of a loop's body, if an iteration may run them twice.

        They run ahead and may read files that the rest of the body writes.
        """
        may_change = self.effects.of(*loop.body) >= {"asks", "reads", "writes"}
        found = self._plan.loops.get(loop) if isinstance(loop, n.ForStmt) and may_change else None
        ahead, rest = (), ()
        if found is not None:
            ahead, rest = loop.body[: found.cut], loop.body[found.cut :]
        is_early = "reads" in self.effects.of(*ahead) and "writes" in self.effects.of(*rest)
        return ahead if is_early else ()

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.facts, self.bounds.overlapping)

    @cached_property
    def fields(self) -> dict[n.Expression, Fields]:
        """Maps the prompt of each destructuring to the fields that it asks for."""
        return {
            node.value: Fields(
                len(node.fields),
                any(NIL in members(self.facts.schemas[one.schema]) for one in node.fields),
            )
            for node in nodes_of(self.facts.module, n.DestructureStmt)
        }

    def unknown(self, node: n.Node, words: str, advice: str | None = None) -> Bound:
        """An unbounded number of requests, with the reason."""
        return Bound(reasons=(Reason(node, self.source, words, advice),))

    # Prompts

    def settings(self, node: n.Prompt, known: Values) -> Settings | Reason:
        """The settings of a prompt, or the reason why they are unknown."""
        found, options = settings_of(self.bounds.limits), self.options(node.options)
        if options is None:
            assert node.options is not None
            written = self.lengths.written(node.options).shown
            words = f"the options are those of `{written}` when it runs"
            return Reason(node.options, self.source, words, "written in place, they count")
        for name, value in options.items():
            if name == "enforce_schema":
                is_on = isinstance(value, n.Literal) and value.value == "on"
                found = replace(found, is_structured=is_on)
            if name == "check" and self.bounds.may_ask(self._types(value, self.facts)):
                words = f"nothing says how often `{self.lengths.written(value).shown}` asks"
                return Reason(value, self.source, words, "the name of a function bounds it")
            for field in _BOUNDING.get(name, ()):
                found = replace(found, **{field: self.lengths.most(value, known)})
        return found

    def options(self, node: n.Expression | None) -> dict[str, n.Expression] | None:
        """Maps the names of a prompt's options to their expressions.

        Returns None if the names are unknown.
        """
        if isinstance(node, n.Name):
            only = self.lengths.assigned_once.get(self.facts.names.of(node))
            node = node if only is None else only.value
        if not isinstance(node, n.ObjectLiteral | None):
            return None
        found: dict[str, n.Expression] = {}
        for entry in () if node is None else node.fields:
            inner = {entry.key.text: entry.value} if isinstance(entry, n.Field) else None
            if isinstance(entry, n.Spread):
                inner = self.options(entry.value)
            if inner is None:
                return None
            found |= inner
        return found

    def prompt(self, node: n.Prompt, known: Values) -> CallSite:
        """The bound for the requests of a prompt, and of the functions that its model may call."""
        settings = self.settings(node, known)
        if isinstance(settings, Reason):
            return CallSite(node, self.source, Bound(reasons=(settings,)), settings.words)
        called: list[tuple[str, Bound]] = []
        if node.mode == "program":
            own, calls = program_replies(settings), program_calls(settings)
            words = _counted(own, "program")
            if self.facts.prompts.get(node) != PROGRAM:
                functions = self.callable_by(node)
                called = [(one.name.text, self.bounds.of_any_call(one)) for one in functions]
        else:
            is_do, fields, calls = node.mode == "do", self.fields.get(node), tool_calls(settings)
            tools = offered(self.facts, node)
            is_class = any(self.facts.record_of(one.value) is not None for one in node.holes)
            has_tools = is_class or any(map(self._is_tool, tools))
            own = replies(settings, has_tools=has_tools, is_do=is_do, fields=fields)
            words = _asked(settings, is_do, fields, has_tools=has_tools)
            if has_tools:
                called = [(one.name, self._called_value(one.value, one.facts)) for one in tools]
        each = largest(bound for _, bound in called)
        by_calls = each * calls
        if not by_calls.is_zero:
            names = dict.fromkeys(f"`{name}`" for name, one in called if not one.is_zero)
            of = " or ".join(names) or "a function"
            words += f" + {calls.text} calls of {of}, {_each(each)}"
        return CallSite(node, self.source, own + by_calls, words)

    def _is_tool(self, one: OfferedTool) -> bool:
        """Whether a value that a prompt names may be a tool."""
        may_be = ANY not in self._types(one.value, one.facts) or self.bounds.meets_functions
        return one.is_function or (ANY in members(one.type) and may_be)

    def callable_by(self, node: n.Prompt) -> list[n.FunctionDef]:
        """The functions of scripts that the program from a prompt may call."""
        tools = offered(self.facts, node)
        types = [type_ for one in tools for type_ in self._types(one.value, one.facts)]
        conversions = conversions_of(self.facts.module, self.facts).values()
        return [*self.bounds.functions(types), *conversions]

    # Calls

    def builtin(self, name: str, node: n.Node) -> Bound:
        """The bound of a call of a builtin, without the requests of its arguments."""
        if BUILTINS[name].effect in (None, "prints", "reads", "writes"):
            return ZERO
        if name == "run":
            functions, calls = self.bounds.recorded_programs
            return largest(map(self.bounds.of_any_call, functions)) * calls
        return self.unknown(node, f"no rule says what `{name}` asks")

    def call(self, node: n.Call, known: Values) -> CallSite:
        """The bound of a call, without the requests of its arguments."""
        form = self.facts.forms.calls.get(node)
        if isinstance(form, BuiltinCall):
            return self._builtin_call(node, form, known)
        record = self.facts.record_of(node.function)
        if record is not None and record.module is None:
            return CallSite(node, self.source, ZERO, "its rules ask for nothing")
        types = self._types(node.function, self.facts)
        called = [self.bounds.of_function(one) for one in self.bounds.functions(types)]
        bound = largest(self._with_arguments(one, node, known) for one in called)
        bound += self._of_builtins(types, node)
        if not any(isinstance(one, FunctionType) for one in types):
            bound += self._given_away(node)
        words = f"`{self.lengths.written(node.function).shown}`"
        if called and ANY not in types:
            words = " or ".join(dict.fromkeys(f"`{one.name}`" for one in called))
        is_only = len(called) == len(types) == 1
        return CallSite(node, self.source, bound, words, (), called[0] if is_only else None)

    def _builtin_call(self, node: n.Call, form: BuiltinCall, known: Values) -> CallSite:
        bound = self.builtin(form.builtin.name, node)
        if form.by is not None:
            given = form.arguments or tuple(one.value for one in node.arguments)
            each = self._called_value(form.by, self.facts)
            bound += each * self.lengths.size(given[0], known)
        return CallSite(node, self.source, bound, f"`{form.builtin.name}`")

    def _called_value(self, node: n.Expression, facts: Facts) -> Bound:
        """The bound for the requests that one call of a value sends, whatever the arguments are."""
        types = self._types(node, facts)
        each = largest(map(self.bounds.of_any_call, self.bounds.functions(types)))
        return each + self._of_builtins(types, node)

    def _types(self, node: n.Expression, facts: Facts) -> Sequence[Type]:
        """The types of the functions that a value may be, if they are no functions of Python.

        Functions of Python ask nothing.
        """
        types = members(facts.types.get(node, ANY))
        return [one for one in types if one != ANY or not _is_of_python(node, facts)]

    def _of_builtins(self, types: Iterable[Type], node: n.Node) -> Bound:
        """The bound of calling the builtins that a value may be."""
        names = (one.name for one in types if isinstance(one, BuiltinType))
        return sum((self.builtin(name, node) for name in names), ZERO)

    def _given_away(self, node: n.Call) -> Bound:
        """The bound of the calls that an unknown callee may make to functions in its arguments."""
        for one in node.arguments:
            if self.bounds.may_ask(within(self.facts.types.get(one.value, ANY))):
                written = self.lengths.written(one.value).shown
                callee = self.lengths.written(node.function).shown
                return self.unknown(
                    one.value,
                    f"nothing says how often `{callee}` calls `{written}`",
                    "a loop in the script over the same items bounds it",
                )
        return ZERO

    def _with_arguments(self, called: FunctionBound, node: n.Call, known: Values) -> Bound:
        """The bound of a function, with its parameters replaced by the arguments of a call."""
        assert isinstance(called.definition, n.FunctionDef)
        other, parameters = self.bounds.script_of(called.definition), called.definition.parameters
        symbols = {one.name.text: other.facts.names.of(one.name) for one in parameters}
        given = {
            symbols[one.name.text]: Argument(other.lengths, one.default, {})
            for one in parameters
            if one.default is not None
        }
        for parameter, argument in zip(symbols, node.arguments, strict=False):
            name = parameter if argument.name is None else argument.name.text
            if name in symbols:
                given[symbols[name]] = Argument(self.lengths, argument.value, known)
        return self.bounds.outside(called, given)


def _is_of_python(node: n.Expression, facts: Facts) -> bool:
    """Whether an expression is a name imported from Python, or a member of such a name."""
    while isinstance(node, n.Member):
        node = node.value
    symbol = facts.names.of(node) if isinstance(node, n.Name) else None
    if symbol is None or symbol in facts.modules or symbol in facts.imported:
        return False
    return symbol.kind == "import"


def _asked(settings: Settings, is_do: bool, fields: Fields | None, *, has_tools: bool) -> str:
    """The number of replies to a prompt, in words."""
    rounds = rounds_of(settings, has_tools=has_tools, is_do=is_do, fields=fields)
    parts = ["1"]
    if fields is not None and rounds == number(fields.number - 1):
        parts = [_counted(number(fields.number), "field")]
    elif not rounds.is_zero:
        parts = [_counted(rounds, "round"), "1"]
    if not settings.max_repairs.is_zero:
        parts.append(_counted(settings.max_repairs, "repair"))
    return " + ".join(parts)


def _counted(value: Bound, word: str) -> str:
    return f"{value.text} {word}{'' if value == ONE else 's'}"


def _each(bound: Bound) -> str:
    if bound.reasons:
        return "an unknown number each"
    return "which asks once" if bound == ONE else f"{bound.text} each"
