"""Which functions have no effects but ask a model: in a program, calls of them may run together.

    f summarize(text: string) -> string:
        ret $ Sum up {text}. $                  asks a model, and does nothing else

    program $ ... {summarize} ... $             program(..., pure=[summarize])

Functions that neither ask nor do anything else are over before a thread for them has begun, so they
are not named. A function whose calls are not all known counts as one that has effects.

The rules of records neither ask nor have effects: they are checked whenever a record is made.
"""

from collections.abc import Sequence

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.semantics.builtins import BUILTINS
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, BuiltinType, FunctionType, Type, members
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk


def only_asks(definition: n.FunctionDef, facts: Facts) -> bool:
    """Whether a call of the function asks a model and has no effects."""
    finder = _Finder(facts)
    return not finder.has_effects(definition) and finder.asks


def check_rules(module: n.Module, facts: Facts, mistakes: Collector) -> None:
    """Reports rules of records that ask a model, or have or may have effects."""
    for record in nodes_of(module):
        for rule in record.rules if isinstance(record, n.RecordDef) else ():
            for node in walk(rule):
                problem = _problem_of_rule(node, facts)
                if problem is not None:
                    hint = "it is checked whenever a record is made, also from a reply"
                    mistakes.add(catalogue.RULE_EFFECT.at(node.span, problem=problem, hint=hint))
                    break


def _problem_of_rule(node: n.Node, facts: Facts) -> str | None:
    finder = _Finder(facts, facts.scripts)
    has_effect = finder.has_effect(node)
    if finder.asks:
        return "asks a model"
    if not has_effect:
        return None
    is_known = isinstance(node, n.Name) and facts.meaning_of(facts.names.of(node)).kind != "import"
    return "has effects" if is_known else "may have effects"


class _Finder:
    """Looks at what a script does; `others` are scripts whose functions are looked at as well."""

    def __init__(self, facts: Facts, others: Sequence[Facts] = ()) -> None:
        self.facts = facts
        self.others = others
        self.seen: set[n.FunctionDef] = set()
        self.asks = False

    def has_effects(self, definition: n.FunctionDef) -> bool:
        """Whether something in the function, or in one that it reaches, has or may have effects."""
        if definition in self.seen:
            return False
        known = (self.facts, *self.others)
        facts = next((one for one in known if definition in one.names.scopes), None)
        if facts is None:
            return True  # of another script
        self.seen.add(definition)
        outer, self.facts = self.facts, facts
        found = any([self.has_effect(node) for node in walk(definition)])
        self.facts = outer
        return found

    def has_effect(self, node: n.Node) -> bool:
        """Whether a node by itself has or may have effects."""
        match node:
            case n.Name():
                return self._of_symbol(self.facts.names.of(node))
            case n.Member():
                meant = self.facts.member_of_module(node)
                return meant is not None and self._of_symbol(meant)
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
        meant = self.facts.meaning_of(symbol) if self.others else symbol
        if isinstance(meant.node, n.FunctionDef):
            return self.has_effects(meant.node)
        is_script = bool(self.others) and symbol in self.facts.modules
        return meant.kind == "import" and not is_script

    def _of_call(self, function: n.Expression) -> bool:
        if isinstance(function, n.Name):
            symbol = self.facts.names.of(function)
            if symbol.kind in ("builtin", "function", "record", "import"):
                return False  # as a name it is looked at
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
