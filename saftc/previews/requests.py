"""Computes the first requests of a script's prompts, without a model and without running it.

    preview(compiled, find)                 a Preview for each prompt, in the order of the text
    preview(compiled, find, on_wire=True)   also has the request in the server's format

The runtime builds the request from the arguments that the compiled module would pass to `prompt`,
as far as they are known: declared types and functions, and literals. A value that is known only at
run time is a hole. Its mark is its source between guillemets: `«mail»`. Prompts in branches that
are never taken are included.
"""

import ast
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import runtime_support
from runtime_support import ops
from runtime_support._core.messages import Request
from runtime_support._core.positions.frames import name_of_place
from runtime_support._core.question import KEPT_OPTIONS, Question, first_request
from runtime_support._core.settings import settings_to_show
from runtime_support._core.templates import Unknown
from runtime_support._core.tools import function_tool
from runtime_support.errors import SaftError
from runtime_support.programs._prompting import ProgramQuestion
from runtime_support.providers._wires.bodies import wrap_schema
from saftc.check.bindings import sole_assignments
from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.codegen import python as py
from saftc.codegen.expressions.builtins import name_in_ops
from saftc.codegen.expressions.prompts import keyword_of, template_of
from saftc.cost.rendering import why_unbounded
from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from saftc.driver import Checked, Compiled
from saftc.infer.programs import conversions_of
from saftc.infer.tools import approved, conversation, function_behind, is_field_of_tools, offered
from saftc.overlap.explanations import Explanation, calls_elsewhere, explanations_of
from saftc.overlap.lone_prompts import LonePrompts
from saftc.overlap.plan import Plan
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.previews.declarations import Declarations, FindModule
from saftc.previews.python_objects import PythonObjects, unknown_in
from saftc.previews.rendering import Enforced, Hole, Preview, Requests
from saftc.project.files import FileProblem
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import ANY, BuiltinType, FunctionType, Scalar, Type, members, within

if TYPE_CHECKING:
    from runtime_support.providers._showing import Sent


def preview(compiled: Compiled, find: FindModule, *, on_wire: bool = False) -> list[Preview]:
    """The previews of the prompts of a compiled script.

    `find` returns a Python module, or a substitute for it, by name. `on_wire` adds the request in
    the server's format, in which holes are written as `{mail}`.
    """
    assert compiled.module is not None
    checked, plan = compiled.checked, compiled.module.plan
    scripts = (checked.facts, *checked.facts.scripts)
    meanings = ChainMap(*(one.imported for one in scripts))
    decided, alone = explanations_of(plan), LonePrompts(plan)
    own = nodes_of(checked.module, n.Prompt)
    overlap = {one: None if plan.is_off else decided.get(one) or alone.of(one) for one in own}
    known = _ScriptContext(Declarations(checked.facts, find), overlap, meanings)
    for facts in scripts:
        assignments = sole_assignments(facts.module, facts.names).items()
        known.constants.update((symbol, one.value) for symbol, one in assignments)
        for symbol, imported in _imports(facts):
            known.imports.setdefault(symbol, []).append(imported)
    place = _places(compiled) if on_wire else None
    requests = _requests(checked)
    return [RequestPreview(checked, known, node, place).preview(requests) for node in own]


def previewed_calls(compiled: Compiled) -> list[Preview]:
    """A preview of each call of a prompting function in another script.

    Such a preview says only how the call overlaps.
    """
    assert compiled.module is not None
    plan, source = compiled.module.plan, compiled.checked.source
    if plan.is_off:
        return []
    decided, alone = explanations_of(plan), LonePrompts(plan)
    return [
        Preview(
            _position_in(source, one),
            "call",
            None,
            (),
            (),
            overlap=_overlap_in_words(decided.get(one) or alone.of(one), source),
        )
        for one in calls_elsewhere(plan.effects, nodes_of(compiled.checked.module, n.Call))
    ]


def overlaps(planned: Plan, source: Source) -> dict[str, str]:
    """Maps the position of each prompt to a text that says whether the prompt overlaps with others.

    If it does not, the text says why, and what to change.
    """
    if planned.is_off:
        return {}
    found, alone = explanations_of(planned), LonePrompts(planned)
    return {
        _position_in(source, one): "; ".join(
            _overlap_in_words(found.get(one) or alone.of(one), source)
        )
        for one in nodes_of(planned.effects.facts.module, n.Prompt)
    }


def _overlap_in_words(found: Explanation, source: Source) -> tuple[str, ...]:
    """The texts on whether a prompt overlaps with others, one for each place that runs it."""
    return tuple(dict.fromkeys(_overlap_at(one, source) for one in (found, *found.elsewhere)))


def _overlap_at(told: Explanation, source: Source) -> str:
    source = told.source or source
    lines = sorted({source.line_of(place.span.start) for place in (told.place, *told.beside)})
    where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    if told.source is not None:
        where += f" of {source.name}"
    kept = "by itself, as" if told.way_out is None else "in order, as"
    how = "asked ahead," if told.may_overlap else kept
    way_out = "" if told.way_out is None else f"; {told.way_out}"
    return f"{how} {told.words} ({where}){way_out}"


def project_bounds(checked: Checked, overlapping: Overlapping = DEFAULT) -> ProgramBounds | None:
    """Upper bounds for a script's requests under the current settings.

    The result is None if a setting is wrong.
    """
    try:
        return ProgramBounds(checked.facts, checked.source, project_limits(), overlapping)
    except SaftError:
        return None


def has_token_budget() -> bool:
    """Whether the current settings limit the tokens or the cost of a run."""
    settings = settings_to_show()
    return settings.budget_tokens is not None or settings.budget_cost is not None


def _requests(checked: Checked) -> Callable[[n.Prompt], Requests | None]:
    """Returns a function that maps a prompt to the bounds on its requests.

    That function returns None if a setting is wrong.
    """
    bounds = project_bounds(checked)
    if bounds is None:
        return lambda _node: None

    def told(node: n.Prompt) -> Requests:
        piece = bounds.of_prompt(node)
        if piece.bound.reasons:
            return Requests(None, why_unbounded(piece.bound, checked.source))
        return Requests(piece.bound.shown, piece.words)

    return told


def _places(compiled: Compiled) -> Callable[[n.Prompt], str]:
    """Returns a function that maps a prompt to its place, in the form that requests contain."""
    assert compiled.module is not None
    text, name = compiled.module.text, compiled.checked.source.name
    mappings = compiled.module.origins.map(text)
    tops = [
        one
        for one in ast.parse(text).body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]

    def place(node: n.Prompt) -> str:
        start, end = node.span.start, node.span.end
        around = (one for one in mappings if one.span.start <= start and end <= one.span.end)
        nearest = min(around, key=lambda one: one.span.end - one.span.start, default=None)
        line = 0 if nearest is None else nearest.line
        within = (one.name for one in tops if one.lineno <= line <= (one.end_lineno or 0))
        return name_of_place(name, next(within, ""))

    return place


def description(facts: Facts, function: n.FunctionDef, find: FindModule) -> dict[str, Any] | None:
    """The description of a function as a tool, in the form in which models get it.

    The result is None if the function cannot be a tool.
    """
    declared = Declarations(facts, find).function(function)
    try:
        return function_tool(function.name.text, declared).description()["function"]
    except SaftError:
        return None


# A module and a name in it, or "" for the module itself.
_Imported = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _ScriptContext:
    """Facts about the script and its imports that the previews of all prompts share.

    These are the declarations, the prompts that overlap, the origins of imported names, and the
    names that are bound only once.
    """

    declared: Declarations
    overlap: Mapping[n.Prompt, Explanation | None]
    meanings: Mapping[Symbol, Symbol]
    constants: dict[Symbol, n.Expression] = field(default_factory=dict[Symbol, n.Expression])
    imports: dict[Symbol, list[_Imported]] = field(default_factory=dict[Symbol, "list[_Imported]"])


def _imports(facts: Facts) -> Iterator[tuple[Symbol, _Imported]]:
    """Yields each name imported from Python, with its module and its name in the module.

    A name may occur more than once: `import a.b` and `import a.c` both bind `a`.
    """
    for node in nodes_of(facts.module, n.ImportStmt, n.FromImport):
        module, is_script = facts.module_behind(node.module), node.module in facts.named_scripts
        if isinstance(node, n.FromImport):
            for one in node.names:
                if not is_script and one.name not in facts.named_scripts:
                    yield facts.names.of(one.alias or one.name), (module, one.name.text)
        elif not is_script:
            symbol = facts.names.of(node.alias or node.module)
            yield symbol, (module, "")
            if node.alias is None:  # `import a.b` binds `a`
                yield symbol, (module.partition(".")[0], "")


# The value of an option in the conversation that no prompt sets.
_NOT_SET = object()


class _NotKnown(Exception):
    """Raised if the value of an expression is known only at run time."""


class RequestPreview:
    """Builds the preview of one prompt. `place` is needed only for the server's format."""

    def __init__(
        self,
        checked: Checked,
        known: _ScriptContext,
        node: n.Prompt,
        place: Callable[[n.Prompt], str] | None,
    ) -> None:
        self.source: Source = checked.source
        self.facts = checked.facts
        self.known = known
        self.node = node
        self.place = place
        self.holes: list[Hole] = []
        self.notes: list[str] = []

    def preview(self, requests: "Callable[[n.Prompt], Requests | None]") -> Preview:
        request: Request | None = None
        on_wire: Sent | None = None
        error: str | None = None
        if self.node.after is not None:
            self._note(f"the conversation of `{self._written(self.node.after)}` goes before it")
        self._note_waiting()
        try:
            question = self._question()
            request = first_request(question)
            if self.place is not None:
                from runtime_support.providers._showing import preview_request  # loads what sends

                named = self.place(self.node)
                on_wire = preview_request(question, named, is_streamed=self.node.is_streamed)
        except SaftError as problem:
            error = str(problem)
        position, mode = self._position(self.node), self.node.mode
        holes, notes = tuple(self.holes), tuple(self.notes)
        sent = None if request is None else request.canonical()
        enforced = None if request is None else _enforced(request, mode)
        told = self.known.overlap[self.node] if error is None else None
        overlap = () if told is None else _overlap_in_words(told, self.source)
        most = requests(self.node) if error is None else None
        return Preview(position, mode, sent, holes, notes, error, overlap, enforced, on_wire, most)

    def _note_waiting(self) -> None:
        """Adds notes on the tools that wait for approval, and on tools that may wait."""
        tools = offered(self.facts, self.node)
        is_program = self.node.mode == "program"
        what, waits = ("a program with calls", "waits") if is_program else ("calls", "wait")
        waiting = list(dict.fromkeys(one.name for one in tools if one.waits == "yes"))
        if waiting:
            names = " and of ".join(f"`{name}`" for name in waiting)
            self._note(f"{what} of {names} {waits} for approval")
        unknown = (one.name for one in tools if one.waits == "unknown" and one.is_function)
        for name in dict.fromkeys(unknown):
            self._note(f"whether calls of `{name}` wait for approval is known when the script runs")

    def _question(self) -> Question:
        names: dict[str, object] = {}
        values: list[object] = []
        holes: dict[n.Hole, str] = {}
        for part in self.node.parts:
            if not isinstance(part, n.Hole):
                continue
            value = approved(self.facts, part.value) or part.value
            if isinstance(value, n.Name):
                holes[part] = keyword_of(value.text)
                names[holes[part]] = self._value(value)
            else:
                values.append(self._value(value))
        template = template_of(self.node, holes)
        kind = Question
        if self.node.mode == "program":
            kind = partial(ProgramQuestion, conversions=self._conversions())
        return kind(
            # As in scripts, the `$` of a prompt of several lines have lines of their own.
            template=f"\n{template}\n" if "\n" in template else template,
            values=tuple(values),
            names=names,
            returns=self._type(self.facts.prompts[self.node]),
            fields=self._fields(),
            rounds=1 if self.node.mode == "do" else None,
            options={**self._conversation_options(), **self._options()},
            tools=tuple(self._tools()),
        )

    def _type(self, type_: Type) -> Any:
        """The requested type as a Python object. Adds notes on the type's unknown parts."""
        declared = self.known.declared
        for one in within(type_):
            self._note_unknown(declared.unknown_in(one))
        return declared.type_(type_)

    def _fields(self) -> dict[str, Any] | None:
        """Maps the names of a destructuring's fields to their types, with their doc comments.

        The result is None if the prompt's value is not destructured.
        """
        for one in nodes_of(self.facts.module, n.DestructureStmt):
            if one.value is self.node:
                for field in one.fields:
                    self._type(self.facts.schemas[field.schema])
                return self.known.declared.fields(one)
        return None

    def _conversions(self) -> list[Any]:
        definitions = conversions_of(self.facts.module, self.facts).values()
        return [self.known.declared.function(one) for one in definitions]

    # Values

    def _value(self, node: n.Expression) -> object:
        """The value of a hole: a function, the value of a literal, or a mark."""
        behind = function_behind(self.facts, node)
        if behind.is_approved and behind.facts is self.facts:
            node = behind.value
        types = members(self.facts.type_of(node))
        functions = [one for one in types if isinstance(one, FunctionType | BuiltinType)]
        if len(functions) == len(types) == 1:
            return self._function(functions[0])
        if functions and len(functions) == len(types):
            return self._one_of(node, functions)
        record = self.facts.record_of(node)
        if record is not None:
            return self._class(node, record.type)
        if self._is_from_python(node):
            return self._from_python(node)
        media = {one.kind for one in types if isinstance(one, Scalar)} & {"image", "file"}
        if media and len(types) == len(media):
            return self._media(node, "file" if "file" in media else "image")
        try:
            return _literal(node)
        except _NotKnown:
            may_be_function = bool(functions) or ANY in types
            return Unknown(self._hole(node, may_be_function=may_be_function))

    def _tools(self) -> Iterator[tuple[str, object]]:
        """Yields the names and functions of the tools that only the option `tools` offers."""
        shown = {approved(self.facts, hole.value) or hole.value for hole in self.node.holes}
        for one in offered(self.facts, self.node):
            if one.value in shown:
                continue
            if isinstance(one.type, FunctionType | BuiltinType):
                yield one.name, self._function(one.type)
                continue
            behind = function_behind(one.facts, one.value)
            is_python = behind.facts is self.facts and self._is_from_python(behind.value)
            value = self._from_python(behind.value, is_tool=one.is_function) if is_python else None
            if one.is_function:
                yield one.name, value if callable(value) else Unknown(one.name, "function")
            else:
                self._note(f"`{one.name}` is a tool as well, if it is a function")

    def _function(self, type_: FunctionType | BuiltinType) -> object:
        if isinstance(type_, FunctionType):
            return self.known.declared.function(type_.definition)
        if hasattr(runtime_support, type_.name):
            return getattr(runtime_support, type_.name)
        return getattr(ops, name_in_ops(type_.name))

    def _one_of(self, node: n.Expression, functions: list[FunctionType | BuiltinType]) -> Unknown:
        names = (f"`approve({one.name})`" if one.waits else f"`{one.name}`" for one in functions)
        self._note(f"`{self._written(node)}` is the function {' or '.join(names)}")
        return Unknown(self._hole(node), "function")

    def _media(self, node: n.Expression, kind: Literal["image", "file"]) -> Unknown:
        mark = self._hole(node)
        if kind == "file":
            self._note(f"{mark} is sent as what it is: a file, a sound, a picture or text")
        return Unknown(mark, kind)

    def _class(self, node: n.Expression, type_: Type) -> object:
        self._note_unknown(self.known.declared.unknown_in(type_))
        class_ = self.known.declared.type_(type_)
        return Unknown(self._hole(node), "function") if class_ is Any else class_

    def _from_python(self, node: n.Expression, *, is_tool: bool = False) -> object:
        try:
            value = self._found_in_python(node)
        except AttributeError:
            if not isinstance(self.known.declared.find, PythonObjects):
                raise FileProblem(
                    f"{self._position(node)}: the Python module has no `{self._written(node)}`"
                ) from None
            self._note_unknown([f"`{self._written(node)}`"])
            if is_tool:
                return None
            return Unknown(self._hole(node, may_be_function=True))
        self._note_unknown(unknown_in(value))
        return value if callable(value) else Unknown(self._hole(node))

    def _found_in_python(self, node: n.Expression) -> object:
        """The object that an imported name, or a member of it, refers to.

        Raises:
            AttributeError: There is no such object.
        """
        if isinstance(node, n.Member):
            return getattr(self._found_in_python(node.value), py.field_name(node.name.text))
        assert isinstance(node, n.Name)
        value: object = None
        for module, name in self.known.imports[self._symbol(node)]:
            value = self.known.declared.find(module)
            if name:
                value = getattr(value, py.field_name(name))
        return value

    def _symbol(self, node: n.Name) -> Symbol:
        """The symbol that a name has in the script that defines the name."""
        symbol = self.facts.names.of(node)
        while (meaning := self.known.meanings.get(symbol)) is not None:
            symbol = meaning
        return symbol

    def _is_from_python(self, node: n.Expression) -> bool:
        """Whether an expression is a name imported from Python, or a member of such a name."""
        while isinstance(node, n.Member):
            node = node.value
        if not isinstance(node, n.Name):
            return False
        return self._symbol(node) in self.known.imports

    # Options

    def _options(self) -> dict[str, object]:
        """The values of the prompt's options. Adds notes on options whose names are unknown."""
        written = self.node.options
        if written is None:
            return {}
        if isinstance(written, n.Name) and self._object(written) is None:
            self._note(f"the options are those of `{written.text}` when it runs")
            return {}
        return self._options_in(written)

    def _conversation_options(self) -> dict[str, object]:
        """The options that this prompt inherits from its conversation."""
        found: dict[str, object] = {}
        for name in KEPT_OPTIONS if self.node.after is not None else ():
            values = self._kept(name, self.node, set())
            if len(values) > 1 or _NOT_SET not in values:
                written = self._written(self.node.after) if self.node.after is not None else ""
                (value,) = values if len(values) == 1 else (None,)
                if value is None:
                    self._note(f"`{name}` is that of `{written}`, where it was set")
                else:
                    found[name] = value
        return found

    def _kept(self, name: str, node: n.Prompt, seen: set[n.Prompt]) -> set[object]:
        """The possible values of an option that a prompt inherits from earlier prompts."""
        seen.add(node)
        if node.after is None:
            return {_NOT_SET}
        known = conversation(self.facts, node.after)
        if known is None:
            return {_NOT_SET}
        found = set[object]()
        for one in known:
            if one not in seen:
                own = {} if one.options is None else self._options_in(one.options)
                found |= {own[name]} if name in own else self._kept(name, one, seen)
        return found

    def _options_in(self, node: n.Expression) -> dict[str, object]:
        found: dict[str, object] = {}
        written = self._object(node)
        for entry in () if written is None else written.fields:
            match entry:
                case n.Field() if is_field_of_tools(entry):
                    pass
                case n.Field():
                    found[entry.key.text] = self._option(entry.value)
                case n.Spread() if self._object(entry.value) is not None:
                    found |= self._options_in(entry.value)
                case n.Spread() | n.ComputedField():
                    self._note(f"`{self._written(entry)}` is an option when it runs")
        return found

    def _object(self, node: n.Expression) -> n.ObjectLiteral | None:
        """The object literal that an expression is, or that the expression's name is bound to.

        The result is None for other expressions.
        """
        if isinstance(node, n.Name):
            constant = self.known.constants.get(self._symbol(node))
            return constant if isinstance(constant, n.ObjectLiteral) else None
        return node if isinstance(node, n.ObjectLiteral) else None

    def _option(self, node: n.Expression) -> object:
        try:
            return _literal(node, self._constant)
        except _NotKnown:
            return Unknown(self._hole(node))

    def _constant(self, node: n.Name) -> n.Expression | None:
        return self.known.constants.get(self._symbol(node))

    # Marks

    def _hole(self, node: n.Expression, *, may_be_function: bool = False) -> str:
        written = self._written(node)
        texts = [part.text for part in self.node.parts if isinstance(part, n.PromptText)]
        before, behind = "«»" if self.place is None else "{}"
        mark = f"{before}{written}{behind}"
        while any(mark in text for text in texts):
            mark = f"{before}{mark}{behind}"
        self.holes.append(Hole(mark, written, self._position(node), may_be_function))
        if may_be_function:
            self._note(
                f"{mark} is a tool's name instead, if it is a function; "
                "its calls wait for approval if `approve` made it"
            )
        return mark

    def _note_unknown(self, parts: Iterable[str]) -> None:
        for one in parts:
            self._note(f"{one} is known when its Python module runs: see --import")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _written(self, node: n.Node) -> str:
        return " ".join(self.source.at(node.span).split())

    def _position(self, node: n.Node) -> str:
        return _position_in(self.source, node)


def _position_in(source: Source, node: n.Node) -> str:
    line, column = source.position(node.span.start)
    return f"{source.name}:{line}:{column}"


def _enforced(request: Request, mode: str) -> Enforced | None:
    """How far a server can enforce the type that a request asks for."""
    if request.schema is None:
        return None
    losses = request.losses
    if not request.is_strict and not losses:
        losses = ("it is a program",) if mode == "program" else ("it is not all known",)
    is_wrapped = wrap_schema(request.schema) != request.schema
    return Enforced(request.is_strict, losses, is_wrapped)


def _literal(
    node: n.Expression, constant: Callable[[n.Name], n.Expression | None] = lambda _name: None
) -> object:
    """The value of an expression made of literals and of names that `constant` resolves."""
    match node:
        case n.Literal(value=value):
            return value
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as number)):
            return -number
        case n.ListLiteral(items=items):
            found: list[object] = []
            for item in items:
                if isinstance(item, n.Spread):
                    raise _NotKnown
                found.append(_literal(item, constant))
            return found
        case n.TupleLiteral(items=items):
            return tuple(_literal(item, constant) for item in items)
        case n.ObjectLiteral(named=named) if len(named) == len(node.fields):
            return {field.key.text: _literal(field.value, constant) for field in named}
        case n.Name() if (value := constant(node)) is not None:
            return _literal(value, constant)
        case _:
            raise _NotKnown
