"""The state that the functions of the emitter share.

Each function gets a `Context` and a node, as in `emit_for_stmt(context, statement)`. A context
describes the code around the node; nested blocks and other scopes get other contexts. All contexts
share one `output`, which collects everything that has been emitted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar

import libcst as cst

from saftc.check.facts import Facts
from saftc.check.names import Scope, Symbol
from saftc.codegen import python as py
from saftc.codegen.imports import Imports, is_imported
from saftc.codegen.layout import WIDTH, code_of
from saftc.codegen.names import NeededNames
from saftc.codegen.positions import Spans
from saftc.codegen.python import Expression, Statement
from saftc.codegen.statements.classes import Classes
from saftc.effects.awaits import Wait
from saftc.lower.choices import Choices
from saftc.overlap.plan import Plan
from saftc.overlap.prefixes import LoopPrefix
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import Comments
from saftc.syntax.tokens import Comment
from saftc.types.types import Type

_Noted = TypeVar("_Noted", bound=cst.CSTNode)


@dataclass(slots=True)
class Caught:
    """An exception that an `except` block caught. `is_read` says whether code uses the Python name.

    If `is_failure`, the Python name is that of the script's variable for the failure.
    """

    name: str
    is_failure: bool
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """The names and nodes that one run of the emitter has used and created.

    `prompts` are the calls that were emitted for prompts. `texts` are the multi-line texts of
    prompts; a placeholder with the index of the text replaces each of them until `lay_out` inserts
    it. `functions` are written above the current statement.
    """

    classes: Classes
    imports: Imports
    needs: NeededNames = field(default_factory=NeededNames)
    spans: Spans = field(default_factory=Spans)
    prompts: dict[n.Prompt, cst.Call] = field(default_factory=dict[n.Prompt, cst.Call])
    texts: list[str] = field(default_factory=list[str])
    functions: list[Statement] = field(default_factory=list[Statement])


@dataclass(frozen=True, slots=True)
class Context:
    """Describes the code around a node, and has the facts about the node's module.

    - `expression` emits any expression, `statement` any statement, and `group` statements whose
      prompts run concurrently. `choices` decides between several Python forms.
    - `depth` is the number of blocks around the node.
    - `frame` is the loop, or the head of a loop, that contains the node and becomes a function
      which runs ahead. It is None outside of such loops.
    - `inner` are comments inside the current statement that have not been written yet.
    - `hides` are the fields above the node in its class body. `asides` maps each name that a field
      hides to another name for the same value.
    """

    source: Source
    module: n.Module
    facts: Facts
    names: Mapping[Symbol, str]
    comments: Comments
    output: Output
    expression: "Callable[[Context, n.Expression], Expression]"
    statement: "Callable[[Context, n.Statement], Sequence[Statement]]"
    group: "Callable[[Context, Sequence[n.Statement]], Sequence[Statement]]"
    scope: Scope
    choices: Choices
    # The imports of the module that are not moved to its top.
    later_imports: Set[n.Statement] = frozenset()
    depth: int = 0
    frame: n.ForStmt | LoopPrefix | None = None
    caught: tuple[Caught, ...] = ()
    inner: list[Comment] = field(default_factory=list[Comment])
    hides: Set[str] = frozenset()
    asides: dict[str, str] = field(default_factory=dict[str, str])
    # True if a function returns the expression: mypy then expects the function's type.
    is_returned: bool = False

    # Contexts for nested code

    def within(self, scope: Scope) -> "Context":
        """The context for another scope."""
        return replace(self, scope=scope)

    def called(self, scope: Scope) -> "Context":
        """The context for code in a function, which runs later, outside of any `except` block."""
        return replace(self, scope=scope, caught=())

    def deeper(self) -> "Context":
        """The context for the statements in a block of the current statement."""
        return replace(self, depth=self.depth + 1)

    def returned(self) -> "Context":
        """The context for a value that a function returns."""
        return replace(self, is_returned=True)

    def in_class(self) -> "Context":
        """The context for the body of a class."""
        return replace(self, hides=frozenset[str](), asides=dict[str, str]())

    def below(self, fields: Iterable[str]) -> "Context":
        """The context for the part of a class body that is below these fields."""
        return replace(self, hides={*self.hides, *fields})

    def beside(self, inner: Sequence[Comment]) -> "Context":
        """The context for a statement or branch that contains the comments `inner`."""
        return replace(self, inner=list(inner))

    # Facts

    def type_of(self, node: n.Expression) -> Type:
        """The type that an expression has where it is written."""
        return self.facts.type_of(node)

    @property
    def plan(self) -> Plan:
        """The plan of which code runs concurrently, and which calls are awaited."""
        return self.choices.plan

    def name_of(self, node: n.Node) -> str:
        """The Python name of the symbol that `node` refers to or defines."""
        return self.names[self.facts.names.of(node)]

    def type_name(self, text: str) -> str:
        """The Python name of a type of the script."""
        symbol = self.facts.names.scopes[self.module].symbols.get(text)
        return text if symbol is None else self.names[symbol]

    def type_(self, text: str) -> Expression:
        """The name of a type as an expression. It may be in a module: `shop.Order`."""
        first, *rest = text.split(".")
        found: Expression = self.own(self.type_name(first))
        for part in rest:
            found = py.attribute(found, part)
        return found

    def own(self, text: str) -> cst.Name:
        """A name that the module defines.

        If a field of the class hides the name, an alias is used that is assigned above the class.
        """
        types, written = {*self.facts.aliases, *self.facts.records}, self.output.classes.written
        if text not in self.hides or (text in types and text not in written):
            # A type that is defined below is quoted.
            return py.name(text)
        if text not in self.asides:
            alias = self.asides[text] = self._free(text)
            made = py.line(py.assignment(py.name(alias), py.name(text)))
            self.output.classes.pending.append(made)
        return py.name(self.asides[text])

    def is_long(self, made: cst.CSTNode) -> bool:
        """True if a node does not fit on one line in the current block."""
        return len(code_of(made)) + 4 * self.depth > WIDTH

    @property
    def is_async(self) -> bool:
        """True if the module is emitted in async form."""
        return self.plan.awaits is not None

    def suffix_of(self, script: Facts) -> str:
        """The suffix that the output adds to the module name of an imported script."""
        awaits = self.plan.awaits
        return "" if awaits is None else awaits.suffix_of(script, self.plan.suffix)

    def wait(self, node: n.Node) -> Wait | None:
        """How a node is awaited in async form, or None if it is not awaited."""
        return None if self.plan.awaits is None else self.plan.awaits.of(node)

    # Emitting

    def emit(self, node: n.Expression) -> Expression:
        """Emits an expression with the conversion or check that the code around it needs."""
        return self.expression(self, node)

    def note(self, made: _Noted, span: Span) -> _Noted:
        """Records that `made` was emitted for a span of the script, and returns `made`."""
        self.output.spans.note(made, span)
        return made

    def global_(self, text: str) -> cst.Name:
        """A name that the output itself needs, such as `prompt` or `list`.

        The name is imported unless it is a builtin of Python. If a field hides the name, or if a
        notebook may assign it, the name or builtin is imported under an alias.
        """
        is_ours = is_imported(text, prints_ahead=self.plan.prints)
        taken = self.plan.taken
        if taken is not None and (is_ours or text in taken):
            alias = f"_{text}"
            self.output.needs.add(alias, self.scope)
            self.output.imports.add_as(text, alias, is_builtin=not is_ours)
            return py.name(alias)
        self.output.needs.add(text, self.scope)
        if text in self.hides:
            alias = self.asides.setdefault(text, self._free(text))
            self.output.imports.add_as(text, alias, is_builtin=not is_ours)
            return py.name(alias)
        if is_ours:
            self.output.imports.names.add(text)
        return py.name(text)

    def _free(self, text: str) -> str:
        """Appends underscores to the name until the module does not use it."""
        taken = {*self.hides, *self.names.values(), *self.output.classes.taken}
        text += "_"
        while text in taken:
            text += "_"
        return text

    def awaited(self, made: cst.Call, span: Span) -> Expression:
        """Emits `await made`, and records the span of the call `made`."""
        return py.awaited(self.note(made, span))

    def in_thread(self, made: cst.Call, span: Span) -> Expression:
        """Emits `await in_thread(function, ...)` for the call `function(...)`."""
        return self.awaited(py.passed_to(self.global_("in_thread"), made), span)

    def operation(self, text: str, *arguments: Expression) -> Expression:
        """The call of a function of the runtime: `ops.add(arguments)` if `text` is "add"."""
        return py.call(self.operator(text), arguments)

    def operator(self, text: str) -> Expression:
        """A function of the runtime: `ops.add` if `text` is "add"."""
        return py.attribute(self.global_("ops"), text)
