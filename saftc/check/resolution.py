"""Name resolution: finds the variable, function or builtin that each name refers to.

The module and each function call have a scope; `if`, `for` and `while` have none. The variables of
a comprehension are local to it. A name that a function assigns anywhere is local from the
assignment on; before it, a read sees the outer name:

    rate = 2
    f twice():
        before = rate       // the outer `rate`
        rate = 3            // local from here on
        ret before + rate

So a read is resolved by definite assignment. If the name is assigned on all paths to the read, the
read sees the local name. If it is assigned on no path, the read sees the outer name. If it is
assigned on some paths only, the local symbol *starts from* the outer symbol: the generated code
copies the outer value at the start of the call. This is correct, as nothing can change an outer
name during a call. If there is no outer name, the read is reported: as an error if the name
certainly has no value, and as a warning if it may have none.

A function sees all names of the enclosing scopes, also those assigned below the function, because
it runs later. The names that a function reads must have a value wherever the function is used (see
`_report_early`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from saftc.check.call_graph import rings
from saftc.check.definite import Assigned, Point
from saftc.check.names import Code, Names, Scope, Symbol, SymbolKind
from saftc.check.statements import all_statements, bound_by, evaluated_by, name_of
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Edit, Hint, Related
from saftc.diagnostics.near import did_you_mean, meant_to_be
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.mistakes.habits import ABSENT_NAMES, WORDS
from saftc.syntax.walk import children, nodes_of, walk
from saftc.types.builtins import BUILTINS

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
    """Resolves every name in `module`; errors and warnings go to `mistakes`."""
    resolver = _Resolver(module, mistakes)
    resolver.run()
    return resolver.names


_BUILTIN_SYMBOLS = {name: Symbol(name, "builtin", None, None) for name in BUILTINS}


@dataclass(frozen=True, slots=True)
class _Use:
    """A read of a function or record at a point of a scope."""

    node: n.Node
    meant: Symbol
    scope: Scope
    point: Point

    @property
    def function(self) -> Code:
        """The function or record that is read."""
        assert isinstance(self.meant.node, Code)
        return self.meant.node


class _Resolver:
    def __init__(self, module: n.Module, mistakes: Collector) -> None:
        self.module = module
        self.mistakes = mistakes
        self.names = Names({}, {})
        # A type defined in a block is an error; uses of its name are not reported as well.
        self.guessed = module.guessed | {
            node.name.text for node in nodes_of(module, n.TypeAlias, n.RecordDef)
        }
        self.pending: list[tuple[Code, Scope]] = []
        self.uses: dict[Scope, list[_Use]] = {}
        # The assignment analysis of each function and of the module, by scope.
        self.assigned: dict[Scope, Assigned] = {}
        self._failures = {
            node.error.text: node.error
            for node in nodes_of(module, n.TryStmt)
            if node.error is not None
        }

    def run(self) -> None:
        scope = self.names.scopes[self.module] = Scope(self.module, None)
        assigned = self._code(scope, self.module.statements)
        while self.pending:
            code, outer = self.pending.pop(0)
            if isinstance(code, n.FunctionDef):
                self._function(code, outer)
            else:
                self._rules(code, outer)
        self._note_captures()
        self._report_early(
            # Importers may call the module's functions, and `main` is called: both after its end.
            _Use(symbol.node.name, symbol, scope, assigned.end)
            for symbol in scope.symbols.values()
            if isinstance(symbol.node, Code)
        )
        self._report_unused()

    def _code(
        self, scope: Scope, statements: Sequence[n.Statement], given: Sequence[n.Identifier] = ()
    ) -> Assigned:
        """Resolves the statements of a function, record or module.

        The names in `given` have a value at the start.
        """
        assigned = self.assigned[scope] = Assigned(statements, (name.text for name in given))
        for statement in assigned.dead:
            self.mistakes.add(catalogue.UNREACHABLE.at(statement.span))
        self._declare(scope, statements)
        self._statements(statements, scope)
        return assigned

    def _report_early(self, by_others: Iterable[_Use]) -> None:
        """Warns about uses of a function before the names that the function reads have a value."""
        needed = self._needed()
        told: set[tuple[Code, Symbol]] = set()
        for use in chain(by_others, *self.uses.values()):
            missing = needed[use.function].get(use.scope, 0) & ~use.point.certain
            for symbol, read in self._reached_reads(use.function) if missing else ():
                is_own = symbol.scope is use.scope
                is_set = self.assigned[use.scope].has(use.point, symbol.name)
                is_told = symbol in self.names.unset or (use.function, symbol) in told
                if not is_own or is_set or is_told:
                    continue
                told.add((use.function, symbol))
                self.mistakes.add(
                    catalogue.MAYBE_UNBOUND.at(
                        use.node.span,
                        name=symbol.name,
                        hint=f"`{use.function.name.text}` reads it",
                        related=(Related(read.span, "it is read here"),),
                    )
                )
        self.names.unset.update(symbol for _, symbol in told)

    def _needed(self) -> dict[Code, dict[Scope, int]]:
        """Maps each function to the outer names that it needs, itself or through other functions.

        The names are a bit mask for each outer scope, as in `Assigned.bits`.
        """
        captures = self.names.captures
        needed: dict[Code, dict[Scope, int]] = {}

        def inner(code: Code) -> list[Code]:
            return [symbol.node for symbol in captures[code] if isinstance(symbol.node, Code)]

        for start in captures:
            for ring in () if start in needed else rings(start, inner, needed):
                found: dict[Scope, int] = {}
                for symbol in [symbol for code in ring for symbol in captures[code]]:
                    more = needed.get(symbol.node, {}) if isinstance(symbol.node, Code) else {}
                    for scope, bits in more.items():
                        found[scope] = found.get(scope, 0) | bits
                    if symbol.scope in self.assigned:
                        bit = self.assigned[symbol.scope].bits[symbol.name]
                        found[symbol.scope] = found.get(symbol.scope, 0) | bit
                needed.update(dict.fromkeys(ring, found))
        return needed

    def _reached_reads(self, function: Code) -> Iterator[tuple[Symbol, n.Name]]:
        """Yields the outer symbols that a function reads, itself or through other functions.

        Each symbol comes with the name that reads it.
        """
        pending, seen = [function], {function}
        while pending:
            for symbol, read in self.names.captures[pending.pop()].items():
                yield symbol, read
                if isinstance(symbol.node, Code) and symbol.node not in seen:
                    seen.add(symbol.node)
                    pending.append(symbol.node)

    def _report_unused(self) -> None:
        """Warns about variables of functions that nothing reads.

        The variables of the module are not reported, because other scripts may read them.
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
                        hint = "it is local to the call: the outer one stays; return it with `ret`"
                    self.mistakes.add(
                        catalogue.UNUSED_NAME.at(_span_of(symbol.node), name=symbol.name, hint=hint)
                    )

    # Declaring

    def _declare(self, scope: Scope, statements: Iterable[n.Statement]) -> None:
        for statement in all_statements(statements):
            match statement:
                case n.FunctionDef():
                    self._define(scope, statement.name, "function", statement)
                case n.RecordDef():
                    self._define(scope, statement.name, "record", statement)
                    for field in statement.fields:
                        # Inside a class, Python gives such names a special meaning.
                        self._check_reserved(field.name, "__")
                case n.TypeAlias():
                    self._define(scope, statement.name, "type", statement)
                case n.ImportStmt() | n.FromImport() | n.ServerImport():
                    nodes = [statement] if isinstance(statement, n.ImportStmt) else statement.names
                    for identifier, node in zip(bound_by(statement), nodes, strict=True):
                        self._define(scope, identifier, "import", node)
                case _:
                    for identifier in bound_by(statement):
                        self._define(scope, identifier, "variable", statement)

    def _define(
        self, scope: Scope, identifier: n.Identifier, kind: SymbolKind, node: n.Node
    ) -> None:
        text = name_of(identifier)
        self._check_reserved(identifier)
        symbol = scope.symbols.get(text)
        if symbol is not None:
            self._check_name_is_free(symbol, identifier, kind)
        if symbol is None or kind == "function":
            symbol = scope.symbols[text] = Symbol(text, kind, scope, node)
        self.names.symbols[identifier] = symbol

    def _check_name_is_free(
        self, earlier: Symbol, identifier: n.Identifier, kind: SymbolKind
    ) -> None:
        """Reports a name with two conflicting definitions."""
        kinds = (earlier.kind, kind)
        if kinds == ("function", "function"):
            first = _first_defined(earlier)
            code = catalogue.DUPLICATE_FUNCTION
            self.mistakes.add(code.at(identifier.span, name=identifier.text, related=first))
        elif kind == "variable" and earlier.kind in _FIXED:
            self._reassigned(identifier, _FIXED[earlier.kind])
        elif (kind in _TYPES) != (earlier.kind in _TYPES):
            self._reassigned(identifier, _FIXED[kind if kind in _TYPES else earlier.kind])
        elif kinds == ("variable", "function"):
            self._reassigned(identifier, _FIXED[kind])

    def _check_reserved(self, identifier: n.Identifier, beginning: str = "__saft_") -> None:
        if identifier.text.startswith(beginning):
            self.mistakes.add(
                catalogue.RESERVED_NAME.at(
                    identifier.span, name=identifier.text, hint="give it another name"
                )
            )

    def _reassigned(self, name: n.Identifier, what: str) -> None:
        hint = "give one of the two another name"
        self.mistakes.add(
            catalogue.NAME_IS_TAKEN.at(name.span, name=name.text, what=what, hint=hint)
        )

    # Functions

    def _function(self, function: n.FunctionDef, outer: Scope) -> None:
        scope = self.names.scopes[function] = Scope(function, outer)
        names = [parameter.name for parameter in function.parameters]
        self._duplicates("parameter", names)
        for parameter in function.parameters:
            name = parameter.name.text
            self._check_reserved(parameter.name)
            symbol = Symbol(name, "parameter", scope, parameter)
            scope.symbols.setdefault(name, symbol)
            self.names.symbols[parameter.name] = symbol
        self._code(scope, function.body, names)

    def _note_captures(self) -> None:
        """Records the outer names that functions read (`Names.captures`), inner functions first.

        If an inner function is created before the enclosing call assigns a name, the inner function
        sees the name of a scope further out. So the enclosing call's name starts from that outer
        name.
        """
        codes = [one for one in self.names.scopes if isinstance(one, Code)]
        for code in reversed(codes):
            captured = self.names.captures[code] = self.names.captured_by(code)
            call = self._surroundings(code)
            for symbol, read in captured.items():
                if symbol.scope is not None and isinstance(symbol.scope.owner, n.TryStmt):
                    symbol.is_captured = True
                is_own = symbol.scope is call and isinstance(call.owner, n.FunctionDef)
                if is_own and not self._is_set_above(code, symbol):
                    self._start_from_outer(symbol, call)
                    if symbol.starts_from is not None:
                        self._check_captured(code, call, symbol, read)

    def _surroundings(self, code: Code) -> Scope:
        """The scope of the call or module that creates a function."""
        parent = self.names.scopes[code].parent
        assert parent is not None
        return parent.call

    def _is_set_above(self, code: Code, symbol: Symbol) -> bool:
        """Whether an outer name certainly has a value where a function is created."""
        while (call := self._surroundings(code)) is not symbol.scope:
            assert isinstance(call.owner, Code)
            code = call.owner
        assigned = self.assigned[call]
        return assigned.has(assigned.points[code], symbol.name)

    def _check_captured(self, code: Code, call: Scope, symbol: Symbol, read: n.Name) -> None:
        """Reports a captured local name that some path to the end of the call does not assign.

        An inner function may outlive the call. After such a path, it would have to read the current
        value of the outer name, which no Python variable can express.
        """
        assert isinstance(call.owner, n.FunctionDef)
        assigned = self.assigned[call]
        made = assigned.bits[code.name.text]
        returns = (one for one in all_statements(call.owner.body) if isinstance(one, n.RetStmt))
        ends = (assigned.end, *(assigned.points[one] for one in returns))
        if any(end.maybe & made and not assigned.has(end, symbol.name) for end in ends):
            self.names.unset.add(symbol)
            self.mistakes.add(
                catalogue.TWO_MEANINGS.at(
                    read.span,
                    name=symbol.name,
                    function=code.name.text,
                    hint="rename the local one",
                    related=_first_defined(symbol),
                )
            )

    def _rules(self, record: n.RecordDef, outer: Scope) -> None:
        """Resolves the rules of a record, which see its fields and all names around the record."""
        scope = self.names.scopes[record] = Scope(record, outer)
        for field_ in record.fields:
            symbol = Symbol(field_.name.text, "field", scope, field_)
            self.names.symbols[field_.name] = scope.symbols.setdefault(field_.name.text, symbol)
        self._code(scope, record.rules, [field_.name for field_ in record.fields])

    # Statements

    def _statements(
        self, statements: Iterable[n.Statement], scope: Scope, *, is_in_loop: bool = False
    ) -> None:
        for statement in statements:
            self._statement(statement, scope, is_in_loop=is_in_loop)

    def _statement(self, statement: n.Statement, scope: Scope, *, is_in_loop: bool) -> None:
        # In an `except`, `scope` has the failure's name; all other names are in the call's scope.
        match statement:
            case n.IfStmt():
                for branch in statement.branches:
                    self._evaluated(branch.condition, scope)
                    self._statements(branch.body, scope, is_in_loop=is_in_loop)
                self._statements(statement.other, scope, is_in_loop=is_in_loop)
                return
            case n.FailStmt() if self._passes_on(statement.value, scope):
                self.names.passed_on.add(statement)
                return
            case n.UnpackStmt() | n.ForStmt():
                # `_` may occur twice, for unused parts.
                bound = [identifier for identifier in bound_by(statement) if identifier.text != "_"]
                self._duplicates("name", bound)
            case n.DestructureStmt() | n.RecordDef():
                self._duplicates("field", [field.name for field in statement.fields])
            case _:
                pass
        for node in evaluated_by(statement):
            self._evaluated(node, scope)
        match statement:
            case n.FunctionDef() | n.RecordDef():
                self.pending.append((statement, scope))
            case n.ForStmt() | n.WhileStmt():
                self._statements(statement.body, scope, is_in_loop=True)
            case n.TryStmt():
                self._statements(statement.body, scope, is_in_loop=is_in_loop)
                inner = self.names.scopes[statement] = Scope(statement, scope)
                if statement.error is not None:
                    self._name_failure(statement, statement.error, inner)
                self._statements(statement.handler, inner, is_in_loop=is_in_loop)
            case n.BreakStmt() | n.ContinueStmt() if not is_in_loop:
                word = "break" if isinstance(statement, n.BreakStmt) else "continue"
                self.mistakes.add(catalogue.LOOP_OUTSIDE.at(statement.span, word=word))
            case n.RetStmt() if isinstance(scope.call.owner, n.Module):
                hint = "a script ends at its last line"
                self.mistakes.add(catalogue.RET_OUTSIDE.at(statement.span, hint=hint))
            case n.ExpressionStmt():
                self._unused_value(statement, scope)
            case _:
                pass

    def _unused_value(self, statement: n.ExpressionStmt, scope: Scope) -> None:
        value, owner = statement.value, scope.call.owner
        hint: str | None = None
        match value:
            case n.Prompt() | n.Literal(value=None):
                return
            case n.Call():
                if not self._is_pure(value.function):
                    return
                hint = "`ret` returns it" if isinstance(owner, n.FunctionDef) else None
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
        names = [name for name in walk(value) if isinstance(name, n.Name)]
        if any(self.names.of(name).kind == "guessed" for name in names):
            # Do not warn about a line with an unknown name, which is an error anyway.
            return
        self.mistakes.add(catalogue.UNUSED_VALUE.at(statement.span, hint=hint))

    def _is_pure(self, function: n.Expression) -> bool:
        """Whether a call of `function` is pure, so that an unused result is a mistake."""
        if not isinstance(function, n.Name):
            return False
        symbol = self.names.of(function)
        if symbol.kind != "builtin" or symbol.name == "ambiguous":
            return False
        return BUILTINS[symbol.name].is_pure

    def _name_failure(self, statement: n.TryStmt, error: n.Identifier, scope: Scope) -> None:
        """Defines the name of the failure in an `except`, and reports assignments to that name."""
        self._check_reserved(error)
        symbol = Symbol(error.text, "variable", scope, statement)
        scope.symbols[error.text] = self.names.symbols[error] = symbol
        for one in all_statements(statement.handler):
            for identifier in bound_by(one):
                if identifier.text == error.text:
                    self._reassigned(identifier, "the failure at hand")

    def _passes_on(self, value: n.Expression, scope: Scope) -> bool:
        """Whether `fail value` reraises the failure that the enclosing `except` has caught."""
        symbol = scope.symbols.get(value.text) if isinstance(value, n.Name) else None
        if symbol is None or not isinstance(scope.owner, n.TryStmt):
            return False
        self.names.symbols[value] = symbol
        return True

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

    def _evaluated(self, node: n.Expression, scope: Scope) -> None:
        """Resolves an expression that a statement evaluates."""
        self._expression(node, scope, self.assigned[scope.call].points[node])

    def _expression(self, node: n.Node, scope: Scope, point: Point) -> None:
        match node:
            case n.Literal(value=str() as text) if "{" in text:
                self._braces(node, text, scope)
            case n.Name():
                symbol = self.names.symbols[node] = self._look_up(node, scope, point)
                symbol.is_read = True
                if symbol.kind == "type":
                    self.mistakes.add(catalogue.TYPE_AS_VALUE.at(node.span, name=node.text))
            case n.Comprehension():
                self._comprehension(node, scope, point)
            case n.ObjectLiteral():
                self._duplicates("field", [field.key for field in node.named])
                for child in children(node):
                    self._expression(child, scope, point)
            case _:
                for child in children(node):
                    self._expression(child, scope, point)

    def _comprehension(self, node: n.Comprehension, scope: Scope, point: Point) -> None:
        inner = self.names.scopes[node] = Scope(node, scope)
        for clause in node.clauses:
            self._expression(clause.iterable, inner, point)
            for identifier in bound_by(clause):
                self._define(inner, identifier, "variable", clause)
            for condition in clause.conditions:
                self._expression(condition, inner, point)
        self._expression(node.item, inner, point)

    def _braces(self, node: n.Literal, text: str, scope: Scope) -> None:
        """Warns about a plain string with a variable in braces, as in a formatted string."""
        visible = {name for candidate in scope.around() for name in candidate.symbols}
        for match in _HOLE.finditer(text):
            shown = match.group()
            if match[1] in visible and shown not in self.looked_for:
                edits = (Edit(Span(node.span.start, node.span.start), "f"),)
                said = "an `f` before the quotes makes it a formatted string"
                hint = Hint(said, edits=edits, is_guess=True)
                self.mistakes.add(catalogue.BRACES_IN_TEXT.at(node.span, text=shown, hint=hint))
                return

    @cached_property
    def looked_for(self) -> set[str]:
        """The string literals passed to `replace` or similar functions.

        They may contain braces on purpose.
        """
        return {
            argument.value.value
            for node in nodes_of(self.module, n.Call)
            if isinstance(node.function, n.Name) and node.function.text in _ABOUT_TEXT
            for argument in node.arguments
            if isinstance(argument.value, n.Literal) and isinstance(argument.value.value, str)
        }

    # Reading a name

    def _look_up(self, node: n.Name, scope: Scope, point: Point) -> Symbol:
        call = scope.call
        for candidate in scope.around():
            symbol = candidate.symbols.get(node.text)
            if symbol is not None:
                return self._own(node, symbol, call, point) if candidate is call else symbol
        return self._outermost(node, scope)

    def _own(self, node: n.Name, symbol: Symbol, scope: Scope, point: Point) -> Symbol:
        """The symbol that a read sees, local or outer. `symbol` is the local one.

        The scope assigns the name somewhere. A read of a name without a value is reported.
        """
        if isinstance(symbol.node, Code):
            self.uses.setdefault(scope, []).append(_Use(node, symbol, scope, point))
        assigned = self.assigned[scope]
        if assigned.has(point, node.text):
            return symbol
        bit = assigned.bits[node.text]
        outer = self._find_outer(node.text, scope)
        if outer is not None and not point.maybe & bit:
            symbol.hides = outer
            return outer
        # At the top level only a builtin is further out, which nobody intends as a fallback.
        if outer is not None and isinstance(scope.owner, Code):
            self._start_from_outer(symbol, scope)
            return symbol
        is_possible = bool(point.maybe & ~point.later & bit)
        if symbol in self.names.unset or (is_possible and symbol.kind in _TYPES):
            # The name was reported before, or is that of a type in a block, reported elsewhere.
            return symbol
        self.names.unset.add(symbol)
        code = catalogue.MAYBE_UNBOUND if is_possible else catalogue.UNBOUND_NAME
        # The name may be read in its own definition, as in `n += 1`.
        place = node.span if symbol.node is None else _span_of(symbol.node)
        related = (Related(place, "it is defined here"),) if place != node.span else ()
        hint = "assign it before: some paths to this line do not" if is_possible else None
        self.mistakes.add(code.at(node.span, name=node.text, hint=hint, related=related))
        return symbol

    def _start_from_outer(self, symbol: Symbol, scope: Scope) -> None:
        """Gives a local name the value of the outer name, if any, as its initial value."""
        outer = self._find_outer(symbol.name, scope)
        if outer is not None:
            symbol.starts_from = symbol.hides = outer
            is_given = outer.scope not in self.assigned or outer.kind == "parameter"
            assert isinstance(scope.owner, Code)
            symbol.starts_late = not is_given and not self._is_set_above(scope.owner, outer)

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
        hint: str | Hint | None = ABSENT_NAMES.get(node.text) or WORDS.get(node.text)
        if meant is not None:
            hint = meant_to_be(meant)
        elif hint is None:
            visible = {name for candidate in scope.around() for name in candidate.symbols}
            hint = did_you_mean(node.text, {*visible, *BUILTINS})
        self.mistakes.add(catalogue.UNKNOWN_NAME.at(node.span, name=node.text, hint=hint))


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
