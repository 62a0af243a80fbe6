"""The Python name of each name of a script.

It is the user's own name. It gets an underscore only if Python forces that: a keyword (`class_`), a
local name of a call in which the outer name was read before, or a name that the output itself needs
at that place (`list` in a module with `list[int]`, `prompt` in a module with prompts). The last
kind is known only when the output has been written: `Needs` collects the names that the output
refers to and where, and the emitter runs again if a user's name collides.
"""

import keyword
from dataclasses import dataclass, field

from saftc.check.names import Names, Scope, Symbol
from saftc.syntax import nodes as n


@dataclass(slots=True)
class Needs:
    """The global names that the output refers to, each with the scopes that use it."""

    used: dict[str, set[Scope]] = field(default_factory=dict[str, set[Scope]])

    def add(self, name: str, scope: Scope) -> None:
        """Notes that the output refers to the global `name` in `scope`."""
        self.used.setdefault(name, set()).add(scope)

    def is_needed_below(self, name: str, scope: Scope) -> bool:
        """Whether `name` is used in `scope` or in a scope inside it."""
        return any(scope in user.around() for user in self.used.get(name, ()))


def python_names(names: Names, needs: Needs) -> dict[Symbol, str]:
    """The Python name of every symbol of the module."""
    result: dict[Symbol, str] = {}
    for scope in names.scopes.values():
        for symbol in scope.symbols.values():
            result[symbol] = _name(symbol, scope, needs, result)
    return result


def _place(scope: Scope) -> Scope:
    """The scope that has the names in Python: an `except` has none, but the call has them."""
    return scope.call if isinstance(scope.owner, n.TryStmt) else scope


def hidden_needs(names: dict[Symbol, str], needs: Needs) -> bool:
    """Whether a user's name hides one that the output needs."""
    return any(
        symbol.scope is not None
        and needs.is_needed_below(name, _place(symbol.scope))
        and not _is_module(symbol)
        for symbol, name in names.items()
    )


def _is_module(symbol: Symbol) -> bool:
    """Whether a name is that of a Python module that the output imports in the same way."""
    node = symbol.node
    is_whole = isinstance(node, n.ImportStmt) and node.alias is None
    return is_whole and symbol.name in ("asyncio", "os", "re")


def _name(symbol: Symbol, scope: Scope, needs: Needs, known: dict[Symbol, str]) -> str:
    name = symbol.name
    if name.startswith("__") and name.endswith("__"):
        # Python reserves such names.
        name = name.strip("_") + "_"
    taken = _taken(symbol, scope, known)
    while (
        keyword.iskeyword(name)
        or name in taken
        or (needs.is_needed_below(name, _place(scope)) and not _is_module(symbol))
        or (name != symbol.name and any(name in outer.symbols for outer in scope.around()))
    ):
        name += "_"
    return name


def _taken(symbol: Symbol, scope: Scope, known: dict[Symbol, str]) -> set[str]:
    """The Python names that mean something else where a symbol is used."""
    hides = symbol.hides
    hidden: set[str] = set() if hides is None else {known.get(hides, hides.name)}
    if not isinstance(scope.owner, n.TryStmt):
        return hidden
    # In Python the name of a failure belongs to the call: outer names keep theirs. The name of
    # another failure is free again, unless a function captures one of the two.
    around = {
        known.get(other, other.name)
        for outer in scope.around()
        if outer is not scope
        for other in outer.symbols.values()
    }
    others = {
        name
        for other, name in known.items()
        if other.scope is not None
        and other.scope.call is scope.call
        and (other.scope in scope.around() or other.is_captured or symbol.is_captured)
        and isinstance(other.scope.owner, n.TryStmt)
    }
    return hidden | around | others
