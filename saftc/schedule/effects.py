"""What evaluating something may do beside giving a value.

    asks      sends requests to a model
    prints    writes to standard output
    reads     looks at files or the environment
    writes    changes files, or asks the user
    unknown   calls something of which nothing is known

A function has the effects of all that it may call, and of the functions that it shows to a model.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

from saftc.semantics.builtins import BUILTINS
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.programs import conversions_of
from saftc.semantics.types import ANY, BuiltinType, FunctionType, Type, members
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk

Effect = Literal["asks", "prints", "reads", "writes", "unknown"]

# Those that are not pure and not here change something, or may.
_OF_BUILTINS: dict[str, Effect] = {
    "print": "prints",
    "read_text": "reads",
    "list_files": "reads",
    "read": "reads",
    "image": "reads",
    "file": "reads",
    "env": "reads",
    "run": "unknown",
}

# Modules of Python's library whose functions only calculate.
PURE_MODULES = frozenset(
    {"calendar", "fractions", "html", "json", "math", "re", "statistics", "string", "textwrap"}
    | {"unicodedata", "difflib", "colorsys", "base64", "zlib"}
)


class Effects:
    """The effects in a module; those of its functions are remembered.

    `pure` are patterns of Python functions without effects, as in `geo.*`.
    """

    def __init__(self, facts: Facts, pure: Iterable[str] = ()) -> None:
        self.facts = facts
        self._pure = tuple(pure)
        self._own: dict[n.FunctionDef, tuple[set[Effect], set[n.FunctionDef]]] = {}
        self._imports = _imports(facts)

    def of(self, *nodes: n.Node) -> set[Effect]:
        """What evaluating the nodes may do."""
        effects, functions = self._directly(nodes)
        for function in self.reached(functions):
            effects |= self._in_body(function)[0]
        return effects

    def of_function(self, definition: n.FunctionDef) -> set[Effect]:
        """What a call of a function may do."""
        return {one for each in self.reached([definition]) for one in self._in_body(each)[0]}

    def functions_in(self, nodes: Iterable[n.Node]) -> set[n.FunctionDef]:
        """The functions that evaluating the nodes may reach."""
        return self.reached(self._directly(nodes)[1])

    def reached(self, functions: Iterable[n.FunctionDef]) -> set[n.FunctionDef]:
        """The functions themselves, and those that they may reach."""
        pending, found = list(functions), set[n.FunctionDef]()
        while pending:
            function = pending.pop()
            if function not in found:
                found.add(function)
                pending += self._in_body(function)[1]
        return found

    def first_unknown(self, *nodes: n.Node) -> n.Node | None:
        """What in the nodes has an effect that is not known, or changes something."""
        for top in nodes:
            for node in walk(top):
                if not isinstance(node, n.Name | n.Call | n.Prompt):
                    continue
                effects, functions = self._of_node(node)
                for function in self.reached(functions):
                    effects |= self._in_body(function)[0]
                if effects & {"unknown", "writes"}:
                    return node
        return None

    def is_declared_pure(self, node: n.Expression) -> bool:
        """Whether the user says that a Python function has no effects."""
        name = self._python_name(node)
        return name is not None and any(fnmatchcase(name, pattern) for pattern in self._pure)

    def _in_body(self, function: n.FunctionDef) -> tuple[set[Effect], set[n.FunctionDef]]:
        known = self._own.get(function)
        if known is None:
            if function in self.facts.names.scopes:
                known = self._directly(function.body)
            else:  # of another script
                known = set[Effect](("unknown",)), set[n.FunctionDef]()
            self._own[function] = known
        return known

    def _directly(self, nodes: Iterable[n.Node]) -> tuple[set[Effect], set[n.FunctionDef]]:
        effects, called = set[Effect](), set[n.FunctionDef]()
        for top in nodes:
            for node in walk(top):
                own, functions = self._of_node(node)
                effects |= own
                called |= functions
        return effects, called

    def _of_node(self, node: n.Node) -> tuple[set[Effect], set[n.FunctionDef]]:
        match node:
            case n.Name():
                return self._of_symbol(self.facts.names.of(node), node)
            case n.Member() if self.facts.is_imported(node):
                return set(), set()  # the name it begins with is looked at with its whole path
            case n.Call():
                return self._of_callee(node.function)
            case n.Prompt():
                return self._of_prompt(node)
            case _:
                return set(), set()

    def _of_symbol(self, symbol: Symbol, node: n.Name) -> tuple[set[Effect], set[n.FunctionDef]]:
        if symbol.kind == "builtin":
            return set(_of_builtin(symbol.name)), set()
        if isinstance(symbol.node, n.FunctionDef):
            return set(), {symbol.node}
        if symbol.kind != "import":
            return set(), set()
        meaning = self.facts.meaning_of(symbol)
        if isinstance(meaning.node, n.FunctionDef):
            return set(), {meaning.node}
        if meaning is not symbol or symbol in self.facts.modules:
            is_inert = meaning.kind in ("record", "type", "variable")
            return (set() if is_inert else {"unknown"}), set()
        return (set() if self._is_pure_import(symbol) else {"unknown"}), set()

    def _is_pure_import(self, symbol: Symbol) -> bool:
        module, name = self._imports.get(symbol, ("", ""))
        if module in PURE_MODULES:
            return True
        # Of a module that is imported whole, its functions are named in many ways.
        path = f"{module}.{name or '*'}"
        return any(path == pattern or fnmatchcase(path, pattern) for pattern in self._pure)

    def _python_name(self, node: n.Expression) -> str | None:
        path: list[str] = []
        while isinstance(node, n.Member):
            path.insert(0, node.name.text)
            node = node.value
        if not isinstance(node, n.Name):
            return None
        module, name = self._imports.get(self.facts.names.of(node), ("", ""))
        return ".".join(filter(None, (module, name, *path))) if module else None

    def _of_callee(self, node: n.Expression) -> tuple[set[Effect], set[n.FunctionDef]]:
        if isinstance(node, n.Name):
            kind = self.facts.names.of(node).kind
            if kind in ("builtin", "function", "record", "import"):
                return set(), set()  # as a name it has been looked at
        elif self.facts.is_imported(node):
            return set(), set()
        return self._of_value(self.facts.types.get(node, ANY), is_called=True)

    def _of_prompt(self, node: n.Prompt) -> tuple[set[Effect], set[n.FunctionDef]]:
        effects, called = set[Effect](("asks",)), set[n.FunctionDef]()
        for part in node.parts:
            if isinstance(part, n.Hole) and not self.is_declared_pure(part.value):
                type_ = self.facts.types.get(part.value, ANY)
                own, functions = self._of_value(type_, is_called=False)
                effects |= own
                called |= functions
        if node.mode == "program":
            called.update(conversions_of(self.facts.module, self.facts).values())
        return effects, called

    def _of_value(self, type_: Type, *, is_called: bool) -> tuple[set[Effect], set[n.FunctionDef]]:
        """What it does when a value of this type is called, here or by a model."""
        effects, called = set[Effect](), set[n.FunctionDef]()
        for member in members(type_):
            match member:
                case FunctionType():
                    called.add(member.definition)
                case BuiltinType():
                    effects |= _of_builtin(member.name)
                case _:
                    if member == ANY or is_called:
                        effects.add("unknown")
        return effects, called


def _of_builtin(name: str) -> set[Effect]:
    if BUILTINS[name].is_pure:
        return set()
    return {_OF_BUILTINS.get(name, "writes")}


def _imports(facts: Facts) -> dict[Symbol, tuple[str, str]]:
    """The module that each imported name comes from, and its name there."""
    found: dict[Symbol, tuple[str, str]] = {}
    for node in nodes_of(facts.module):
        if isinstance(node, n.ImportStmt):
            bound = node.alias or node.module
            found[facts.names.of(bound)] = node.module.text, ""
        elif isinstance(node, n.FromImport):
            for imported in node.names:
                symbol = facts.names.of(imported.alias or imported.name)
                found[symbol] = node.module.text, imported.name.text
    return found
