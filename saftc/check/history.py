"""Finds the names that keep the history of a prompt: its tool calls, text, usage and model.

    report = $ Is it warmer in {a} or in {b}? $
    print(report)                       // the value
    for call in report.toolCalls: ...   // the history

A name *can* keep the history if each assignment to it is a prompt, another name that can keep the
history, a field of a destructuring, or a call of a function that passes the history on. A function
passes the history on if each of its `ret` statements does, and if it declares no return type. If a
name is assigned again, its bindings are treated separately (see `bindings`). A name *does* keep the
history only if the script reads the history from it, directly or through names and functions that
pass the history on. All other names hold the plain value, so in most scripts the code for a prompt
just reads `.value`.

A name that is assigned prompts and also a `Result`, such as a call of a function `-> Result`, holds
a `Result` in all these assignments.

A *keeper* is a name or a function that can keep a history.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from saftc.check.bindings import separate_bindings
from saftc.check.forward import ends
from saftc.check.names import Names, Symbol
from saftc.check.statements import all_statements, assigned_by
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.results import MEMBERS

Keeper = Symbol | n.FunctionDef

# The annotation that a prompt inherits if another assignment of its name is a `Result`.
WHOLE_RESULT = n.NamedSchema(Span(0, 0), "Result")


@dataclass(slots=True)
class History:
    """The names and functions that can keep a history (`can`), and those that do (`does`).

    `untyped` are the names and functions whose prompts all have no type, so that the text may
    contain JSON.
    """

    can: set[Keeper] = field(default_factory=set[Keeper])
    untyped: set[Keeper] = field(default_factory=set[Keeper])
    does: set[Keeper] = field(default_factory=set[Keeper])
    # The symbols of the separate bindings of rebound names.
    bindings: dict[n.Node, Symbol] = field(default_factory=dict[n.Node, Symbol])
    # By keeper: the names and functions that its history comes from, and those that must keep a
    # history if this keeper does.
    sources: dict[Keeper, list[Keeper]] = field(default_factory=dict[Keeper, list[Keeper]])
    # By keeper: the prompts whose result it may hold or return; absent if unknown.
    conversations: dict[Keeper, tuple[n.Prompt, ...]] = field(
        default_factory=dict[Keeper, tuple[n.Prompt, ...]]
    )
    # The streamed prompts that are not in the header of a loop: a loop iterates over a name or call
    # with their result, or a function declares that it returns a stream.
    streams: set[n.Prompt] = field(default_factory=set[n.Prompt])
    # The streamed prompts in the header of a loop over their drafts.
    drafted: set[n.Prompt] = field(default_factory=set[n.Prompt])

    def keep(self, keeper: Keeper) -> None:
        """Marks a name or function, and all sources of its history, as keeping the history."""
        pending = [keeper]
        while pending:
            one = pending.pop()
            if one not in self.does:
                self.does.add(one)
                pending += self.sources.get(one, ())

    def gives_stream(self, keeper: Keeper) -> bool:
        """Whether a name holds, or a function returns, a stream whose request is not sent yet."""
        if isinstance(keeper, n.FunctionDef) and is_stream(keeper.returns):
            return True
        asked = self.conversations.get(keeper, ())
        return bool(asked) and self.streams.issuperset(asked)

    def binding(self, node: n.Node, names: Names) -> Symbol:
        """The symbol of the name at `node`.

        If the bindings of the name have separate symbols, it is the symbol of the binding at
        `node`.
        """
        return self.bindings.get(node) or names.of(node)

    def source(self, node: n.Expression | None, names: Names) -> Keeper | None:
        """The name or called function whose history `node` passes on, or None."""
        match node:
            case n.Name():
                return self.binding(node, names)
            case n.Call(function=n.Name() as function):
                definition = names.of(function).node
                return definition if isinstance(definition, n.FunctionDef) else None
            case _:
                return None


InheritedAnnotations = dict[n.Identifier, n.Schema]
HasField = Callable[[n.Schema, str], bool]
Meaning = Callable[[Symbol], Symbol]


def find_history(
    module: n.Module,
    names: Names,
    held: InheritedAnnotations,
    has_field: HasField,
    meaning: Meaning,
) -> History:
    """Finds the names and functions of a module that keep the history of a prompt.

    `held`: the annotations that unannotated assignments inherit; `WHOLE_RESULT` is added for some.
    `has_field` returns whether the values of a schema have a field with a given name; fields take
    precedence over the members of a history. `meaning` returns the symbol of an imported name in
    its own script.
    """
    history = History(bindings=separate_bindings(module, names))
    finder = _HistoryFinder(module, names, held, has_field, meaning, history)
    history.drafted.update(finder.drafted())
    history.can = finder.can
    history.untyped = finder.untyped()
    history.sources = finder.sources()
    history.conversations = finder.conversations()
    for keeper in finder.streaming(history.conversations):
        history.streams.update(history.conversations[keeper])
        if keeper in history.can:
            history.keep(keeper)
    for keeper in finder.asked():
        history.keep(keeper)
    return history


class _HistoryFinder:
    def __init__(
        self,
        module: n.Module,
        names: Names,
        held: InheritedAnnotations,
        has_field: HasField,
        meaning: Meaning,
        history: History,
    ) -> None:
        self.module = module
        self.names = names
        self.held = held
        self.history = history
        self.has_field = has_field
        self.meaning = meaning
        # The names bound by the same destructuring: either all of them keep the history, or none.
        self.together: dict[Symbol, list[Symbol]] = {}
        self.values: dict[Symbol, list[n.Expression | None]] = {}
        self.returns: dict[n.FunctionDef, list[n.Expression | None]] = {}
        self.members: list[n.Member | n.Index] = []
        self.loops: list[n.ForStmt | n.ComprehensionClause] = []
        for node in nodes_of(module):
            self._collect(node)
        self._hold_results()
        self.can = _closed(
            [
                *(one for one in self.returns if one.returns is None and self._always_gives(one)),
                *(one for one in self.values if self._is_open(one)),
            ],
            self._needs,
        )

    def _hold_results(self) -> None:
        """Lets prompts inherit `Result` if another assignment of the same name has this type."""
        assigned: dict[Symbol, list[n.AssignStmt]] = {}
        for node in nodes_of(self.module, n.AssignStmt):
            assigned.setdefault(self._binding(node.name), []).append(node)
        for statements in assigned.values():
            if any(self._is_whole(one.value) for one in statements):
                for one in statements:
                    if isinstance(one.value, n.Prompt) and self._schema_of(one) is None:
                        self.held[one.name] = WHOLE_RESULT

    def _is_whole(self, node: n.Expression) -> bool:
        """Whether an expression has the type `Result` by an annotation of a script."""
        match node:
            case n.Call(function=n.Name() as function):
                declared = self.meaning(self.names.of(function)).node
                schema = declared.returns if isinstance(declared, n.FunctionDef) else None
            case n.Name():
                declared = self.names.of(node).node
                is_annotated = isinstance(declared, n.Parameter | n.AssignStmt)
                schema = declared.schema if is_annotated else None
            case _:
                schema = None
        return isinstance(schema, n.NamedSchema) and schema.text == "Result"

    def _collect(self, node: n.Node) -> None:
        match node:
            case n.FunctionDef():
                self.returns[node] = [
                    statement.value
                    for statement in all_statements(node.body)
                    if isinstance(statement, n.RetStmt)
                ]
            case n.AssignStmt() | n.AugmentedAssignStmt():
                self.values.setdefault(self._binding(node.name), []).append(node.value)
            case n.DestructureStmt():
                bound = [self._binding(identifier) for identifier in assigned_by(node)]
                for symbol in bound:
                    self.values.setdefault(symbol, []).append(node.value)
                    self.together.setdefault(symbol, []).extend(bound)
            case n.ForStmt() | n.ComprehensionClause() | n.UnpackStmt():
                if not isinstance(node, n.UnpackStmt):
                    self.loops.append(node)
                for identifier in assigned_by(node):
                    self.values.setdefault(self._binding(identifier), []).append(None)
            case n.Member() | n.Index():
                self.members.append(node)
            case _:
                pass

    def _given(self, keeper: Keeper) -> list[n.Expression | None]:
        return self.returns[keeper] if isinstance(keeper, n.FunctionDef) else self.values[keeper]

    def _sources(self, keeper: Keeper) -> list[Keeper | None]:
        """The names and functions that the history of `keeper` comes from.

        Prompts are left out. The list has a None for each value without history.
        """
        given = self._given(keeper)
        return [self.source(one) for one in given if not isinstance(one, n.Prompt)]

    def _needs(self, keeper: Keeper) -> list[Keeper | None]:
        """The sources of the history of `keeper`, and the names bound by the same destructuring."""
        together = self.together.get(keeper, ()) if isinstance(keeper, Symbol) else ()
        return [*self._sources(keeper), *together]

    def _always_gives(self, function: n.FunctionDef) -> bool:
        return bool(self.returns[function]) and ends(function.body)

    def _is_open(self, symbol: Symbol) -> bool:
        """True if inference must decide whether a variable keeps a history.

        There is nothing to decide if the variable is annotated as a whole result.
        """
        return self._is_variable(symbol) and not _names_result(self._schema(symbol))

    def _is_variable(self, symbol: Symbol) -> bool:
        return symbol.kind == "variable" and symbol.starts_from is None

    def conversations(self) -> dict[Keeper, tuple[n.Prompt, ...]]:
        """Maps each name or function to the prompts whose result it may hold or return.

        Names and functions are absent if the prompts are unknown. The table includes names and
        functions that are declared as a whole result, and names bound to a call of such a function.
        """
        keepers = _closed(
            [
                *self.can,
                *(one for one in self.values if self._is_variable(one) and self._is_result(one)),
                *(o for o in self.returns if _names_result(o.returns) and self._always_gives(o)),
            ],
            self._sources,
        )
        return {one: self._prompts_of(one) for one in keepers}

    def streaming(self, known: Mapping[Keeper, tuple[n.Prompt, ...]]) -> Iterator[Keeper]:
        """Yields the names and functions that hold or return a stream.

        Such a name or function is used by a loop that iterates over the name or over a call of the
        function, or it declares `stream` as its return type. All prompts that the stream may come
        from must be streamed.
        """
        sources = (self.source(loop.iterable) for loop in self.loops)
        declared = (one for one in self.returns if is_stream(one.returns))
        found: list[Keeper | None] = [*sources, *declared]
        for keeper in found:
            prompts = () if keeper is None else known.get(keeper, ())
            if keeper is not None and prompts and all(one.is_streamed for one in prompts):
                yield keeper

    def drafted(self) -> Iterator[n.Prompt]:
        """The streamed prompts in the header of a loop over drafts (partial values)."""
        typed = (one for one in self.loops if isinstance(one, n.ForStmt) and one.schema is not None)
        for loop in typed:
            if isinstance(loop.iterable, n.Prompt) and loop.iterable.is_streamed:
                yield loop.iterable

    def _is_result(self, symbol: Symbol) -> bool:
        schema = self._schema(symbol)
        if schema is not None:
            return _names_result(schema)
        return not any(isinstance(value, n.Prompt) for value in self.values[symbol])

    def _prompts_of(self, keeper: Keeper) -> tuple[n.Prompt, ...]:
        found, seen = dict[n.Prompt, None](), dict[Keeper | None, None].fromkeys([keeper])
        pending = [keeper]
        for one in pending:
            found.update({value: None for value in self._given(one) if isinstance(value, n.Prompt)})
            new = [source for source in self._sources(one) if source and source not in seen]
            seen.update(dict.fromkeys(new))
            pending += new
        return tuple(found)

    def source(self, node: n.Expression | None) -> Keeper | None:
        return self.history.source(node, self.names)

    def _binding(self, node: n.Identifier) -> Symbol:
        return self.history.binding(node, self.names)

    def sources(self) -> dict[Keeper, list[Keeper]]:
        """Maps each name or function to those that must keep a history if it keeps one."""
        return {one: [other for other in self._needs(one) if other] for one in self.can}

    def asked(self) -> Iterator[Keeper]:
        """The names and functions whose history the script reads."""
        for node in self.members:
            source = self.source(node.value)
            if source is not None and source in self.can and self._asks(node, source):
                yield source

    def _asks(self, node: n.Member | n.Index, source: Keeper) -> bool:
        """Whether `node` reads a part of a result that the plain value does not have.

        Such a part is a member of the history. If the result is untyped, all other members and
        items count, too: they are parts of the JSON in the result's text.
        """
        if isinstance(node, n.Member) and node.name.text in MEMBERS:
            schema = self._schema(source)
            return schema is None or not self.has_field(schema, node.name.text)
        return source in self.history.untyped

    def _schema(self, source: Keeper) -> n.Schema | None:
        """The annotation of a name, declared there or inherited, or None if it has none."""
        match source.node if isinstance(source, Symbol) else None:
            case n.AssignStmt() as statement:
                return self._schema_of(statement)
            case n.DestructureStmt(fields=fields):
                assert isinstance(source, Symbol)
                return next(f.schema for f in fields if f.name.text == source.name)
            case _:
                return None

    def _schema_of(self, statement: n.AssignStmt) -> n.Schema | None:
        return statement.schema or self.held.get(statement.name)

    def untyped(self) -> set[Keeper]:
        """The names and functions whose results come from untyped prompts only."""
        return _closed(
            [one for one in self.can if self._schema(one) is None],
            lambda one: [source for source in self._sources(one) if source is not None],
        )


def _closed(
    keepers: Iterable[Keeper], needs: Callable[[Keeper], Iterable[Keeper | None]]
) -> set[Keeper]:
    """The largest subset of `keepers` in which no member needs anything outside of the subset."""
    kept, users = set(keepers), dict[Keeper | None, list[Keeper]]()
    for one in kept:
        for needed in needs(one):
            users.setdefault(needed, []).append(one)
    lost = [needed for needed in users if needed not in kept]
    for one in lost:
        new = [user for user in users.get(one, ()) if user in kept]
        kept.difference_update(new)
        lost += new
    return kept


def is_stream(schema: n.Schema | None) -> bool:
    """Whether a return type is `stream`."""
    return isinstance(schema, n.NamedSchema) and schema.text == "stream"


def _names_result(schema: n.Schema | None) -> bool:
    """Whether a schema is `stream` or contains `Result`."""
    parts = () if schema is None else walk(schema)
    return is_stream(schema) or any(
        isinstance(part, n.NamedSchema) and part.text == "Result" for part in parts
    )
