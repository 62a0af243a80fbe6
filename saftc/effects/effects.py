"""The effects of evaluating code: what it does besides returning a value.

    asks      sends requests to a model
    prints    writes to standard output
    reads     looks at files or the environment
    writes    changes files, asks the user, or shows how a model answers
    unknown   calls code of which nothing is known

A function has the effects of all functions that it may call or that it shows to a model, even if
they are in other scripts.

    f summarize(text: string) -> string:
        ret $ Sum up {text}. $          only asks: a program may run several calls concurrently

    program $ ... {summarize} ... $             program(..., pure=[summarize])

The list `pure` omits functions that neither ask nor have an effect, because they return before a
thread for them could start.

Code has unknown effects unless a rule says that it does nothing. So nodes without a rule, imports,
and values that code of a Python class creates have unknown effects. Comparing values and writing
them as text has no effect.
"""

from collections.abc import Container, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

from saftc.check.call_graph import rings
from saftc.check.facts import Facts, RecordFacts
from saftc.check.forms import BuiltinCall, DirectCall
from saftc.check.names import Code, Symbol
from saftc.check.statements import evaluated_by, imported_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.effects.awaits import Awaits
from saftc.effects.certainty import Certainty, Reason
from saftc.effects.variables import VariableFlow
from saftc.infer.programs import conversions_of
from saftc.infer.tools import offered
from saftc.syntax import nodes as n
from saftc.syntax.constructs import construct_of
from saftc.syntax.walk import children, nodes_of, walk
from saftc.types.builtins import BUILTINS, Effect
from saftc.types.relations import Assignability, fit
from saftc.types.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    UnionType,
    is_only,
    members,
    remembered,
    show,
    within,
)

# The effects of some code itself, and the functions that it may call.
_Found = tuple[Set[Effect], Set[n.FunctionDef]]
_NOTHING: _Found = frozenset(), frozenset()

UNKNOWN = frozenset[Effect]({"unknown"})
# Code that runs ahead of its turn has none of these effects.
_NEVER_AHEAD = frozenset[Effect]({"unknown", "writes"})

# Modules of Python's library whose functions only calculate.
_CALCULATING = frozenset(
    {"calendar", "fractions", "html", "json", "math", "re", "statistics", "string", "textwrap"}
    | {"unicodedata", "difflib", "colorsys", "base64", "zlib"}
)


# Functions of Python's library that only read the clock, with the number of strings that they take
# without failing. Functions that measure durations are left out: ahead of their turn they would
# measure something else.
_CLOCK = {"datetime.date.today": 0, "time.strftime": 1, "time.ctime": 0, "time.asctime": 0}
# The same for functions that only calculate.
_STANDARD = {"html.escape": 1, "html.unescape": 1, "re.escape": 1, "textwrap.dedent": 1}


# Values of these types run no code of their own, also in Python.
_DATA = (ListType, MapType, ObjectType, TupleType, LiteralType, UnionType)
_PLAIN = (STRING, INT, FLOAT, BOOL, NIL)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a call of a function, including its callees, may do and read.

    `reads` are the outer variables that the call reads. `reasons` say why the call may stop the
    script: the first failure that a `try` can catch, and the first that no `try` can catch. `waits`
    is true if the function is `async` in the async form.
    """

    effects: frozenset[Effect]
    reads: frozenset[Symbol]
    calls_itself: bool
    reasons: tuple[Reason, ...] = ()
    waits: bool = False


class Effects:
    """The effects in a module, with one summary for each of its functions.

    `pure` has patterns of Python functions without effects, for example `geo.*`. Without
    `has_clock`, reading the clock is an effect. If `is_imported`, the effects are the ones that the
    script's functions have when another script calls them.
    """

    def __init__(
        self,
        facts: Facts,
        pure: Iterable[str] = (),
        *,
        has_clock: bool = True,
        is_imported: bool = False,
        known: "dict[int, Effects] | None" = None,
        summaries: "dict[n.FunctionDef, Summary] | None" = None,
    ) -> None:
        self.facts = facts
        self.flow = VariableFlow(self)
        self.certainty = Certainty(self)
        self.awaits = Awaits(self)
        # The effects of all scripts that are imported, directly or not, by the id of their facts.
        self._known = {} if known is None else known
        if is_imported:
            self._known[id(facts)] = self
        self._has_clock = has_clock
        self._standard = {**_STANDARD, **(_CLOCK if has_clock else {})}
        self._pure = tuple(pure)
        self.is_imported = is_imported
        self._nodes: dict[n.Node, _Found] = {}
        self._below: dict[n.Node, _Found] = {}
        self._summaries = {} if summaries is None else summaries

    @cached_property
    def _meets_python(self) -> bool:
        """Whether a value of unknown type may be a Python object."""
        modules = (n.ImportStmt, n.FromImport)
        return any(one._meets_python for one in self.scripts) or any(
            "unknown" in self._of_import(node)[0] for node in nodes_of(self.facts.module, *modules)
        )

    @cached_property
    def scripts(self) -> tuple["Effects", ...]:
        """The effects of the scripts that this script imports, directly or indirectly."""
        scripts, known = self.facts.scripts, self._known
        return tuple(known.get(id(one)) or self._beside(one, is_imported=True) for one in scripts)

    def _beside(self, facts: Facts, *, is_imported: bool) -> "Effects":
        return Effects(
            facts,
            self._pure,
            has_clock=self._has_clock,
            is_imported=is_imported,
            known=self._known,
            summaries=self._summaries if is_imported else None,
        )

    @cached_property
    def _imports(self) -> dict[Symbol, tuple[str, str]]:
        return _imports(self.facts)

    @cached_property
    def prints_in_turn(self) -> bool:
        """Whether prints wait for their turn if another script calls the script's functions.

        They wait if the script has no `main`, if its top level has no effect except reading, and if
        a function of the script both asks and prints.
        """
        effects = self._beside(self.facts, is_imported=False) if self.is_imported else self
        top = self.facts.module.statements
        functions = [one for one in top if isinstance(one, n.FunctionDef)]
        is_program = any(one.name.text == "main" and not one.parameters for one in functions)
        definitions = n.FunctionDef | n.ImportStmt | n.FromImport | n.ServerImport
        others = [one for one in top if not isinstance(one, definitions)]
        return (
            not is_program
            and effects.of(*others) <= {"reads"}
            and any(effects.of_function(one) >= {"asks", "prints"} for one in functions)
        )

    def of_script(self, facts: Facts) -> "Effects":
        """The effects in the script with these facts."""
        return next(one for one in (self, *self.scripts) if one.facts is facts)

    def script_of(self, definition: n.FunctionDef) -> "Effects":
        """The effects in the script that defines a function."""
        return next(one for one in (self, *self.scripts) if one.facts.is_own(definition))

    def of(self, *nodes: n.Node) -> set[Effect]:
        """The effects of evaluating the nodes."""
        return self._with_functions(self._directly(nodes))

    def of_run(self, statement: n.Statement) -> set[Effect]:
        """The effects of running a statement at the top level of a script.

        A definition only evaluates its defaults.
        """
        is_definition = isinstance(statement, n.FunctionDef | n.RecordDef)
        return self.of(*(evaluated_by(statement) if is_definition else [statement]))

    def of_node(self, node: n.Node) -> set[Effect]:
        """The effects of a node itself, without the effects of its parts."""
        return self._with_functions(self._by_itself(node))

    def of_function(self, definition: n.FunctionDef) -> Set[Effect]:
        """The effects of a call of a function."""
        return self.summary(definition).effects

    def summary(self, definition: n.FunctionDef) -> Summary:
        """The summary of a function. It is computed once."""
        for ring in self.unknown_of(definition, self._summaries):
            summary = self._closed(ring)
            # The failures of the ring's functions, and whether they wait, depend on the summary.
            self._summaries.update(dict.fromkeys(ring, summary))
            waits = any(self.script_of(one).awaits.in_(one.body) for one in ring)
            for one in ring:
                reasons = self.script_of(one).certainty.of_function(one)
                self._summaries[one] = replace(summary, reasons=reasons, waits=waits)
        return self._summaries[definition]

    def unknown_of(
        self, definition: n.FunctionDef, known: Container[n.FunctionDef]
    ) -> Iterable[Sequence[n.FunctionDef]]:
        """The rings of the call graph that a function reaches, except those in `known`.

        They include the function's own ring. Callees come first. The caller must add each ring to
        `known` before it takes the next one.
        """
        return () if definition in known else rings(definition, self._calls, known)

    def _closed(self, ring: Sequence[n.FunctionDef]) -> Summary:
        found = list(map(self._in_body, ring))
        called = {function for _, functions in found for function in functions}
        inner = [self._summaries[one] for one in called.difference(ring)]
        return Summary(
            frozenset[Effect]().union(*(own for own, _ in found), *(one.effects for one in inner)),
            frozenset[Symbol]().union(*map(self.outer, ring), *(one.reads for one in inner)),
            calls_itself=not called.isdisjoint(ring),
        )

    def outer(self, code: Code) -> set[Symbol]:
        """The outer variables that a function or module of this script reads.

        Returns an empty set for code of another script.
        """
        captured = self.facts.names.captures.get(code, ())
        return {symbol for symbol in captured if symbol.kind in ("variable", "parameter")}

    def read_in_functions(self, *nodes: n.Node) -> set[Symbol]:
        """The outer variables read by the functions that the nodes may reach."""
        functions = self._directly(nodes)[1]
        return set[Symbol]().union(*(self.summary(one).reads for one in functions))

    def only_asks(self, definition: n.FunctionDef) -> bool:
        """Whether a call of a function asks a model and has no other effect."""
        return self.of_function(definition) == {"asks"}

    def only_waits(self, definition: n.FunctionDef) -> bool:
        """Whether a call of a function takes time, and has no effect except asking a model.

        The call takes time if it asks a model or names a Python function that is declared pure.
        Other calls do not count, because they return before a thread for them could start.
        """
        if not self.of_function(definition) <= {"asks"}:
            return False
        return self.only_asks(definition) or any(
            self.script_of(function).is_declared_pure(node)
            for function in self.reached([definition])
            for top in function.body
            for node in walk(top)
            if isinstance(node, n.Name | n.Member)
        )

    def functions_in(self, nodes: Iterable[n.Node]) -> set[n.FunctionDef]:
        """The functions that evaluating the nodes may reach."""
        return self.reached(self._directly(nodes)[1])

    def reached(self, functions: Iterable[n.FunctionDef]) -> set[n.FunctionDef]:
        """The functions themselves and all functions that they may reach."""
        pending, found = [*functions], set[n.FunctionDef]()
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += self._calls(one)
        return found

    def first_unknown(
        self, *nodes: n.Node, kinds: frozenset[Effect] = _NEVER_AHEAD
    ) -> n.Node | None:
        """The first of the nodes, or of the nodes inside them, that has an effect in `kinds`."""
        pending = [*reversed(nodes)]
        while pending:
            node = pending.pop()
            if self.of_node(node) & kinds:
                return node
            pending += (one for one in reversed(children(node)) if self.of(one) & kinds)
        return None

    def origin_of(self, node: n.Node) -> tuple["Effects", n.Node, n.FunctionDef | None]:
        """The node that causes an unknown effect or a write.

        It is `node` itself, or a node in a function that `node` reaches. Returns the effects of the
        found node's script, the found node, and the function around it. The function is None for
        `node` itself.
        """
        effects, functions = self._by_itself(node)
        if effects & _NEVER_AHEAD:
            return self, node, None
        reached = sorted(self.reached(functions), key=lambda one: one.span.start)
        return next(
            (script, inner, function)
            for function in sorted(reached, key=self.facts.is_own, reverse=True)
            for script in (self.script_of(function),)
            for top in function.body
            for inner in walk(top)
            if script._by_itself(inner)[0] & _NEVER_AHEAD
        )

    def shows_unknown(self, node: n.Expression) -> bool:
        """Whether a value that is shown to a model has an unknown type, and so may be a function.

        Python functions that are declared pure do not count.
        """
        is_declared = self.is_declared_pure(node)
        found = self._of_value(self.facts.types.get(node, ANY), is_called=False)
        return not is_declared and "unknown" in found[0]

    def is_declared_pure(self, node: n.Expression) -> bool:
        """Whether the user declares that a Python function has no effects."""
        return self.is_pure(self.python_name(node))

    def is_pure(self, path: str | None) -> bool:
        """Whether the user declares that the Python object with this full name has no effects."""
        return path is not None and any(
            path == pattern or fnmatchcase(path, pattern) for pattern in self._pure
        )

    def is_standard(self, node: n.Call) -> bool:
        """Whether a node calls a function of Python's library that only returns a value."""
        types = [self.facts.types.get(one.value, ANY) for one in node.arguments]
        takes = self._standard.get(self.python_name(node.function) or "")
        return takes == len(types) and all(one == STRING for one in types)

    @cached_property
    def _named_whole(self) -> dict[n.Name, n.Member]:
        """For each path `a.b.c` of a Python object, maps its first name `a` to the whole path."""
        found: dict[n.Name, n.Member] = {}
        for path in nodes_of(self.facts.module, n.Member):
            first: n.Expression = path
            while isinstance(first, n.Member):
                first = first.value
            if isinstance(first, n.Name) and self._is_of_python(self.facts.names.of(first)):
                known = found.get(first)
                if known is None or known.span.end < path.span.end:
                    found[first] = path
        return found

    @cached_property
    def _standard_names(self) -> set[n.Expression]:
        """The callees of all calls for which `is_standard` is true."""
        calls = nodes_of(self.facts.module, n.Call)
        return {one.function for one in calls if self.is_standard(one)}

    def path_in_python(self, node: n.Name | n.Member) -> str | None:
        """The full Python path that begins with a name, in the notation of `pure`."""
        whole = self._named_whole.get(node, node) if isinstance(node, n.Name) else node
        return self.python_name(whole)

    def is_pure_tool(self, node: n.ServerCall) -> bool:
        """Whether the user declares that a server's tool has no effects: `mcp(docs).search`."""
        return self.is_pure(f"mcp({node.server}).{node.tool}")

    def _with_functions(self, found: _Found) -> set[Effect]:
        effects, functions = found
        return set(effects).union(*(self.summary(one).effects for one in functions))

    def _in_body(self, function: n.FunctionDef) -> _Found:
        return self.script_of(function)._directly(function.body)

    def _calls(self, function: n.FunctionDef) -> Set[n.FunctionDef]:
        return self._in_body(function)[1]

    def _directly(self, nodes: Iterable[n.Node]) -> _Found:
        """The effects of the nodes and of the nodes in them, and the functions that they may call.

        The effects of those functions are not included. Each node is analysed once.
        """
        found = [self._below.get(one) or self._with_parts(one) for one in nodes]
        return found[0] if len(found) == 1 else _both(*found)

    def _with_parts(self, top: n.Node) -> _Found:
        pending, above = [top], list[tuple[n.Node, Sequence[n.Node]]]()
        while pending:
            node = pending.pop()
            if node not in self._below:
                parts = children(node)
                above.append((node, parts))
                pending += parts
        for node, parts in reversed(above):
            found = [self._below[one] for one in parts if self._below[one] is not _NOTHING]
            if any(own := self._by_itself(node)):
                found.append(own)
            self._below[node] = _both(*found) if len(found) > 1 else found[0] if found else _NOTHING
        return self._below[top]

    def _by_itself(self, node: n.Node) -> _Found:
        known = self._nodes.get(node)
        if known is None:
            known = self._nodes[node] = self._of_node(node)
        return known

    def _of_node(self, node: n.Node) -> _Found:
        match node:
            case n.Name():
                whole = self._named_whole.get(node, node)
                if whole in self._standard_names or self.is_declared_pure(whole):
                    return set(), set()
                if self._is_data(whole):
                    return set(), set()
                record = self._python_class(node)
                if record is not None and (record.is_plain or self.is_declared(record)):
                    return set(), set()
                return self._of_symbol(self.facts.names.of(node))
            case n.Member():
                return self._of_member(node)
            case n.Call():
                return _both(self._of_callee(node.function), self._of_arguments(node))
            case n.Prompt():
                return self._of_prompt(node)
            case n.ServerCall():
                return (set() if self.is_pure_tool(node) else {"unknown"}), set()
            case n.ImportStmt() | n.FromImport():
                return self._of_import(node)
            case _:
                return _NOTHING if construct_of(node).does == "nothing" else ({"unknown"}, set())

    # Values of Python's classes

    def _python_class(self, node: n.Expression) -> RecordFacts | None:
        record = self.facts.record_of(node)
        return record if record is not None and record.module is not None else None

    def is_declared(self, record: RecordFacts) -> bool:
        """Whether the user declares that a Python class has no effects."""
        return self.is_pure(record.path)

    def _of_member(self, node: n.Member) -> _Found:
        found = self._in_module(node)
        if found is not None:
            return found[0]._of_symbol(found[1])
        enum = self.facts.enum_of(node.value)
        name = node.name.text
        if self.facts.is_imported(node) or (enum is not None and name in enum.choices):
            # The rule for the path's first name judges the whole path.
            return set(), set()
        owners = members(self.facts.types.get(node.value, ANY))
        return ({"unknown"} if any(self._runs(one, name) for one in owners) else set()), set()

    def _runs(self, owner: Type, name: str) -> bool:
        """Whether reading a member of a value may run Python code."""
        if owner == ANY:
            return self._meets_python
        definition = owner.definition if isinstance(owner, RecordType) else None
        record = None if definition is None else self.facts.record_facts.get(definition)
        if record is None or record.python is None or self.is_declared(record):
            return False
        is_read = record.is_plain or "__getattribute__" not in record.python.names()
        return not (is_read and isinstance(owner, RecordType) and self.facts.is_data(owner, name))

    def _of_arguments(self, node: n.Call) -> _Found:
        """The effects of the arguments that a callee may call, and the functions among these.

        A builtin may call one of its arguments. Python code may call any of its arguments.
        """
        form = self.facts.forms.calls[node]
        if isinstance(form, BuiltinCall):
            by = None if form.by is None else self.facts.types.get(form.by, ANY)
            return (set(), set()) if by is None else self._of_value(by, is_called=True)
        types = [self.facts.types.get(one.value, ANY) for one in node.arguments]
        effects, functions = _both(*(self._of_value(one, is_called=False) for one in types))
        is_python = isinstance(form, DirectCall) and form.definition is None
        is_pure = self.is_declared_pure(node.function) or self.is_standard(node)
        return (effects if is_python and not is_pure else set()), functions

    # Names and calls

    def _of_import(self, node: n.ImportStmt | n.FromImport) -> _Found:
        """The effects of importing a module. If the module is a script, its top level runs."""
        found: _Found = (set(), set())
        for name, imported in imported_by(node):
            script = self.facts.named_scripts.get(node.module) or self.facts.named_scripts.get(
                imported
            )
            if script is not None:
                effects = next(one for one in self.scripts if one.facts is script)
                run = (effects.of_run(one) for one in script.module.statements)
                found = _both(found, (set[Effect]().union(*run), set()))
            elif not self._is_pure_import(self.facts.names.of(name)):
                return {"unknown"}, set()
        return found

    def _of_symbol(self, symbol: Symbol) -> _Found:
        if symbol.kind == "builtin":
            found = _of_builtin(symbol.name)
            waits = "prints" not in found or not self.is_imported or self.prints_in_turn
            return (found if waits else {"unknown"}), set()
        script, meant = self._meant(symbol)
        if isinstance(meant.node, n.FunctionDef):
            return set(), {meant.node}
        is_known = not script._is_of_python(meant) or script._is_pure_import(meant)
        return (set() if is_known else {"unknown"}), set()

    def _meant(self, symbol: Symbol) -> tuple["Effects", Symbol]:
        """The script that defines a symbol, and the symbol in that script.

        The definition is found through all scripts that import the name and pass it on.
        """
        target = self.facts.imported.get(symbol)
        if target is None:
            return self, symbol
        for script in self.scripts:
            if script.facts.own_names.get(target.name) is target:
                return script._meant(target)
        return self, symbol  # a class of Python

    def _in_module(self, node: n.Member) -> tuple["Effects", Symbol] | None:
        """The script that defines `module.name`, and the symbol there, if `module` is a script.

        Returns None for other nodes.
        """
        meant = self.facts.member_of_module(node)
        if meant is None:
            return None
        module = self.facts.modules[self.facts.names.of(node.value)]
        return next(one for one in self.scripts if one.facts is module)._meant(meant)

    def _is_of_python(self, symbol: Symbol) -> bool:
        return symbol.kind == "import" and symbol not in self.facts.modules

    def _is_data(self, node: n.Expression) -> bool:
        """Whether the type of a node is plain data, so that using the value runs no code."""
        return _is_data(self.facts.types.get(node, ANY))

    def _is_pure_import(self, symbol: Symbol) -> bool:
        module, name = self._imports.get(symbol, ("", ""))
        if module in _CALCULATING:
            return True
        # If a module is imported as a whole, all its functions must be pure.
        return self.is_pure(f"{module}.{name or '*'}")

    def python_name(self, node: n.Expression) -> str | None:
        """The full name of a Python function, with its module. Returns None for anything else."""
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
        """Whether the effects of a callee's name already include those of the call."""
        found = self._in_module(node) if isinstance(node, n.Member) else None
        if found is None and isinstance(node, n.Member):
            # A member of a Python object.
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
        if node.is_streamed:  # its pieces are shown when they arrive
            effects.add("writes")
        for one in offered(self.facts, node):
            script = self.of_script(one.facts)
            if not script.is_declared_pure(one.value):
                own, functions = script._of_value(one.type, is_called=False)
                effects |= own
                called |= functions
        judge = _judge_of(self.facts, node)
        if judge is not None:
            own, functions = self._of_value(judge, is_called=True)
            effects |= own
            called |= functions
        if node.mode == "program":
            called.update(conversions_of(self.facts.module, self.facts).values())
        return effects, called

    def _of_value(self, type_: Type, *, is_called: bool) -> _Found:
        """The effects of calling a value of this type.

        If `is_called` is false, the value is only passed on, or shown to a model.
        """
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


@remembered
def _is_data(type_: Type) -> bool:
    return all(isinstance(one, _DATA) or one in _PLAIN for one in set(within(type_)))


def _both(*found: _Found) -> _Found:
    """The union of the effects, and the union of the functions."""
    return {e for effects, _ in found for e in effects}, {f for _, called in found for f in called}


def _of_builtin(name: str) -> set[Effect]:
    effect = BUILTINS[name].effect
    return set() if effect is None else {effect}


def _imports(facts: Facts) -> dict[Symbol, tuple[str, str]]:
    """Maps each imported name to its module and to its name in the module.

    The name in the module is "" if the whole module is imported.
    """
    found: dict[Symbol, tuple[str, str]] = {}
    for node in nodes_of(facts.module, n.ImportStmt, n.FromImport):
        for bound, imported in imported_by(node):
            name = imported.text if isinstance(node, n.FromImport) else ""
            found[facts.names.of(bound)] = facts.module_behind(node.module), name
    return found


# Rules of records, and checks of prompts

# Parts of Python's library without effects, beside the modules that only calculate.
_KNOWN_PURE = (
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
    *("datetime.date.fromisoformat", "datetime.datetime.fromisoformat"),
    *("datetime.time.fromisoformat", "datetime.datetime.strptime", "decimal.*", "fractions.*"),
    *("uuid.UUID", "ipaddress.*", "urllib.parse.*", "stdnum.*"),
)


def check_rules(facts: Facts, mistakes: Collector, pure: Iterable[str] = ()) -> None:
    """Reports rules of records that ask a model, or that may have other effects.

    `pure` has patterns of the Python functions that the project declares to have no effects.
    """
    effects = Effects(facts, (*pure, *_KNOWN_PURE), has_clock=False)
    for record in nodes_of(facts.module, n.RecordDef):
        for rule in record.rules:
            named: set[n.Node] = set()
            for node in walk(rule):
                if isinstance(node, n.Call) and effects.is_declared_pure(node.function):
                    named.update(walk(node.function))
                problem = None if node in named else _rule_problem(node, effects)
                if problem is not None:
                    hint = _way_out(node, effects)
                    mistakes.add(catalogue.RULE_EFFECT.at(node.span, problem=problem, hint=hint))
                    break


def _way_out(node: n.Node, effects: Effects) -> str:
    """The hint for a rule that may have effects."""
    function = node.function if isinstance(node, n.Call) else node
    name = effects.python_name(function) if isinstance(function, n.Expression) else None
    if name is None:
        return "write the `assert` where the record is used: rules run for every record"
    return f'if it only calculates, say so in pyproject.toml: `[tool.saft] pure = ["{name}"]`'


def _rule_problem(node: n.Node, effects: Effects) -> str | None:
    if not isinstance(node, n.Name | n.Member | n.Call | n.Prompt):
        return None  # rules may compare values
    found = effects.of_node(node)
    if isinstance(node, n.Call) and isinstance(node.function, n.Member):
        found |= effects.of(node.function)  # shown as a whole
    if "asks" in found:
        return "ask a model"
    if not found:
        return None
    facts = effects.facts
    is_known = isinstance(node, n.Name) and facts.meaning_of(facts.names.of(node)).kind != "import"
    return "have effects" if is_known else "call what may have effects"


def check_judges(facts: Facts, mistakes: Collector) -> None:
    """Reports each option `check` that cannot judge the value of its prompt."""
    by_fields = {node.value for node in nodes_of(facts.module, n.DestructureStmt)}
    for node in nodes_of(facts.module, n.Prompt):
        type_ = _judge_of(facts, node)
        if type_ is None or node.options is None:
            continue
        written = node.options.named if isinstance(node.options, n.ObjectLiteral) else ()
        at = next((one.value for one in written if one.key.text == "check"), node.options)
        problem, hint = None, None
        if node.is_streamed:
            problem, hint = "cannot judge a stream", "its parts arrive before the whole is checked"
        elif node.mode == "program":
            problem, hint = "cannot judge a program", "check its result after the prompt"
        elif node in by_fields:
            problem, hint = "takes one value", "ask for a `type` with these fields"
        if problem is not None:
            mistakes.add(catalogue.CHECK_OF_PROMPT.at(at.span, problem=problem, hint=hint))
        else:
            _check_judge(facts, at, type_, facts.prompts.get(node, ANY), mistakes)


def _judge_of(facts: Facts, node: n.Prompt) -> Type | None:
    """The type of the option `check` of a prompt. Returns None if the prompt has no such option."""
    options = None if node.options is None else facts.types.get(node.options)
    field = options.field("check") if isinstance(options, ObjectType) else None
    return None if field is None else field.type


def _check_judge(
    facts: Facts, node: n.Expression, type_: Type, asked: Type, mistakes: Collector
) -> None:
    """Reports a `check` function that cannot judge the value of its prompt.

    The function must take the prompt's value, fail for a bad value, and have no other effect.
    """
    if type_ == ANY or isinstance(type_, CallableType):
        return
    expected, hint = f"a function that takes {show(asked)}", None
    if isinstance(type_, FunctionType) and not type_.waits:
        definition = type_.definition
        known = facts.functions[definition]
        required = [one for one in definition.parameters if one.default is None]
        effects = Effects(facts).of_function(definition) & {"asks", "prints", "writes"}
        is_one = bool(known.parameters) and len(required) < 2
        if not is_one or fit(asked, known.parameters[0]) > Assignability.CONVERT:
            pass
        elif is_only(known.returns, "bool"):
            expected, hint = "a function that fails", "`fail` or `assert` with the reason instead"
        elif effects:
            problem = f"must not {'ask a model' if 'asks' in effects else 'have effects'}"
            hint = "do that after the prompt: a check may run several times"
            mistakes.add(catalogue.CHECK_OF_PROMPT.at(node.span, problem=problem, hint=hint))
            return
        else:
            return
    found = show(type_)
    mistakes.add(catalogue.TYPE_MISMATCH.at(node.span, expected=expected, found=found, hint=hint))
