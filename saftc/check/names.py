"""What the names of a script mean, as data: symbols in scopes. `resolution` finds it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

SymbolKind = Literal[
    "variable", "parameter", "field", "function", "record", "type", "import", "builtin", "guessed"
]
# What runs later than it is defined, with names of its own: a function, the rules of a record.
Code = n.FunctionDef | n.RecordDef
Owner = n.Module | Code | n.Comprehension | n.TryStmt


def body_of(code: Code) -> Sequence[n.Statement]:
    """What runs later: the body of a function, or the rules of a record."""
    return code.body if isinstance(code, n.FunctionDef) else code.rules


@dataclass(slots=True, eq=False)
class Symbol:
    """One name of one scope.

    `starts_from`: the outer symbol whose value it has at first, which may not have one by then
    (`starts_late`). `hides`: the outer symbol that is read in its scope as well.
    """

    name: str
    kind: SymbolKind
    scope: "Scope | None"
    node: n.Node | None
    starts_from: "Symbol | None" = None
    starts_late: bool = False
    hides: "Symbol | None" = None
    is_read: bool = False
    # Of a failure: a function in its block goes on to read it.
    is_captured: bool = False

    def origins(self) -> "Iterator[Symbol]":
        """The symbol and those from which it has its first value, further and further out."""
        origin: Symbol | None = self
        while origin is not None:
            yield origin
            origin = origin.starts_from


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a function's call, a record's rules, or a comprehension; of a `try`,
    that of its failure.
    """

    owner: Owner
    parent: "Scope | None"
    symbols: dict[str, Symbol] = field(default_factory=dict[str, Symbol])

    @property
    def call(self) -> "Scope":
        """The scope of the function or module around a comprehension or an `except`."""
        scope = self
        while isinstance(scope.owner, n.Comprehension | n.TryStmt) and scope.parent is not None:
            scope = scope.parent
        return scope

    def around(self) -> "Iterator[Scope]":
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True)
class Names:
    """What each name means: for a `Name` that is read, and for an `Identifier` that introduces."""

    symbols: dict[n.Node, Symbol]
    scopes: dict[Owner, Scope]
    # Variables that may have no value somewhere where they are read.
    unset: set[Symbol] = field(default_factory=set[Symbol])
    # Where the failure that is at hand is passed on.
    passed_on: set[n.FailStmt] = field(default_factory=set[n.FailStmt])

    # What each function or rule reads of the scopes around it, and where first: itself, in the
    # functions inside of it, and as the first value of a name.
    captures: dict[Code, dict[Symbol, n.Name]] = field(
        default_factory=dict[Code, dict[Symbol, n.Name]]
    )

    def of(self, node: n.Node) -> Symbol:
        """The symbol of `node`; a read that was reported as unknown has a symbol of its own."""
        return self.symbols[node]

    def read(self, *nodes: n.Node) -> Iterator[tuple[Symbol, n.Name]]:
        """What the nodes read, and the functions inside of them, with the first values of that."""
        for node in nodes:
            for inner in walk(node):
                if isinstance(inner, n.Name):
                    for symbol in self.of(inner).origins():
                        yield symbol, inner

    def captured_by(self, code: Code) -> dict[Symbol, n.Name]:
        """What code reads of the scopes around it; `captures` has it once all names are known."""
        own, found = self.scopes[code], dict[Symbol, n.Name]()
        for symbol, node in self.read(*body_of(code)):
            if symbol.scope is not None and own not in symbol.scope.around():
                found.setdefault(symbol, node)
        return found
