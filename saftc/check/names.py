"""Symbols and scopes: the data model of name resolution. `resolution` fills it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

SymbolKind = Literal[
    "variable", "parameter", "field", "function", "record", "type", "import", "builtin", "guessed"
]
# Definitions whose code runs later and in its own scope: functions, and records with their rules.
Code = n.FunctionDef | n.RecordDef
Owner = n.Module | Code | n.Comprehension | n.TryStmt


def body_of(code: Code) -> Sequence[n.Statement]:
    """The body of a function, or the rules of a record. Both run later than the definition."""
    return code.body if isinstance(code, n.FunctionDef) else code.rules


@dataclass(slots=True, eq=False)
class Symbol:
    """A name in a scope.

    `starts_from`: the outer symbol whose value is this symbol's initial value. `starts_late`: the
    outer symbol may have no value yet when its value is needed. `hides`: the outer symbol of the
    same name, if the scope reads the outer symbol, too.
    """

    name: str
    kind: SymbolKind
    scope: "Scope | None"
    node: n.Node | None
    starts_from: "Symbol | None" = None
    starts_late: bool = False
    hides: "Symbol | None" = None
    is_read: bool = False
    # Whether the symbol is the name of a failure that a function in the `except` block reads.
    is_captured: bool = False

    def origins(self) -> "Iterator[Symbol]":
        """The symbol and the outer symbols that provide its initial value, innermost first."""
        origin: Symbol | None = self
        while origin is not None:
            yield origin
            origin = origin.starts_from


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a function, a record's rules, a comprehension, or an `except` block.

    The scope of an `except` block has only the name of the failure.
    """

    owner: Owner
    parent: "Scope | None"
    symbols: dict[str, Symbol] = field(default_factory=dict[str, Symbol])

    @property
    def call(self) -> "Scope":
        """The scope of the function or record that this scope is in, or else of the module."""
        scope = self
        while isinstance(scope.owner, n.Comprehension | n.TryStmt) and scope.parent is not None:
            scope = scope.parent
        return scope

    def around(self) -> "Iterator[Scope]":
        """This scope and the enclosing scopes, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True)
class Names:
    """The symbols and scopes of a script.

    `symbols` maps each `Name` or `Identifier` node to the symbol of the name that it reads or
    binds.
    """

    symbols: dict[n.Node, Symbol]
    scopes: dict[Owner, Scope]
    # The variables that may have no value when they are read somewhere.
    unset: set[Symbol] = field(default_factory=set[Symbol])
    # The `fail` statements that reraise the failure that the enclosing `except` caught.
    passed_on: set[n.FailStmt] = field(default_factory=set[n.FailStmt])

    # The names of outer scopes that each function or record's rules read, each with its first read.
    # This includes reads by inner functions, and initial values of names.
    captures: dict[Code, dict[Symbol, n.Name]] = field(
        default_factory=dict[Code, dict[Symbol, n.Name]]
    )

    def of(self, node: n.Node) -> Symbol:
        """The symbol of `node`; each read of an unknown name has its own symbol."""
        return self.symbols[node]

    def read(self, *nodes: n.Node) -> Iterator[tuple[Symbol, n.Name]]:
        """The symbols that the nodes read, each with the name that reads it.

        This includes reads in functions inside of the nodes, and the outer symbols from which the
        symbols get their initial values.
        """
        for node in nodes:
            for inner in walk(node):
                if isinstance(inner, n.Name):
                    for symbol in self.of(inner).origins():
                        yield symbol, inner

    def captured_by(self, code: Code) -> dict[Symbol, n.Name]:
        """Maps each symbol of an outer scope that `code` reads to the first name that reads it.

        After resolution, `captures` has these mappings.
        """
        own, found = self.scopes[code], dict[Symbol, n.Name]()
        for symbol, node in self.read(*body_of(code)):
            if symbol.scope is not None and own not in symbol.scope.around():
                found.setdefault(symbol, node)
        return found
