"""Names: which variable, function or builtin each name of a script means.

There are two kinds of scope: the module and a function's call; `if`, `for` and `while` open none.
A comprehension has its variables to itself. A name that is assigned anywhere in a function belongs
to the call from the assignment on; before it, reading the name sees the outer one:

    rate = 2
    f twice():
        before = rate       // the outer `rate`
        rate = 3            // from here on the call's own
        ret before + rate

So a read is resolved with what is known to be assigned at that point: certainly (the local name),
certainly not (the outer name), or on some paths only. In the last case the local symbol *starts
from* the outer one: nothing can change an outer name while a call runs, so a copy made at the
call's beginning is exact, and the output makes that copy. Without an outer name, what certainly has
no value is an error, and what may have none is a warning.

A function sees all names of the scopes around it, also those assigned below it, because it runs
later than it is defined. Where it is used, what it reads must have a value (see `_report_early`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import assert_never

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Advice, Collector, Edit, Related
from saftc.diagnostics.near import meant_to_be, near
from saftc.semantics.builtins import BUILTINS
from saftc.semantics.flow import all_statements, bound_by, ends
from saftc.semantics.names import Code, Names, Owner, Scope, Symbol, SymbolKind
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.habits import ABSENT_NAMES, WORDS
from saftc.syntax.walk import children, nodes_of, walk

# A variable in braces, with its members and items.
_HOLE = re.compile(r"\{\s*([A-Za-z_]\w*)(?:\.\w+|\[[^\]{}\"]*\])*\s*\}", re.ASCII)

_ABOUT_TEXT = {"replace", "contains", "split", "starts_with", "ends_with"}

# Names that cannot be assigned.
_FIXED = {"function": "a function", "record": "a type", "type": "a type", "import": "imported"}
_TYPES = ("record", "type")

_ELSEWHERE = {
    "True": "true",
    "False": "false",
    "None": "nil",
    "null": "nil",
    "NULL": "nil",
    **dict.fromkeys(("none", "nul", "Nil", "NIL", "NONE"), "nil"),
    **dict.fromkeys(("TRUE", "yes"), "true"),
    **dict.fromkeys(("FALSE", "no"), "false"),
    "undefined": "nil",
    "length": "len",
    "append": "xs + [x]",
    "pass": "nil",
    "string": "str",
}


def resolve(module: n.Module, mistakes: Collector) -> Names:
    """The meaning of every name in `module`; mistakes go to `mistakes`."""
    resolver = _Resolver(module, mistakes)
    resolver.run()
    return resolver.names


_BUILTIN_SYMBOLS = {name: Symbol(name, "builtin", None, None) for name in BUILTINS}


class _Flow:
    """The names certainly assigned at a point; a branch adds to its own layer.

    `later` are the names that only a part of the loop at hand still to come assigns: where it runs
    for the first time they have no value.
    """

    def __init__(self, outer: "_Flow | None" = None, later: Iterable[str] = ()) -> None:
        self.outer = outer
        self.added: dict[str, int] = {}
        self.later = set(later)
        self.has_ended = False
        # Of the body of a loop: what is certainly assigned in it at each `break` and `continue`.
        self.left: list[tuple[n.BreakStmt | n.ContinueStmt, set[str]]] = []

    def __contains__(self, name: str) -> bool:
        return any(name in flow.added for flow in self.layers())

    def layers(self) -> "Iterator[_Flow]":
        """This layer and those below it."""
        flow: _Flow | None = self
        while flow is not None:
            yield flow
            flow = flow.outer

    def add(self, name: str) -> None:
        """Notes that `name` has a value from now on."""
        self.added.setdefault(name, len(self.added))
        for flow in self.layers():
            flow.later.discard(name)

    def leave(self, loop: "_Flow", statement: n.BreakStmt | n.ContinueStmt) -> None:
        """Notes that `statement` leaves the body of a loop here."""
        added: set[str] = set()
        for flow in self.layers():
            added.update(flow.added)
            if flow is loop:
                break
        loop.left.append((statement, added))

    def now(self) -> "_Moment":
        """What is certainly assigned at this point, for later."""
        return tuple((flow, len(flow.added)) for flow in self.layers())


# The layers of a flow, and how many names each had by then.
_Moment = tuple[tuple[_Flow, int], ...]


def _has(moment: _Moment, name: str) -> bool:
    """Whether a name was certainly assigned at some point."""
    return any(flow.added.get(name, count) < count for flow, count in moment)


@dataclass(frozen=True, slots=True)
class _Use:
    """A function or record is read where its surroundings have assigned what `moment` says."""

    span: Span
    function: Code
    scope: Scope
    moment: _Moment


# What each function itself reads of the scopes around it, and where first.
_Reads = dict[Code, dict[Symbol, n.Name]]


class _Resolver:
    def __init__(self, module: n.Module, mistakes: Collector) -> None:
        self.module = module
        self.mistakes = mistakes
        self.names = Names({}, {})
        # A type in a block is a mistake of its own; elsewhere its name is no further one.
        self.guessed = module.guessed | {
            node.name.text for node in nodes_of(module, n.TypeAlias, n.RecordDef)
        }
        self.pending: list[tuple[Code, Scope]] = []
        # The names of a function that its surroundings have certainly assigned above it.
        self.assigned_above: dict[Owner, set[str]] = {}
        # For each call, the names that an inner function reads before they are certainly assigned.
        self.captured: dict[Scope, dict[str, tuple[n.Name, n.FunctionDef]]] = {}
        self.uses: list[_Use] = []
        # The flow of each call and of the module, without what branches assign.
        self.flows: dict[Scope, _Flow] = {}
        self._failures = {
            node.error.text: node.error
            for node in nodes_of(module, n.TryStmt)
            if node.error is not None
        }

    def run(self) -> None:
        scope = Scope(self.module, None)
        flow = self.flows[scope] = _Flow()
        self.names.scopes[self.module] = scope
        self._declare(scope, self.module.statements)
        self._statements(self.module.statements, scope, flow, loop=None)
        for symbol in scope.symbols.values():
            if isinstance(symbol.node, Code):
                # Whoever imports the module may call it, and a `main` is called at the end.
                span = symbol.node.name.span
                self.uses.append(_Use(span, symbol.node, scope, flow.now()))
        while self.pending:
            code, outer = self.pending.pop(0)
            if isinstance(code, n.FunctionDef):
                self._function(code, outer)
            else:
                self._rules(code, outer)
        self._report_early()
        self._report_unused()

    def _report_early(self) -> None:
        """Warns of functions that are used before what they read has a value."""
        reads = self._reads_of_functions()
        latest = self._latest(reads)
        told: set[tuple[Code, Symbol]] = set()
        for use in self.uses:
            base, count = use.moment[-1]
            if latest[use.function].get(base, 0) < count:
                continue
            for symbol, read in _reached_reads(use.function, reads):
                is_own = symbol.scope is use.scope and symbol.name in use.scope.maybe
                is_told = symbol in self.names.unset or (use.function, symbol) in told
                if not is_own or is_told or _has(use.moment, symbol.name):
                    continue
                told.add((use.function, symbol))
                self.mistakes.add(
                    catalogue.MAYBE_UNBOUND.at(
                        use.span,
                        name=symbol.name,
                        hint=f"`{use.function.name.text}` reads it",
                        related=(Related(read.span, "it is read here"),),
                    )
                )
        self.names.unset.update(symbol for _, symbol in told)

    def _reads_of_functions(self) -> _Reads:
        """What each function itself reads of the scopes around it."""
        reads: _Reads = {}
        for function in self.names.scopes:
            if isinstance(function, Code):
                own = reads[function] = {}
                for read in _names_below(function):
                    symbol = self.names.symbols[read]
                    for one in (symbol, symbol.starts_from):
                        if one is not None and one.scope is not None:
                            own.setdefault(one, read)
        return reads

    def _latest(self, reads: _Reads) -> "dict[Code, dict[_Flow, float]]":
        """How late the last name that each function needs is assigned, in each flow around it."""
        latest: dict[Code, dict[_Flow, float]] = {function: {} for function in reads}
        callers: dict[Code, list[Code]] = {}
        for function, symbols in reads.items():
            for symbol in symbols:
                if isinstance(symbol.node, Code):
                    callers.setdefault(symbol.node, []).append(function)
                base = self.flows.get(symbol.scope) if symbol.scope is not None else None
                if base is not None:
                    place = base.added.get(symbol.name, inf)
                    latest[function][base] = max(latest[function].get(base, 0), place)
        pending = list(reads)
        while pending:
            function = pending.pop()
            for caller in callers.get(function, ()):
                known = latest[caller]
                later = {f: p for f, p in latest[function].items() if p > known.get(f, -1)}
                if later:
                    known.update(later)
                    pending.append(caller)
        return latest

    def _report_unused(self) -> None:
        """Warns of what a function assigns and nothing ever reads.

        What the module assigns may be read by whoever imports it.
        """
        in_schemas = {node.text.split(".")[0] for node in nodes_of(self.module, n.NamedSchema)}
        for scope in self.names.scopes.values():
            for symbol in scope.symbols.values():
                if symbol.kind == "import" and symbol.name in in_schemas:
                    symbol.is_read = True
                is_local = symbol.kind == "variable" and isinstance(scope.owner, n.FunctionDef)
                if symbol.is_read or symbol.name.startswith("_") or symbol.node is None:
                    continue
                is_alone = isinstance(symbol.node, n.AssignStmt | n.AugmentedAssignStmt)
                if is_local and is_alone:
                    hint = None
                    if symbol.hides is not None and symbol.hides.kind == "variable":
                        hint = "it is the call's own: the outer one stays; `ret` gives it back"
                    self.mistakes.add(
                        catalogue.UNUSED_NAME.at(_span_of(symbol.node), name=symbol.name, hint=hint)
                    )

    # Declaring

    def _declare(self, scope: Scope, statements: Iterable[n.Statement]) -> None:
        for statement in all_statements(statements):
            match statement:
                case n.FunctionDef():
                    self._declare_function(scope, statement)
                case n.RecordDef():
                    self._define(scope, statement.name, "record", statement)
                case n.TypeAlias():
                    self._define(scope, statement.name, "type", statement)
                case n.ImportStmt():
                    name = statement.alias or statement.module
                    self._define(scope, name, "import", statement)
                case n.FromImport():
                    for imported in statement.names:
                        self._define(scope, imported.alias or imported.name, "import", imported)
                case _:
                    for identifier in bound_by(statement):
                        self._define(scope, identifier, "variable", statement)

    def _declare_function(self, scope: Scope, function: n.FunctionDef) -> None:
        earlier = scope.symbols.get(function.name.text)
        if earlier is not None and earlier.kind == "function":
            self.mistakes.add(
                catalogue.DUPLICATE_FUNCTION.at(
                    function.name.span,
                    name=function.name.text,
                    related=_first_defined(earlier),
                )
            )
        elif earlier is not None and earlier.kind == "variable":
            self._reassigned(earlier.node, function.name, "a function")
        elif earlier is not None and earlier.kind in _TYPES:
            self._reassigned(earlier.node, function.name, _FIXED[earlier.kind])
        self._check_reserved(function.name)
        symbol = Symbol(function.name.text, "function", scope, function)
        scope.symbols[function.name.text] = symbol
        self.names.symbols[function.name] = symbol

    def _define(
        self, scope: Scope, identifier: n.Identifier, kind: SymbolKind, node: n.Node
    ) -> None:
        # `import a.b` binds `a`.
        text = identifier.text.split(".")[0]
        self._check_reserved(identifier)
        symbol = scope.symbols.get(text)
        is_type = kind in _TYPES
        if symbol is not None and symbol.kind in _FIXED and kind == "variable":
            self._reassigned(identifier, identifier, _FIXED[symbol.kind])
        elif symbol is not None and is_type != (symbol.kind in _TYPES):
            self._reassigned(identifier, identifier, _FIXED[kind if is_type else symbol.kind])
        if symbol is None:
            symbol = scope.symbols[text] = Symbol(text, kind, scope, node)
        self.names.symbols[identifier] = symbol

    def _check_reserved(self, identifier: n.Identifier) -> None:
        if identifier.text.startswith("__saft_"):
            self.mistakes.add(
                catalogue.RESERVED_NAME.at(
                    identifier.span, name=identifier.text, hint="give it another name"
                )
            )

    def _reassigned(self, node: n.Node | None, name: n.Identifier, what: str) -> None:
        span = node.span if isinstance(node, n.Identifier) else name.span
        self.mistakes.add(
            catalogue.NAME_IS_TAKEN.at(
                span, name=name.text, what=what, hint="give one of the two another name"
            )
        )

    # Functions

    def _function(self, function: n.FunctionDef, outer: Scope) -> None:
        scope = Scope(function, outer)
        self.names.scopes[function] = scope
        flow = self.flows[scope] = _Flow()
        self._duplicates("parameter", [parameter.name for parameter in function.parameters])
        for parameter in function.parameters:
            name = parameter.name.text
            self._check_reserved(parameter.name)
            symbol = Symbol(name, "parameter", scope, parameter)
            scope.symbols.setdefault(name, symbol)
            self.names.symbols[parameter.name] = symbol
            flow.add(name)
        self._declare(scope, function.body)
        self._statements(function.body, scope, flow, loop=None)
        if not flow.has_ended:
            self._check_captured(scope, flow)

    def _check_captured(self, scope: Scope, flow: _Flow) -> None:
        """Where a call ends: what its inner functions read must be its own on every path.

        They may go on after the call, and then they would have to see the outer name as it is
        then, if this call has assigned none. Python has no such variable.
        """
        for name, (read, function) in self.captured.get(scope, {}).items():
            symbol = scope.symbols[name]
            if name not in flow and symbol.starts_from is not None:
                self.names.unset.add(symbol)
                self.mistakes.add(
                    catalogue.TWO_MEANINGS.at(
                        read.span,
                        name=name,
                        function=function.name.text,
                        hint="rename the local one",
                        related=_first_defined(symbol),
                    )
                )

    def _rules(self, record: n.RecordDef, outer: Scope) -> None:
        """The rules of a record read its fields, and else what a function there could read."""
        scope = Scope(record, outer)
        self.names.scopes[record] = scope
        flow = self.flows[scope] = _Flow()
        for field_ in record.fields:
            symbol = Symbol(field_.name.text, "field", scope, field_)
            self.names.symbols[field_.name] = scope.symbols.setdefault(field_.name.text, symbol)
            flow.add(field_.name.text)
        for rule in record.rules:
            self._statement(rule, scope, flow, loop=None)

    # Statements

    def _statements(
        self, statements: Iterable[n.Statement], scope: Scope, flow: _Flow, loop: _Flow | None
    ) -> None:
        is_reached = True
        for statement in statements:
            if flow.has_ended and is_reached:
                self.mistakes.add(catalogue.UNREACHABLE.at(statement.span))
                is_reached = False
            self._statement(statement, scope, flow, loop)
            flow.has_ended = flow.has_ended or ends((statement,))

    def _statement(
        self, statement: n.Statement, scope: Scope, flow: _Flow, loop: _Flow | None
    ) -> None:
        # In an `except`, `scope` has the failure's name; all others are those of the call.
        call = scope.call
        match statement:
            case n.FunctionDef():
                for parameter in statement.parameters:
                    if parameter.default is not None:
                        self._expression(parameter.default, scope, flow)
                own = _names_bound_in(statement.body)
                self.assigned_above[statement] = {name for name in own if name in flow}
                self._note_captures(statement, scope, flow)
                self.pending.append((statement, scope))
                self._assigned(statement.name, flow, scope)
            case n.AssignStmt() | n.AugmentedAssignStmt():
                self._expression(statement.value, scope, flow)
                self._assigned(statement.name, flow, scope)
            case n.UnpackStmt():
                self._duplicate_names(statement)
                self._expression(statement.value, scope, flow)
                for identifier in bound_by(statement):
                    self._assigned(identifier, flow, scope)
            case n.DestructureStmt():
                self._duplicates("field", [field.name for field in statement.fields])
                self._expression(statement.value, scope, flow)
                for identifier in bound_by(statement):
                    self._assigned(identifier, flow, scope)
            case n.IfStmt():
                self._if(statement, scope, flow, loop)
            case n.ForStmt():
                self._expression(statement.iterable, scope, flow)
                bound = _names_bound_in((statement,))
                inner = _Flow(flow, bound - call.maybe)
                call.maybe |= bound
                self._duplicate_names(statement)
                for identifier in bound_by(statement):
                    self._assigned(identifier, inner, scope)
                self._statements(statement.body, scope, inner, inner)
                if isinstance(statement.iterable, n.ListLiteral | n.TupleLiteral) and (
                    statement.iterable.items
                ):
                    ends_of_body = [] if inner.has_ended else [set(inner.added)]
                    _add_common(flow, [*(names for _, names in inner.left), *ends_of_body])
            case n.WhileStmt():
                bound = _names_bound_in(statement.body)
                inner = _Flow(flow, bound - call.maybe)
                call.maybe |= bound
                self._expression(statement.condition, scope, inner)
                self._statements(statement.body, scope, inner, inner)
                if isinstance(statement.condition, n.Literal) and statement.condition.value is True:
                    breaks = [names for one, names in inner.left if isinstance(one, n.BreakStmt)]
                    _add_common(flow, breaks)
            case n.TryStmt():
                self._try(statement, scope, flow, loop)
            case n.FailStmt():
                if self._passes_on(statement.value, scope):
                    self.names.passed_on.add(statement)
                else:
                    self._expression(statement.value, scope, flow)
            case n.BreakStmt() | n.ContinueStmt():
                if loop is not None:
                    flow.leave(loop, statement)
                else:
                    word = "break" if isinstance(statement, n.BreakStmt) else "continue"
                    self.mistakes.add(catalogue.LOOP_OUTSIDE.at(statement.span, word=word))
            case n.RetStmt():
                if statement.value is not None:
                    self._expression(statement.value, scope, flow)
                if isinstance(call.owner, n.Module):
                    self.mistakes.add(
                        catalogue.RET_OUTSIDE.at(
                            statement.span, hint="a script ends at its last line"
                        )
                    )
                self._check_captured(call, flow)
            case n.AssertStmt():
                self._expression(statement.condition, scope, flow)
                if statement.message is not None:
                    self._expression(statement.message, scope, flow)
            case n.ExpressionStmt():
                self._expression(statement.value, scope, flow)
                self._unused_value(statement, scope)
            case n.RecordDef():
                self._duplicates("field", [field.name for field in statement.fields])
                for record_field in statement.fields:
                    if record_field.default is not None:
                        self._expression(record_field.default, scope, flow)
                self.pending.append((statement, scope))
                self._assigned(statement.name, flow, scope)
            case n.ImportStmt() | n.FromImport():
                for symbol_name in _import_names(statement):
                    flow.add(symbol_name)
                    call.maybe.add(symbol_name)
            case n.TypeAlias():
                self._assigned(statement.name, flow, scope)
            case _:
                assert_never(statement)

    def _unused_value(self, statement: n.ExpressionStmt, scope: Scope) -> None:
        value, owner = statement.value, scope.call.owner
        hint: str | None = None
        names = [name for name in walk(value) if isinstance(name, n.Name)]
        if any(self.names.of(name).kind == "guessed" for name in names):
            # What is meant by a line with an unknown name is a guess.
            return
        match value:
            case n.Prompt() | n.Literal(value=None):
                return
            case n.Call():
                if not self._is_pure(value.function):
                    return
                hint = "`ret` gives it back" if isinstance(owner, n.FunctionDef) else None
            case n.Name():
                symbol = self.names.of(value)
                if symbol.kind in ("function", "builtin"):
                    hint = f"`{value.text}()` calls it"
            case n.Literal(value=str()):
                is_first = isinstance(owner, n.FunctionDef) and owner.body[0] is statement
                hint = (
                    "`///` above the function documents it"
                    if is_first
                    else "a comment begins with `//`"
                )
            case n.Comparison(operator="=="):
                hint = "`=` assigns"
            case _:
                pass
        self.mistakes.add(catalogue.UNUSED_VALUE.at(statement.span, hint=hint))

    def _is_pure(self, function: n.Expression) -> bool:
        """Whether a call of `function` does nothing but give a value."""
        if not isinstance(function, n.Name):
            return False
        symbol = self.names.of(function)
        if symbol.kind != "builtin" or symbol.name == "ambiguous":
            return False
        return BUILTINS[symbol.name].is_pure

    def _if(self, statement: n.IfStmt, scope: Scope, flow: _Flow, loop: _Flow | None) -> None:
        branches: list[_Flow] = []
        for branch in statement.branches:
            self._expression(branch.condition, scope, flow)
            branches.append(_Flow(flow))
            self._statements(branch.body, scope, branches[-1], loop)
        branches.append(_Flow(flow))
        self._statements(statement.other, scope, branches[-1], loop)
        _add_common(flow, [set(branch.added) for branch in branches if not branch.has_ended])

    def _try(self, statement: n.TryStmt, scope: Scope, flow: _Flow, loop: _Flow | None) -> None:
        """What the block has assigned when it fails, it may have assigned or not."""
        ways = [_Flow(flow), _Flow(flow)]
        self._statements(statement.body, scope, ways[0], loop)
        inner = self.names.scopes[statement] = Scope(statement, scope)
        if statement.error is not None:
            self._name_failure(statement, statement.error, inner)
        self._statements(statement.handler, inner, ways[1], loop)
        _add_common(flow, [set(way.added) for way in ways if not way.has_ended])

    def _name_failure(self, statement: n.TryStmt, error: n.Identifier, scope: Scope) -> None:
        """Gives the failure its name inside an `except`, which nothing there may assign."""
        self._check_reserved(error)
        symbol = Symbol(error.text, "variable", scope, statement)
        scope.symbols[error.text] = self.names.symbols[error] = symbol
        # A function may go on with it after the block: then the name is not another's in the call.
        symbol.is_captured = any(
            name.text == error.text
            for one in all_statements(statement.handler)
            if isinstance(one, n.FunctionDef)
            for name in _names_below(one)
        )
        for one in all_statements(statement.handler):
            for identifier in _bound_in_call(one):
                if identifier.text == error.text:
                    self._reassigned(identifier, identifier, "the failure at hand")

    def _passes_on(self, value: n.Expression, scope: Scope) -> bool:
        """Whether `fail value` passes on the failure that the `except` around it has caught."""
        symbol = scope.symbols.get(value.text) if isinstance(value, n.Name) else None
        if symbol is None or not isinstance(scope.owner, n.TryStmt):
            return False
        self.names.symbols[value] = symbol
        return True

    def _assigned(self, identifier: n.Identifier, flow: _Flow, scope: Scope) -> None:
        flow.add(identifier.text)
        scope.call.maybe.add(identifier.text)

    def _note_captures(self, function: n.FunctionDef, scope: Scope, flow: _Flow) -> None:
        """A function that is made before a name of its surroundings is assigned sees the outer."""
        call = scope.call
        if isinstance(call.owner, n.Module):
            return
        failures = {
            name
            for one in scope.around()
            if one.call is call and isinstance(one.owner, n.TryStmt)
            for name in one.symbols
        }
        for node in _names_below(function):
            symbol = call.symbols.get(node.text)
            if node.text in failures or symbol is None or symbol.kind != "variable":
                continue
            if node.text not in flow:
                self._start_from_outer(symbol, call)
                self.captured.setdefault(call, {})[node.text] = (node, function)

    def _duplicate_names(self, statement: n.ForStmt | n.UnpackStmt) -> None:
        """Reports a name that stands twice in a pattern; `_` may, for what is not needed."""
        names = [identifier for identifier in bound_by(statement) if identifier.text != "_"]
        self._duplicates("name", names)

    def _duplicates(self, what: str, identifiers: list[n.Identifier]) -> None:
        first: dict[str, n.Identifier] = {}
        for identifier in identifiers:
            earlier = first.setdefault(identifier.text, identifier)
            if earlier is not identifier:
                self.mistakes.add(
                    catalogue.DUPLICATE_NAME.at(
                        identifier.span,
                        what=what,
                        name=identifier.text,
                        related=(Related(earlier.span, "first defined here"),),
                    )
                )

    # Expressions

    def _expression(self, node: n.Node, scope: Scope, flow: _Flow) -> None:
        match node:
            case n.Literal(value=str() as text) if "{" in text:
                self._braces(node, text, scope)
            case n.Name():
                symbol = self.names.symbols[node] = self._look_up(node, scope, flow)
                symbol.is_read = True
                if symbol.kind == "type":
                    self.mistakes.add(catalogue.TYPE_AS_VALUE.at(node.span, name=node.text))
            case n.Comprehension():
                self._comprehension(node, scope, flow)
            case n.ObjectLiteral():
                self._duplicates("field", [field.key for field in node.named])
                for child in children(node):
                    self._expression(child, scope, flow)
            case _:
                for child in children(node):
                    self._expression(child, scope, flow)

    def _comprehension(self, node: n.Comprehension, scope: Scope, flow: _Flow) -> None:
        inner = Scope(node, scope)
        self.names.scopes[node] = inner
        inner_flow = _Flow(flow)
        for clause in node.clauses:
            self._expression(clause.iterable, inner, inner_flow)
            for identifier in bound_by(clause):
                self._define(inner, identifier, "variable", clause)
                inner.maybe.add(identifier.text)
                inner_flow.add(identifier.text)
            for condition in clause.conditions:
                self._expression(condition, inner, inner_flow)
        self._expression(node.item, inner, inner_flow)

    def _braces(self, node: n.Literal, text: str, scope: Scope) -> None:
        """Warns of a text that names a variable in braces, as if it were a formatted string."""
        visible = {name for candidate in scope.around() for name in candidate.symbols}
        for match in _HOLE.finditer(text):
            shown = match.group()
            if match[1] in visible and shown not in self._looked_for:
                edits = (Edit(Span(node.span.start, node.span.start), "f"),)
                hint = Advice("an `f` before the quotes makes it a formatted string", edits=edits)
                self.mistakes.add(catalogue.BRACES_IN_TEXT.at(node.span, text=shown, hint=hint))
                return

    @cached_property
    def _looked_for(self) -> set[str]:
        """The texts that are looked for in others, as `replace` does for a template."""
        return {
            argument.value.value
            for node in nodes_of(self.module, n.Call)
            if isinstance(node.function, n.Name) and node.function.text in _ABOUT_TEXT
            for argument in node.arguments
            if isinstance(argument.value, n.Literal) and isinstance(argument.value.value, str)
        }

    # Reading a name

    def _look_up(self, node: n.Name, scope: Scope, flow: _Flow) -> Symbol:
        call = scope.call
        for candidate in scope.around():
            symbol = candidate.symbols.get(node.text)
            if symbol is None:
                continue
            if candidate.call is not call:
                return symbol
            if isinstance(candidate.owner, n.TryStmt):
                return symbol
            if isinstance(candidate.owner, n.Comprehension):
                if node.text in candidate.maybe:
                    return symbol
                continue
            return self._own(node, symbol, candidate, flow)
        return self._outermost(node, scope)

    def _own(self, node: n.Name, symbol: Symbol, scope: Scope, flow: _Flow) -> Symbol:
        """A name of the scope that is running: it depends on what is assigned by now."""
        name = node.text
        if isinstance(symbol.node, Code):
            self.uses.append(_Use(node.span, symbol.node, scope, flow.now()))
        if name in flow or flow.has_ended:
            return symbol
        outer = self._find_outer(name, scope)
        if name in scope.maybe and outer is not None:
            self._start_from_outer(symbol, scope)
            return symbol
        if outer is not None:
            symbol.hides = outer
            return outer
        is_possible = name in scope.maybe and name not in flow.later
        # Told once: what comes after this has read it, too.
        flow.add(name)
        if symbol in self.names.unset or (is_possible and symbol.kind in _TYPES):
            # A type in a block is a mistake of its own.
            return symbol
        self.names.unset.add(symbol)
        code = catalogue.MAYBE_UNBOUND if is_possible else catalogue.UNBOUND_NAME
        # `n += 1` reads its name where it defines it.
        place = node.span if symbol.node is None else _span_of(symbol.node)
        related = (Related(place, "it is defined here"),) if place != node.span else ()
        hint = "give it one before: not every way here does" if is_possible else None
        self.mistakes.add(code.at(node.span, name=name, hint=hint, related=related))
        return symbol

    def _start_from_outer(self, symbol: Symbol, scope: Scope) -> None:
        outer = self._find_outer(symbol.name, scope)
        if outer is not None:
            symbol.starts_from = outer
            symbol.hides = outer
            is_set = (
                outer.kind in ("builtin", "parameter")
                or isinstance(outer.node, n.TryStmt)
                or symbol.name in self.assigned_above.get(scope.owner, ())
            )
            symbol.starts_late = not is_set

    def _find_outer(self, name: str, scope: Scope) -> Symbol | None:
        if scope.parent is not None:
            for candidate in scope.parent.around():
                if name in candidate.symbols:
                    return candidate.symbols[name]
        return _BUILTIN_SYMBOLS.get(name)

    def _outermost(self, node: n.Name, scope: Scope) -> Symbol:
        builtin = _BUILTIN_SYMBOLS.get(node.text)
        if builtin is not None:
            return builtin
        if node.text not in self.guessed:
            self._unknown(node, scope)
        return Symbol(node.text, "guessed", None, None)

    def _unknown(self, node: n.Name, scope: Scope) -> None:
        failure = self._failures.get(node.text)
        if failure is not None:
            hint = "copy what you need of it into a variable inside the block"
            related = (Related(failure.span, "it is named here"),)
            code = catalogue.FAILURE_OUTSIDE
            self.mistakes.add(code.at(node.span, name=node.text, hint=hint, related=related))
            return
        meant = _ELSEWHERE.get(node.text)
        hint: str | Advice | None = ABSENT_NAMES.get(node.text) or WORDS.get(node.text)
        if meant is None and hint is None:
            visible = {name for candidate in scope.around() for name in candidate.symbols}
            meant = near(node.text, {*visible, *BUILTINS})
        if meant is not None:
            hint = meant_to_be(meant)
        self.mistakes.add(catalogue.UNKNOWN_NAME.at(node.span, name=node.text, hint=hint))


def _add_common(flow: _Flow, ways: Sequence[set[str]]) -> None:
    """Goes on where several ways meet: what each of them has assigned has a value."""
    if ways:
        for name in sorted(set[str].intersection(*ways)):
            flow.add(name)


def _reached_reads(function: Code, reads: _Reads) -> Iterator[tuple[Symbol, n.Name]]:
    """What a call of a function reads of the scopes around, itself or by the functions it uses."""
    pending, seen = [function], {function}
    while pending:
        for symbol, read in reads[pending.pop()].items():
            yield symbol, read
            if isinstance(symbol.node, Code) and symbol.node not in seen:
                seen.add(symbol.node)
                pending.append(symbol.node)


def _names_bound_in(statements: Iterable[n.Statement]) -> set[str]:
    return {name.text for inner in all_statements(statements) for name in bound_by(inner)}


def _names_below(node: n.Node) -> Iterator[n.Name]:
    return (one for one in walk(node) if isinstance(one, n.Name))


def _bound_in_call(statement: n.Statement) -> Iterator[n.Identifier]:
    """The names that a statement gives to the call around it."""
    match statement:
        case n.FunctionDef() | n.RecordDef() | n.TypeAlias():
            yield statement.name
        case n.ImportStmt():
            yield statement.alias or statement.module
        case n.FromImport():
            yield from (imported.alias or imported.name for imported in statement.names)
        case _:
            yield from bound_by(statement)


def _import_names(statement: n.ImportStmt | n.FromImport) -> Iterator[str]:
    if isinstance(statement, n.FromImport):
        yield from ((imported.alias or imported.name).text for imported in statement.names)
    else:
        yield (statement.alias or statement.module).text.split(".")[0]


def _first_defined(symbol: Symbol) -> tuple[Related, ...]:
    return (Related(_span_of(symbol.node), "first defined here"),) if symbol.node else ()


def _span_of(node: n.Node) -> Span:
    match node:
        case (
            n.FunctionDef()
            | n.RecordDef()
            | n.TypeAlias()
            | n.AssignStmt()
            | n.AugmentedAssignStmt()
            | n.Parameter()
        ):
            return node.name.span
        case _:
            return node.span
