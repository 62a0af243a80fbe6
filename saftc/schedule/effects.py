"""What evaluating something may do beside giving a value.

    asks      sends requests to a model
    prints    writes to standard output
    reads     looks at files or the environment
    writes    changes files, asks the user, or shows how a model answers
    unknown   calls something of which nothing is known

A function has the effects of all that it may call, and of the functions that it shows to a model,
also where these stand in other scripts.

    f summarize(text: string) -> string:
        ret $ Sum up {text}. $          only asks: in a program, calls of it may run together

    program $ ... {summarize} ... $             program(..., pure=[summarize])

Functions that neither ask nor do anything else are over before a thread for them has begun, so
programs do not name them.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from saftc.semantics.builtins import BUILTINS
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.semantics.programs import conversions_of
from saftc.semantics.types import ANY, BuiltinType, FunctionType, Type, members
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk

Effect = Literal["asks", "prints", "reads", "writes", "unknown"]
# What something does by itself, and the functions that it may call.
_Found = tuple[set[Effect], set[n.FunctionDef]]

# Those that are not pure and not here change something, or may.
_OF_BUILTINS: dict[str, Effect] = {
    "print": "prints",
    "write": "prints",
    "read_text": "reads",
    "list_files": "reads",
    "read": "reads",
    "image": "reads",
    "file": "reads",
    "env": "reads",
    "run": "unknown",
}

UNKNOWN = frozenset[Effect]({"unknown"})
# What runs ahead of its turn has none of these.
_NEVER_AHEAD = frozenset[Effect]({"unknown", "writes"})

# Modules of Python's library whose functions only calculate.
CALCULATING = frozenset(
    {"calendar", "fractions", "html", "json", "math", "re", "statistics", "string", "textwrap"}
    | {"unicodedata", "difflib", "colorsys", "base64", "zlib"}
)


class Effects:
    """The effects in a module; those of its functions are remembered.

    `pure` are patterns of Python functions without effects, as in `geo.*`, and `calculating` the
    modules of Python of which that is known. The effects in a script that `is_imported` are those
    that its functions have elsewhere.
    """

    def __init__(
        self,
        facts: Facts,
        pure: Iterable[str] = (),
        calculating: frozenset[str] = CALCULATING,
        *,
        is_imported: bool = False,
    ) -> None:
        self.facts = facts
        self._pure = tuple(pure)
        self._calculating = calculating
        self._is_imported = is_imported
        self._own: dict[n.FunctionDef, _Found] = {}

    @cached_property
    def _scripts(self) -> tuple["Effects", ...]:
        """Those of the scripts that this one imports, directly or not."""
        return tuple(
            Effects(one, self._pure, self._calculating, is_imported=True)
            for one in self.facts.scripts
        )

    @cached_property
    def _imports(self) -> dict[Symbol, tuple[str, str]]:
        return _imports(self.facts)

    @cached_property
    def prints_in_turn(self) -> bool:
        """Whether what functions print waits for its turn for the sake of scripts that import them.

        So it is where the script does nothing by itself, and one of its functions asks and prints.
        """
        effects = Effects(self.facts, self._pure, self._calculating)
        top = self.facts.module.statements
        functions = [one for one in top if isinstance(one, n.FunctionDef)]
        is_program = any(one.name.text == "main" and not one.parameters for one in functions)
        others = [one for one in top if not isinstance(one, n.FunctionDef)]
        return (
            not is_program
            and effects.of(*others) <= {"reads"}
            and any(effects.of_function(one) >= {"asks", "prints"} for one in functions)
        )

    def script_of(self, definition: n.FunctionDef) -> "Effects":
        """The effects in the script that a function stands in."""
        return next(one for one in (self, *self._scripts) if one.facts.is_own(definition))

    def of(self, *nodes: n.Node) -> set[Effect]:
        """What evaluating the nodes may do."""
        return self._with_functions(self._directly(nodes))

    def of_node(self, node: n.Node) -> set[Effect]:
        """What a node by itself may do, beside what its parts do."""
        return self._with_functions(self._of_node(node))

    def of_function(self, definition: n.FunctionDef) -> set[Effect]:
        """What a call of a function may do."""
        return {one for each in self.reached([definition]) for one in self._in_body(each)[0]}

    def only_asks(self, definition: n.FunctionDef) -> bool:
        """Whether a call of a function asks a model, and has no other effect."""
        return self.of_function(definition) == {"asks"}

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

    def first_unknown(
        self, *nodes: n.Node, kinds: frozenset[Effect] = _NEVER_AHEAD
    ) -> n.Node | None:
        """The first of the nodes, and of those in them, that has an effect of these kinds."""
        places = (node for top in nodes for node in walk(top))
        return next((node for node in places if self.of_node(node) & kinds), None)

    def origin_of(self, node: n.Node) -> tuple["Effects", n.Node, n.FunctionDef | None]:
        """Where a node has such an effect from: itself, or a place in a function that it reaches.

        With it come the effects in the script of that place, and the function.
        """
        effects, functions = self._of_node(node)
        if effects & _NEVER_AHEAD:
            return self, node, None
        reached = sorted(self.reached(functions), key=lambda one: one.span.start)
        return next(
            (script, inner, function)
            for function in sorted(reached, key=self.facts.is_own, reverse=True)
            for script in (self.script_of(function),)
            for top in function.body
            for inner in walk(top)
            if script._of_node(inner)[0] & _NEVER_AHEAD
        )

    def shows_unknown(self, node: n.Expression) -> bool:
        """Whether a value that is shown to a model may be a function of which nothing is known."""
        is_declared = self.is_declared_pure(node)
        found = self._of_value(self.facts.types.get(node, ANY), is_called=False)
        return not is_declared and "unknown" in found[0]

    def is_declared_pure(self, node: n.Expression) -> bool:
        """Whether the user says that a Python function has no effects."""
        name = self._python_name(node)
        return name is not None and any(fnmatchcase(name, pattern) for pattern in self._pure)

    def _with_functions(self, found: _Found) -> set[Effect]:
        effects, functions = found
        return effects.union(*(self._in_body(one)[0] for one in self.reached(functions)))

    def _in_body(self, function: n.FunctionDef) -> _Found:
        known = self._own.get(function)
        if known is None:
            known = self._own[function] = self.script_of(function)._directly(function.body)
        return known

    def _directly(self, nodes: Iterable[n.Node]) -> _Found:
        effects, called = set[Effect](), set[n.FunctionDef]()
        for top in nodes:
            for node in walk(top):
                own, functions = self._of_node(node)
                effects |= own
                called |= functions
        return effects, called

    def _of_node(self, node: n.Node) -> _Found:
        match node:
            case n.Name():
                return self._of_symbol(self.facts.names.of(node))
            case n.Member():
                found = self._in_module(node)
                # Of other imports, the name it begins with is looked at with its whole path.
                return (set(), set()) if found is None else found[0]._of_symbol(found[1])
            case n.Call():
                return self._of_callee(node.function)
            case n.Prompt():
                return self._of_prompt(node)
            case _:
                return set(), set()

    def _of_symbol(self, symbol: Symbol) -> _Found:
        if symbol.kind == "builtin":
            found = _of_builtin(symbol.name)
            waits = "prints" not in found or not self._is_imported or self.prints_in_turn
            return (found if waits else {"unknown"}), set()
        script, meant = self._meant(symbol)
        if isinstance(meant.node, n.FunctionDef):
            return set(), {meant.node}
        is_known = not script._is_of_python(meant) or script._is_pure_import(meant)
        return (set() if is_known else {"unknown"}), set()

    def _meant(self, symbol: Symbol) -> tuple["Effects", Symbol]:
        """Where a name comes from, through all scripts that pass it on, and what it is there."""
        target = self.facts.imported.get(symbol)
        if target is None:
            return self, symbol
        for script in self._scripts:
            if script.facts.own_names.get(target.name) is target:
                return script._meant(target)
        return self, target  # a class of Python

    def _in_module(self, node: n.Member) -> tuple["Effects", Symbol] | None:
        """The same for `module.name` of another script."""
        meant = self.facts.member_of_module(node)
        if meant is None:
            return None
        module = self.facts.modules[self.facts.names.of(node.value)]
        return next(one for one in self._scripts if one.facts is module)._meant(meant)

    def _is_of_python(self, symbol: Symbol) -> bool:
        return symbol.kind == "import" and symbol not in self.facts.modules

    def _is_pure_import(self, symbol: Symbol) -> bool:
        module, name = self._imports.get(symbol, ("", ""))
        if module in self._calculating:
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
        script, meant = self._meant(self.facts.names.of(node))
        module, name = script._imports.get(meant, ("", ""))
        return ".".join(filter(None, (module, name, *path))) if module else None

    def _of_callee(self, node: n.Expression) -> _Found:
        if self._is_looked_at(node):
            return set(), set()
        return self._of_value(self.facts.types.get(node, ANY), is_called=True)

    def _is_looked_at(self, node: n.Expression) -> bool:
        """Whether the name of what is called has said what it does."""
        found = self._in_module(node) if isinstance(node, n.Member) else None
        if found is None and isinstance(node, n.Member):
            # A member of Python's.
            while isinstance(node, n.Member):
                node = node.value
            if not isinstance(node, n.Name):
                return False
            script, meant = self._meant(self.facts.names.of(node))
            return script._is_of_python(meant)
        if found is None and isinstance(node, n.Name):
            found = self._meant(self.facts.names.of(node))
        return found is not None and found[1].kind in ("builtin", "function", "record", "import")

    def _of_prompt(self, node: n.Prompt) -> _Found:
        effects, called = set[Effect](("asks",)), set[n.FunctionDef]()
        if node.is_streamed:  # its pieces are for now
            effects.add("writes")
        for part in node.parts:
            if isinstance(part, n.Hole) and not self.is_declared_pure(part.value):
                type_ = self.facts.types.get(part.value, ANY)
                own, functions = self._of_value(type_, is_called=False)
                effects |= own
                called |= functions
        if node.mode == "program":
            called.update(conversions_of(self.facts.module, self.facts).values())
        return effects, called

    def _of_value(self, type_: Type, *, is_called: bool) -> _Found:
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
    for node in nodes_of(facts.module, n.ImportStmt, n.FromImport):
        if isinstance(node, n.ImportStmt):
            bound = node.alias or node.module
            found[facts.names.of(bound)] = node.module.text, ""
        else:
            for imported in node.names:
                symbol = facts.names.of(imported.alias or imported.name)
                found[symbol] = node.module.text, imported.name.text
    return found
