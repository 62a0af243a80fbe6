"""One of the scripts: what a prompt and a call in it ask, whatever is gone through."""

from collections.abc import Set
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Protocol

from saftc.bounds.algebra import ONE, ZERO, Measure, Polynomial, measured, number
from saftc.bounds.bound import (
    NOTHING,
    Bound,
    FunctionBound,
    Piece,
    Reason,
    each_once,
    largest_bound,
)
from saftc.bounds.rules import (
    Fields,
    Limits,
    Settings,
    program_calls,
    program_replies,
    replies,
    rounds_of,
    settings_of,
    tool_calls,
)
from saftc.bounds.values import Known, Reader, Value
from saftc.bounds.written import Written
from saftc.schedule.effects import Effects
from saftc.schedule.plan import Ahead, Plan
from saftc.semantics.builtins import BUILTINS
from saftc.semantics.constants import constants_of
from saftc.semantics.facts import Facts
from saftc.semantics.forms import BuiltinCall
from saftc.semantics.names import Symbol
from saftc.semantics.programs import conversions_of
from saftc.semantics.tools import Offered, offered
from saftc.semantics.types import (
    ANY,
    NIL,
    PROGRAM,
    BuiltinType,
    FunctionType,
    ObjectType,
    Type,
    members,
    within,
)
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# The builtins that are not pure, and ask for nothing.
_ASK_FOR_NOTHING = frozenset(
    {"print", "write", "read_text", "list_files", "write_text", "append_text", "input", "env"}
    | {"read", "image", "file", "now", "today"}
)
# The options of a prompt that bound its requests.
_BOUNDING = ("max_repairs", "max_tool_rounds", "max_tool_calls", "enforce_schema")
A_BUDGET = "a budget of the run (`--budget-requests`) bounds it"


class Whole(Protocol):
    """What is known of all the scripts together; see `Bounds`."""

    limits: Limits

    def meets_functions(self) -> bool: ...

    def kept_programs(self) -> tuple[list[n.FunctionDef], Polynomial]: ...

    def of_function(self, definition: n.FunctionDef) -> FunctionBound: ...

    def of_any(self) -> Bound: ...

    def script_of(self, definition: n.FunctionDef) -> "Script": ...

    def plan_of(self, facts: Facts) -> Plan: ...

    def effects_of(self, facts: Facts) -> Effects: ...


class _Tool(NamedTuple):
    """A value on offer: whether it may be a tool, and what a call of it asks."""

    name: str
    is_tool: bool
    bound: Bound


class Script:
    """One of the scripts: what is asked in it, whatever is gone through."""

    def __init__(self, bounds: Whole, facts: Facts, source: Source) -> None:
        self.bounds = bounds
        self.facts = facts
        self.source = source
        self.effects = bounds.effects_of(facts)
        self.reader = Reader(facts, source, constants_of(facts), self._result, self._asks)
        self._calling: set[n.Call] = set()

    def ahead(self, loop: n.ForStmt | n.WhileStmt) -> Ahead | None:
        """What of a loop runs ahead, where it may read what the loop writes."""
        may_change = self.effects.of(*loop.body) >= {"asks", "reads", "writes"}
        is_for = isinstance(loop, n.ForStmt)
        return self._plan.loops.get(loop) if is_for and may_change else None

    @cached_property
    def _plan(self) -> Plan:
        return self.bounds.plan_of(self.facts)

    @cached_property
    def fields(self) -> dict[n.Expression, Fields]:
        """What is asked for by the prompts of destructurings."""
        return {
            node.value: Fields(
                len(node.fields),
                any(NIL in members(self.facts.schemas[one.schema]) for one in node.fields),
            )
            for node in nodes_of(self.facts.module, n.DestructureStmt)
        }

    def unknown(self, node: n.Node, words: str, advice: str | None = None) -> Bound:
        """A bound that there is not."""
        return Bound(ZERO, (Reason(node, self.source, words, advice),))

    # Prompts

    def settings(self, node: n.Prompt, known: Known) -> Settings | Reason:
        """The settings of a prompt, or why they are not known."""
        found = settings_of(self.bounds.limits)
        if node.options is None:
            return found
        given = self._options(node.options, known)
        if given is None:
            written = self.reader.written(node.options, known).shown
            words = f"the options are those of `{written}` when it runs"
            return Reason(node.options, self.source, words, "written in place they count")
        return Settings(
            given["max_repairs"].count if "max_repairs" in given else found.max_repairs,
            given["max_tool_rounds"].count if "max_tool_rounds" in given else found.rounds,
            given["max_tool_calls"].count if "max_tool_calls" in given else found.calls,
            given["max_tool_calls"].count if "max_tool_calls" in given else found.program_calls,
            found.is_structured
            if "enforce_schema" not in given
            else _is_on(given["enforce_schema"]),
        )

    def names_options(self, node: n.Prompt, names: Set[str]) -> bool:
        """Whether a prompt has one of these options, or may have."""
        if node.options is None:
            return False
        written = node.options
        if isinstance(written, n.Name):
            constant = self.reader.constant(self.facts.names.of(written))
            if not isinstance(constant, n.ObjectLiteral):
                return True
            written = constant
        return any(not isinstance(o, n.Field) or o.key.text in names for o in written.fields)

    def _options(self, node: n.Expression, known: Known) -> dict[str, Value] | None:
        """The options that bound requests; None where it is not known which are given."""
        if isinstance(node, n.Name):
            constant = self.reader.constant(self.facts.names.of(node))
            if isinstance(constant, n.ObjectLiteral):
                return self._options(constant, {})
        if not isinstance(node, n.ObjectLiteral):
            return self._options_by_type(node, known)
        found: dict[str, Value] = {}
        for entry in node.fields:
            if isinstance(entry, n.Field):
                if entry.key.text in _BOUNDING:
                    found[entry.key.text] = self.reader.value(entry.value, known)
                continue
            inner = self._options(entry.value, known) if isinstance(entry, n.Spread) else None
            if inner is None:
                return None
            found |= inner
        return found

    def _options_by_type(self, node: n.Expression, known: Known) -> dict[str, Value] | None:
        type_ = self.facts.types.get(node, ANY)
        if not isinstance(type_, ObjectType):
            return None
        written = self.reader.written(node, known)
        return {
            name: Value(Written((*written.parts, f".{name}")))
            for name in _BOUNDING
            if type_.field(name) is not None
        }

    def prompt(self, node: n.Prompt, known: Known) -> Piece:
        """The requests of a prompt itself, and of the functions that its model may call."""
        settings = self.settings(node, known)
        if isinstance(settings, Reason):
            return Piece(node, self.source, Bound(ZERO, (settings,)), settings.words)
        if node.mode == "program":
            return self._program(node, settings)
        tools = [self._tool(one) for one in offered(self.facts, node)]
        is_class = any(self.facts.record_of(one.value) is not None for one in node.holes)
        has_tools = is_class or any(one.is_tool for one in tools)
        fields = self.fields.get(node)
        own = Bound(replies(settings, has_tools=has_tools, is_do=node.mode == "do", fields=fields))
        words = _asked(settings, node.mode == "do", fields, has_tools=has_tools)
        names = [one.name for one in tools if not one.bound.is_zero]
        each = largest_bound(one.bound for one in tools)
        called = each.times(tool_calls(settings)) if has_tools else NOTHING
        if not called.is_zero:
            of = " or ".join(dict.fromkeys(f"`{name}`" for name in names))
            words += f" + {tool_calls(settings).text} calls of {of}, {_each(each)}"
        return Piece(node, self.source, own + called, words)

    def _tool(self, one: Offered) -> _Tool:
        """What a call of a value asks that may be a tool."""
        bounds, is_tool = list[Bound](), one.is_function
        for type_ in members(one.type):
            match type_:
                case FunctionType(definition=definition):
                    is_tool = True
                    bounds.append(self.without_parameters(definition))
                case BuiltinType():
                    is_tool = True
                    bounds.append(self.builtin(type_.name, one.value))
                case _ if type_ == ANY and _is_of_python(one.facts, one.value):
                    is_tool = True  # Python's asks for nothing
                case _ if type_ == ANY and self.bounds.meets_functions():
                    is_tool = True
                    bounds.append(self.bounds.of_any())
                case _:
                    pass
        return _Tool(one.name, is_tool, largest_bound(bounds))

    def _program(self, node: n.Prompt, settings: Settings) -> Piece:
        own = program_replies(settings)
        words = _further(own)
        if self.facts.prompts.get(node) == PROGRAM:
            return Piece(node, self.source, Bound(own), words)
        functions = self.callable_by(node)
        each = largest_bound(self.without_parameters(one) for one in functions)
        if any(ANY in members(one.type) for one in offered(self.facts, node)):
            each = largest_bound((each, self.bounds.of_any()))
        if each.is_zero:
            return Piece(node, self.source, Bound(own), words)
        calls = program_calls(settings)
        asking = [one for one in functions if not self.without_parameters(one).is_zero]
        of = " or ".join(dict.fromkeys(f"`{one.name.text}`" for one in asking))
        words += f" + {calls.text} calls of {of or 'a function'}, {_each(each)}"
        return Piece(node, self.source, Bound(own) + each.times(calls), words)

    def callable_by(self, node: n.Prompt) -> list[n.FunctionDef]:
        """The functions of scripts that a program may call which answers a prompt."""
        found = [
            member.definition
            for one in offered(self.facts, node)
            for member in members(one.type)
            if isinstance(member, FunctionType)
        ]
        return [*found, *conversions_of(self.facts.module, self.facts).values()]

    # Calls

    def builtin(self, name: str, node: n.Node) -> Bound:
        """What a call of a builtin asks, beside what it is given asks."""
        known = BUILTINS[name]
        if known.is_pure or name in _ASK_FOR_NOTHING:
            return NOTHING
        if name == "run":
            functions, calls = self.bounds.kept_programs()
            each = largest_bound(self.without_parameters(one) for one in functions)
            return each.times(calls)
        return self.unknown(node, f"no rule says what `{name}` asks")

    def call(self, node: n.Call, known: Known) -> Piece | None:
        """What a call asks, beside what its parts ask; None where that is nothing."""
        form = self.facts.forms.calls.get(node)
        if isinstance(form, BuiltinCall):
            bound = self.builtin(form.builtin.name, node)
            if form.by is not None:
                given = form.arguments or tuple(one.value for one in node.arguments)
                each = self._called_value(form.by)
                bound += each.times(self.reader.value(given[0], known).size)
            return self._piece(node, bound, f"`{form.builtin.name}`")
        record = self.facts.record_of(node.function)
        if record is not None and record.module is None:
            return None  # its rules ask for nothing
        bounds, words, called = list[Bound](), list[str](), None
        for type_ in members(self.facts.types.get(node.function, ANY)):
            if isinstance(type_, FunctionType):
                called = self.bounds.of_function(type_.definition)
                bounds.append(self._with_arguments(called, node, known))
                words.append(f"`{called.name}`")
            else:
                bounds.append(self._of_type(type_, node.function))
        bound = largest_bound(bounds)
        if not words:
            bound += self._given_away(node)
        written = self.reader.written(node.function, {}).shown
        text = " or ".join(dict.fromkeys(words)) or f"`{written}`"
        return self._piece(node, bound, text, called if len(bounds) == 1 else None)

    def _piece(
        self, node: n.Node, bound: Bound, words: str, called: FunctionBound | None = None
    ) -> Piece | None:
        return None if bound.is_zero else Piece(node, self.source, bound, words, (), called)

    def _of_type(self, type_: Type, node: n.Expression) -> Bound:
        """What a call asks of a value that is not a known function."""
        match type_:
            case BuiltinType(name=name):
                return self.builtin(name, node)
            case _ if type_ == ANY and not _is_of_python(self.facts, node):
                return self.bounds.of_any()
            case _:
                return NOTHING  # Python's, or a record: its rules ask for nothing

    def _called_value(self, node: n.Expression) -> Bound:
        """What one call of a value asks, whatever it is given."""
        return largest_bound(
            self.without_parameters(type_.definition)
            if isinstance(type_, FunctionType)
            else self._of_type(type_, node)
            for type_ in members(self.facts.types.get(node, ANY))
        )

    def _given_away(self, node: n.Call) -> Bound:
        """What may be asked by what is called and nobody knows, with the functions it is given."""
        for one in node.arguments:
            type_ = self.facts.types.get(one.value, ANY)
            for inner in within(type_):
                asked = NOTHING
                if isinstance(inner, FunctionType):
                    asked = self.bounds.of_function(inner.definition).bound
                elif inner == ANY:
                    asked = self.bounds.of_any()
                if not asked.is_zero:
                    written = self.reader.written(one.value, {}).shown
                    callee = self.reader.written(node.function, {}).shown
                    return self.unknown(
                        one.value,
                        f"nothing says how often `{callee}` calls `{written}`",
                        "a loop of the script over the same items bounds it",
                    )
        return NOTHING

    def _with_arguments(self, called: FunctionBound, node: n.Call, known: Known) -> Bound:
        """The bound of a function with the arguments of a call in the place of its parameters."""
        if called.bound.most.number is not None:
            return called.bound
        given = self._arguments(called.definition, node, known)
        most, reasons = self._replaced(called, called.bound.most, given, known)
        return Bound(most, each_once(called.bound.reasons, reasons))

    def _arguments(
        self, definition: n.FunctionDef | n.Module, node: n.Call, known: Known
    ) -> dict[Symbol, Value]:
        """What the parameters of a function are in a call of it."""
        assert isinstance(definition, n.FunctionDef)
        other = self.bounds.script_of(definition)
        names = other.facts.names
        found: dict[Symbol, Value] = {}
        for one in definition.parameters:
            if one.default is not None:
                found[names.of(one.name)] = other.reader.value(one.default, {})
        for position, argument in enumerate(node.arguments):
            if argument.name is None:
                taking = definition.parameters[position : position + 1]
            else:
                text = argument.name.text
                taking = [one for one in definition.parameters if one.name.text == text]
            for one in taking:
                found[names.of(one.name)] = self.reader.value(argument.value, known)
        return found

    def _replaced(
        self, called: FunctionBound, most: Polynomial, given: Known, known: Known
    ) -> tuple[Polynomial, list[Reason]]:
        """A formula of a function in the words of its caller, and the reasons where it has none."""
        reasons: list[Reason] = []

        def written(symbol: Symbol) -> Written | None:
            value = given.get(symbol) or known.get(symbol)
            return None if value is None else value.written

        def meaning(measure: Measure) -> Polynomial:
            parts = measure.of.parts
            if len(parts) == 1 and isinstance(parts[0], Symbol):
                value = given.get(parts[0]) or known.get(parts[0])
                if value is not None:
                    return value.size if measure.kind == "len" else value.count
            inner = self._inner(called, measure)
            if inner is None:
                return measured(replace(measure, of=measure.of.replaced(written)))
            reasons.append(inner)
            return ZERO

        return most.replaced(meaning), reasons

    def _inner(self, called: FunctionBound, measure: Measure) -> Reason | None:
        """Why a measure of a function says nothing elsewhere, if so."""
        advice = _advice(measure)
        for made in measure.of.made:
            return Reason(made.node, made.source, f"`{measure.text}` {made.words}", advice)
        assert isinstance(called.definition, n.FunctionDef)
        other = self.bounds.script_of(called.definition)
        scope = other.facts.names.scopes[called.definition]
        for symbol in measure.of.symbols:
            own = symbol.scope is not None and scope in symbol.scope.around()
            if own and symbol.kind != "parameter" and symbol.node is not None:
                words = f"`{measure.text}` is known only when `{called.name}` runs"
                return Reason(symbol.node, other.source, words, advice)
        return None

    def without_parameters(self, definition: n.FunctionDef) -> Bound:
        """The most that a call of a function asks, whatever it is given."""
        called = self.bounds.of_function(definition)
        names = self.bounds.script_of(definition).facts.names
        own = {names.of(one.name) for one in definition.parameters}
        reasons = list[Reason]()

        def meaning(measure: Measure) -> Polynomial:
            inner = self._inner(called, measure)
            chosen = [one for one in measure.of.symbols if one in own]
            if inner is None and chosen:
                words = f"`{measure.text}` depends on the caller of `{called.name}`"
                source = self.bounds.script_of(definition).source
                inner = Reason(definition.name, source, words, _advice(measure))
            if inner is None:
                return measured(measure)
            reasons.append(inner)
            return ZERO

        most = called.bound.most.replaced(meaning)
        return Bound(most, each_once(called.bound.reasons, reasons))

    # Values

    def _result(self, node: n.Call, known: Known) -> Value | None:
        """What is known of the value of a call of a function."""
        type_ = self.facts.types.get(node.function, ANY)
        if not isinstance(type_, FunctionType) or node in self._calling:
            return None
        self._calling.add(node)
        try:
            called = self.bounds.of_function(type_.definition)
            if called.value is None:
                return None
            given = self._arguments(called.definition, node, known)
            written = self.reader.written(node, known)
            found = {"length": called.value.length, "number": called.value.number}
            for name, formula in found.items():
                # What is not known of its parameters alone shows itself, and not its inside.
                if formula is None or any(len(one.of.parts) > 1 for one in formula.measures()):
                    found[name] = None
                else:
                    most, reasons = self._replaced(called, formula, given, known)
                    found[name] = None if reasons else most
            return Value(written, found["length"], found["number"], least=called.value.least)
        finally:
            self._calling.discard(node)

    def _asks(self, node: n.Expression) -> bool:
        return "asks" in self.effects.of(node)


def _is_of_python(facts: Facts, node: n.Expression) -> bool:
    """Whether it is an imported name that is not a variable of a script, or a member of one."""
    if isinstance(node, n.Member) and facts.member_of_module(node) is not None:
        return False
    if isinstance(node, n.Name):
        meant = facts.imported.get(facts.names.of(node))
        if meant is not None and meant.kind == "variable":
            return False
    return facts.is_imported(node)


def _is_on(value: Value) -> bool:
    return value.written.text == '"on"'


def _advice(measure: Measure) -> str:
    if measure.kind == "len":
        return f"a slice bounds it: `{measure.of.shown}[:10]`"
    return f"a smaller number bounds it: `min({measure.of.shown}, 10)`"


def _asked(settings: Settings, is_do: bool, fields: Fields | None, *, has_tools: bool) -> str:
    """How many replies a prompt takes, in words."""
    rounds = rounds_of(settings, has_tools=has_tools, is_do=is_do, fields=fields)
    parts = ["1"]
    if fields is not None and rounds == number(fields.number - 1):
        parts = [_counted(number(fields.number), "field")]
    elif not rounds.is_zero:
        parts = [_counted(rounds, "round"), "1"]
    if not settings.max_repairs.is_zero:
        parts.append(_counted(settings.max_repairs, "repair"))
    return " + ".join(parts)


def _counted(value: Polynomial, word: str) -> str:
    return f"{value.text} {word}{'' if value == ONE else 's'}"


def _further(replies: Polynomial) -> str:
    return _counted(replies, "program")


def _each(bound: Bound) -> str:
    if bound.reasons:
        return "an unknown number each"
    return "which asks once" if bound.most == ONE else f"{bound.most.text} each"
