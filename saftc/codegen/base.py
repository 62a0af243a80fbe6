"""What the parts of the emitter share: the facts, the names, and what has been used so far."""

from abc import ABC, abstractmethod

import libcst as cst

from saftc.codegen.imports import SOURCES, Imports
from saftc.codegen.layout import WIDTH, code_of
from saftc.codegen.names import Needs
from saftc.codegen.positions import Origins
from saftc.codegen.python import Expression, attribute, name
from saftc.semantics.facts import Facts
from saftc.semantics.forms import BuiltinCall
from saftc.semantics.names import Scope, Symbol
from saftc.semantics.types import Type
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.comments import Comments
from saftc.syntax.tokens import Comment


class Base(ABC):
    """The state of one run of the emitter."""

    def __init__(
        self, source: Source, module: n.Module, facts: Facts, names: dict[Symbol, str]
    ) -> None:
        self.source = source
        self.module = module
        self.facts = facts
        self.names = names
        self.needs = Needs()
        self.imports = Imports()
        # Doc comments that document something become docstrings.
        ordinary = [one for one in module.comments if one not in module.doc_comments]
        self.comments = Comments(source, module, ordinary)
        self.scope: Scope = facts.names.scopes[module]
        # How many blocks deep the statement at hand stands.
        self.depth: int = 0
        # What is called in the calls that ask a model, and their texts of several lines, by the
        # marks that stand for them.
        self.prompts: set[cst.CSTNode] = set()
        self.texts: list[str] = []
        # The comments inside the statement at hand that are not yet placed, and the one that goes
        # to the end of its line.
        self.inner_comments: list[Comment] = []
        self.beside: Comment | None = None
        # Where everything comes from, see positions.py.
        self.origins = Origins()

    @abstractmethod
    def emit(self, node: n.Expression) -> Expression:
        """An expression as its place needs it: with the place's conversion or check."""

    @abstractmethod
    def condition(self, node: n.Expression) -> Expression:
        """An expression that Python finds true exactly when Saft does."""

    @abstractmethod
    def annotation(self, type_: Type) -> Expression:
        """A type as an annotation."""

    @abstractmethod
    def prompt(self, node: n.Prompt) -> Expression:
        """A prompt, with `.value`."""

    @abstractmethod
    def iterable(self, node: n.Expression) -> Expression:
        """What is only gone over: an iterator does where a list is meant."""

    @abstractmethod
    def result(self, node: n.Prompt) -> Expression:
        """A prompt with its whole result."""

    @abstractmethod
    def builtin_call(
        self, node: n.Call, form: BuiltinCall, *, is_iterated: bool = False
    ) -> Expression:
        """A call of a builtin; when it is only iterated over it needs not be a list."""

    def is_long(self, made: cst.CSTNode, depth: int) -> bool:
        """Whether a node does not fit on a line of its own so many blocks deep."""
        return len(code_of(made)) + 4 * depth > WIDTH

    def type_of(self, node: n.Expression) -> Type:
        """The type of an expression at its place."""
        return self.facts.type_of(node)

    def global_(self, text: str) -> cst.Name:
        """A name that the output itself needs: imported, or one of Python's builtins."""
        self.needs.add(text, self.scope)
        if text in SOURCES:
            self.imports.names.add(text)
        return name(text)

    def operation(self, text: str) -> Expression:
        """The function `ops.text` of the runtime."""
        return attribute(self.global_("ops"), text)

    def name_of(self, node: n.Node) -> str:
        """The Python name of what `node` refers to or introduces."""
        return self.names[self.facts.names.of(node)]
