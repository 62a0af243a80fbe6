"""Chooses the Python name of each name in a script.

The Python name is the user's name, if possible. An underscore is appended to the name if

- the name is a keyword of Python (`class_`),
- the name is local to a function that has read an outer variable of this name before, or
- the output itself needs the name in the same scope (`list` in a module with `list[int]`, `prompt`
  in a module with prompts).

The names that the output needs are known only after the output has been written. `NeededNames`
collects these names and the scopes that use them. If a user's name collides with one of them, the
emitter runs again.
"""

import keyword
from dataclasses import dataclass, field

from saftc.check.names import Names, Scope, Symbol
from saftc.syntax import nodes as n


@dataclass(slots=True)
class NeededNames:
    """The global names that the output refers to, each with the scopes that use it."""

    used: dict[str, set[Scope]] = field(default_factory=dict[str, set[Scope]])

    def add(self, name: str, scope: Scope) -> None:
        """Records that the output refers to the global `name` in `scope`."""
        self.used.setdefault(name, set()).add(scope)

    def is_needed_below(self, name: str, scope: Scope) -> bool:
        """True if the output refers to `name` in `scope` or in a scope inside it."""
        return any(scope in user.around() for user in self.used.get(name, ()))


def python_names(names: Names, needs: NeededNames) -> dict[Symbol, str]:
    """Maps every symbol of the module to its Python name."""
    result: dict[Symbol, str] = {}
    for scope in names.scopes.values():
        for symbol in scope.symbols.values():
            result[symbol] = _name(symbol, scope, needs, result)
    return result


def _place(scope: Scope) -> Scope:
    """Returns the scope in which Python defines the names of `scope`.

    For an `except` block, it is the scope of the function (or module) around the block.
    """
    return scope.call if isinstance(scope.owner, n.TryStmt) else scope


def hidden_needs(names: dict[Symbol, str], needs: NeededNames) -> bool:
    """True if a name of the user hides a name that the output needs."""
    return any(
        symbol.scope is not None
        and needs.is_needed_below(name, _place(symbol.scope))
        and not _is_module(symbol)
        for symbol, name in names.items()
    )


def _is_module(symbol: Symbol) -> bool:
    """True for a Python module that both the script and the output import without an alias."""
    node = symbol.node
    is_whole = isinstance(node, n.ImportStmt) and node.alias is None
    return is_whole and symbol.name in ("asyncio", "os", "re")


def _name(symbol: Symbol, scope: Scope, needs: NeededNames, known: dict[Symbol, str]) -> str:
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
    """Returns the Python names that have another meaning where the symbol is used."""
    hides = symbol.hides
    hidden: set[str] = set() if hides is None else {known.get(hides, hides.name)}
    if not isinstance(scope.owner, n.TryStmt):
        return hidden
    # In Python, the name of a failure belongs to the whole function, so it must not be that of an
    # outer name. It may be that of another failure, unless a function captures one of the two.
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
