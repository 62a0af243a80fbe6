"""Which functions have no effects but ask a model: in a program, calls of them may run together.

    f summarize(text: string) -> string:
        ret $ Sum up {text}. $                  asks a model, and does nothing else

    program $ ... {summarize} ... $             program(..., pure=[summarize])

Functions that neither ask nor do anything else are over before a thread for them has begun, so they
are not named. A function whose calls are not all known counts as one that has effects.
"""

from saftc.semantics.builtins import BUILTINS
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, BuiltinType, FunctionType, Type, members
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


def only_asks(definition: n.FunctionDef, facts: Facts) -> bool:
    """Whether a call of the function asks a model and has no effects."""
    finder = _Finder(facts)
    return not finder.has_effects(definition) and finder.asks


class _Finder:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.seen: set[n.FunctionDef] = set()
        self.asks = False

    def has_effects(self, definition: n.FunctionDef) -> bool:
        """Whether something in the function, or in one that it reaches, has or may have effects."""
        if definition in self.seen:
            return False
        if definition not in self.facts.names.scopes:
            return True  # of another script
        self.seen.add(definition)
        return any(self._has_effect(node) for node in walk(definition))

    def _has_effect(self, node: n.Node) -> bool:
        match node:
            case n.Name():
                return self._of_symbol(self.facts.names.of(node))
            case n.Call():
                return self._of_call(node.function)
            case n.Prompt():
                self.asks = True
                return any(
                    self._of_type(self.facts.types.get(part.value, ANY), is_called=False)
                    for part in node.parts
                    if isinstance(part, n.Hole)
                )
            case _:
                return False

    def _of_symbol(self, symbol: Symbol) -> bool:
        if symbol.kind == "builtin":
            return not BUILTINS[symbol.name].is_pure
        if isinstance(symbol.node, n.FunctionDef):
            return self.has_effects(symbol.node)
        return symbol.kind == "import"

    def _of_call(self, function: n.Expression) -> bool:
        if isinstance(function, n.Name):
            symbol = self.facts.names.of(function)
            if symbol.kind in ("builtin", "function", "record"):
                return False  # as a name it has been looked at
        return self._of_type(self.facts.types.get(function, ANY), is_called=True)

    def _of_type(self, type_: Type, *, is_called: bool) -> bool:
        """Whether a value of this type may have effects when it is called, here or by a model."""
        for member in members(type_):
            match member:
                case FunctionType():
                    if self.has_effects(member.definition):
                        return True
                case BuiltinType():
                    if not BUILTINS[member.name].is_pure:
                        return True
                case _:
                    if member == ANY or is_called:
                        return True
        return False
