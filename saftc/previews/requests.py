"""The requests of a script's prompts, known without a model and without running the script.

    preview(compiled, modules)      a Preview for each prompt, in the order of the text

What the compiled module would pass to `prompt` is given to the runtime as far as it is known: types
and functions as the module declares them, literals as they are. A value that is known only when the
script runs is a hole, and its source between guillemets marks its place: `«mail»`. Since the module
itself is what is read, a prompt in a branch that is never taken is shown like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import libcst as cst

import runtime_support
from runtime_support import _asking, ops
from runtime_support._templates import Unknown
from runtime_support._tools import function_tool
from runtime_support.errors import SaftError
from runtime_support.programs import _prompting
from saftc.codegen.builtins import name_in_ops
from saftc.codegen.layout import code_of
from saftc.codegen.module import Generated
from saftc.codegen.prompts import template_of
from saftc.driver import Checked, Compiled
from saftc.previews.declarations import Declarations, FindModule, nothing
from saftc.previews.rendering import Hole, Preview
from saftc.previews.scripts import DeclaredScripts
from saftc.project.files import FileProblem
from saftc.project.scripts import Modules
from saftc.schedule.telling import Told, told
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, BuiltinType, FunctionType, Scalar, members
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


def preview(compiled: Compiled, modules: Modules, find: FindModule = nothing) -> list[Preview]:
    """The prompts of a compiled script, whose siblings are found through `modules`.

    `find` gives the Python modules that it imports, as far as their functions are to be known.
    """
    scripts = DeclaredScripts(modules, find)
    declared = scripts.of(compiled, compiled.checked.source.name)
    known = _Known(reads_python=find is not nothing)
    for script, declarations in [(compiled, declared), *scripts.compiled.values()]:
        known.functions.update(_functions(script, declarations))
        known.constants.update(_constants(script.checked))
    assert compiled.module is not None
    known.overlap.update(told(compiled.module.plan))
    return [
        _Asking(compiled.checked, known, declared, node, compiled.module).preview()
        for node in walk(compiled.checked.module)
        if isinstance(node, n.Prompt)
    ]


def description(
    compiled: Compiled, modules: Modules, function: n.FunctionDef
) -> dict[str, Any] | None:
    """How a function of a compiled script is described to a model; None if it can be no tool."""
    declared = DeclaredScripts(modules).of(compiled, compiled.checked.source.name)
    found: Any = _functions(compiled, declared)[function]
    try:
        return function_tool(function.name.text, found).description()["function"]
    except SaftError:
        return None


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the modules that take part: functions, names that are never changed, and
    which prompts are asked at the same time."""

    reads_python: bool
    functions: dict[n.FunctionDef, object] = field(default_factory=dict[n.FunctionDef, object])
    constants: dict[Symbol, n.Expression] = field(default_factory=dict[Symbol, n.Expression])
    overlap: dict[n.Prompt, Told] = field(default_factory=dict[n.Prompt, Told])


def _functions(compiled: Compiled, declared: Declarations) -> dict[n.FunctionDef, object]:
    """The functions of a script as its module declares them."""
    assert compiled.module is not None
    lines = {
        mapping.span: mapping.line
        for mapping in compiled.module.origins.map(compiled.module.text)
        if mapping.is_statement and mapping.line in declared.functions
    }
    return {
        node: declared.functions[lines[node.span]]
        for node in walk(compiled.checked.module)
        if isinstance(node, n.FunctionDef)
    }


def _constants(checked: Checked) -> dict[Symbol, n.Expression]:
    """The names that are assigned at one place alone, with what is assigned there."""
    names = checked.facts.names
    values: dict[Symbol, list[n.Expression | None]] = {}
    assigned = {
        node.name: node.value for node in walk(checked.module) if isinstance(node, n.AssignStmt)
    }
    for node, symbol in names.symbols.items():
        if isinstance(node, n.Identifier) and symbol.starts_from is None:
            values.setdefault(symbol, []).append(assigned.get(node))
    return {
        symbol: value
        for symbol, (value, *others) in values.items()
        if value is not None and not others
    }


class _NotKnown(Exception):
    """The value of an expression is known only when the script runs."""


class _Asking:
    """One prompt, on its way to a preview."""

    def __init__(
        self,
        checked: Checked,
        known: _Known,
        declared: Declarations,
        node: n.Prompt,
        module: Generated,
    ) -> None:
        self.source: Source = checked.source
        self.facts = checked.facts
        self.known = known
        self.declared = declared
        self.node = node
        self.hole_names = module.holes
        arguments = module.prompts[node].args
        given = [(one.keyword.value if one.keyword else "", one.value) for one in arguments]
        self.named = {name: value for name, value in given if name}
        self.positional = [value for name, value in given if not name][1:]
        self.holes: list[Hole] = []
        self.notes: list[str] = []

    def preview(self) -> Preview:
        request: dict[str, Any] | None = None
        error: str | None = None
        if self.node.after is not None:
            self._note(f"the conversation of `{self._written(self.node.after)}` goes before it")
        try:
            request = self._request()
        except SaftError as problem:
            error = str(problem)
        position, mode = self._position(self.node), self.node.mode
        holes, notes = tuple(self.holes), tuple(self.notes)
        return Preview(position, mode, request, holes, notes, error, self._overlap())

    def _overlap(self) -> tuple[str, ...]:
        """Whether the prompt overlaps with others, for each place where there are such."""
        found = self.known.overlap.get(self.node)
        places = () if found is None else (found, *found.elsewhere)
        return tuple(dict.fromkeys(map(self._overlap_at, places)))

    def _overlap_at(self, told: Told) -> str:
        source = told.source or self.source
        lines = sorted({source.line_of(place.span.start) for place in (told.place, *told.beside)})
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        if told.source is not None:
            where += f" of {source.name}"
        how = "asked ahead," if told.may_overlap else "in order, as"
        return f"{how} {told.words} ({where})"

    def _request(self) -> dict[str, Any]:
        names: dict[str, object] = {}
        values: list[object] = []
        for part in self.node.parts:
            if not isinstance(part, n.Hole):
                continue
            keyword = self.hole_names.get(part)
            if keyword is not None:
                names[keyword] = self._value(part.value, self.named[keyword])
            else:
                values.append(self._value(part.value, self.positional[len(values)]))
        template = template_of(self.node, self.hole_names)
        is_program = self.node.mode == "program"
        kind = _prompting.ProgramQuestion if is_program else _asking.Question
        more = {"conversions": self._type("conversions", ())} if is_program else {}
        question = kind(
            # A text of several lines stands on lines of its own.
            template=f"\n{template}\n" if "\n" in template else template,
            values=tuple(values),
            names=names,
            returns=self._type("returns", Any if is_program else str),
            fields=self._type("fields", None),
            rounds=self._type("rounds", None),
            options=self._options(),
            **more,
        )
        return _asking.first_request(question).canonical()

    def _type(self, keyword: str, otherwise: Any) -> Any:
        """An argument that is made of types, conversions or a number: what the module declares."""
        emitted = self.named.get(keyword)
        if emitted is None:
            return otherwise
        for name in dict.fromkeys(self.declared.unread(code_of(emitted))):
            self._note(f"`{name}` is a Python module's: --import tells what it is")
        return self._evaluated(emitted)

    def _evaluated(self, emitted: cst.BaseExpression) -> Any:
        return self.declared.evaluated(code_of(emitted))

    # Values

    def _value(self, node: n.Expression, emitted: cst.BaseExpression) -> object:
        """What stands in a hole: a function, a literal's value, or a mark."""
        types = members(self.facts.type_of(node))
        functions = [one for one in types if isinstance(one, FunctionType | BuiltinType)]
        if len(functions) == len(types) == 1:
            return self._function(functions[0])
        if functions and len(functions) == len(types):
            return self._one_of(node, functions)
        if isinstance(node, n.Name) and self._symbol(node).kind == "record":
            return self._evaluated(emitted)
        if self._is_from_python(node):
            return self._from_python(node, emitted)
        media = {one.kind for one in types if isinstance(one, Scalar)} & {"image", "file"}
        if media and len(types) == len(media):
            return self._media(node, "file" if "file" in media else "image")
        try:
            return _literal(node)
        except _NotKnown:
            may_be_function = bool(functions) or ANY in types
            return Unknown(self._hole(node, may_be_function=may_be_function))

    def _function(self, type_: FunctionType | BuiltinType) -> object:
        if isinstance(type_, FunctionType):
            return self.known.functions[type_.definition]
        if hasattr(runtime_support, type_.name):
            return getattr(runtime_support, type_.name)
        return getattr(ops, name_in_ops(type_.name))

    def _one_of(self, node: n.Expression, functions: list[FunctionType | BuiltinType]) -> Unknown:
        names = " or ".join(f"`{one.name}`" for one in functions)
        self._note(f"`{self._written(node)}` is the function {names}")
        return Unknown(self._hole(node), "function")

    def _media(self, node: n.Expression, kind: Literal["image", "file"]) -> Unknown:
        mark = self._hole(node)
        if kind == "file":
            self._note(f"{mark} is sent as what it is: a file, a sound, a picture or text")
        return Unknown(mark, kind)

    def _from_python(self, node: n.Expression, emitted: cst.BaseExpression) -> object:
        if not self.known.reads_python:
            self._note(f"`{self._written(node)}` is a Python module's: --import tells what it is")
            return Unknown(self._hole(node, may_be_function=True))
        try:
            value = self._evaluated(emitted)
        except (AttributeError, NameError):
            raise FileProblem(
                f"{self._position(node)}: the Python module has no `{self._written(node)}`"
            ) from None
        return value if callable(value) else Unknown(self._hole(node))

    def _symbol(self, node: n.Name) -> Symbol:
        return self.facts.meaning_of(self.facts.names.of(node))

    def _is_from_python(self, node: n.Expression) -> bool:
        """Whether a value is a Python module's own."""
        while isinstance(node, n.Member):
            node = node.value
        if not isinstance(node, n.Name):
            return False
        return self._symbol(node).kind == "import" and self._symbol(node) not in self.facts.modules

    # Options

    def _options(self) -> dict[str, object] | None:
        """The options as far as they are known."""
        written = self.node.options
        if written is None:
            return None
        if isinstance(written, n.Name) and self._object(written) is None:
            self._note(f"the options are those of `{written.text}` when it runs")
            return None
        return self._options_in(written)

    def _options_in(self, node: n.Expression) -> dict[str, object]:
        found: dict[str, object] = {}
        written = self._object(node)
        for entry in () if written is None else written.fields:
            match entry:
                case n.Field():
                    found[entry.key.text] = self._option(entry.value)
                case n.Spread() if self._object(entry.value) is not None:
                    found |= self._options_in(entry.value)
                case n.Spread() | n.ComputedField():
                    self._note(f"`{self._written(entry)}` is an option when it runs")
        return found

    def _object(self, node: n.Expression) -> n.ObjectLiteral | None:
        """The object literal that `node` is, or that the name is bound to."""
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
        symbol = self.facts.names.symbols.get(node)
        return None if symbol is None else self.known.constants.get(self.facts.meaning_of(symbol))

    # Marks

    def _hole(self, node: n.Expression, *, may_be_function: bool = False) -> str:
        written = self._written(node)
        texts = [part.text for part in self.node.parts if isinstance(part, n.PromptText)]
        mark = f"«{written}»"
        while any(mark in text for text in texts):
            mark = f"«{mark}»"
        self.holes.append(Hole(mark, written, self._position(node), may_be_function))
        if may_be_function:
            self._note(f"{mark} is a tool's name instead, if it is a function")
        return mark

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _written(self, node: n.Node) -> str:
        return " ".join(self.source.at(node.span).split())

    def _position(self, node: n.Node) -> str:
        line, column = self.source.position(node.span.start)
        return f"{self.source.name}:{line}:{column}"


def _literal(
    node: n.Expression, constant: Callable[[n.Name], n.Expression | None] = lambda _name: None
) -> object:
    """The value of an expression that holds nothing but literals, and names of `constant`s."""
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
