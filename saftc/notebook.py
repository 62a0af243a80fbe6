"""Scripts in the cells of a notebook: `%load_ext saftc`, and then cells that begin with `%%saft`.

    %%saft --show
    answer = $ how many moons has {planet}? $

Together, the cells are one script: a cell can use the types and functions of earlier cells, and the
results of their prompts with the conversations. Only the statements of the new cell run. The names
that it binds become names of the notebook. Names of the notebook take precedence over builtins.
`--show` prints the Python of the cell before the cell runs. `--async` runs the cell in async form
in the notebook's event loop, so that other tasks continue.

The text that is compiled for a cell has several parts. Only the last one belongs to the cell:

    type Planet(name: string)           definitions and assignments of earlier cells
    mars = Planet("Mars")
    names: [string] = parse("")         values of Python, with their current types
    from __notebook__ import client as client     other names of the notebook
    <the cell>
"""

import ast
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from inspect import iscoroutinefunction, isfunction
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any, cast

from runtime_support._core.results import Result
from runtime_support._values.kinds import is_dataframe
from saftc.check.imports import Loaded, PythonModule
from saftc.check.names import Symbol
from saftc.check.statements import all_statements, assigned_by, bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic, Related
from saftc.diagnostics.render import render
from saftc.diagnostics.styled import Piece, plain
from saftc.driver import Checked, Compiled, check, compile_checked
from saftc.importing import forget_changed_scripts, install
from saftc.project.scripts import Scripts
from saftc.project.settings import Project
from saftc.reporting import write_rendered
from saftc.running import await_text, run_text
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of, walk
from saftc.types.foreign import UNKNOWN, Declared, Function, Namespace
from saftc.types.types import show

# The pseudo-module from which a cell imports names of the notebook that have no known type.
_NOTEBOOK = "__notebook__"
# The name bound to the last expression of a cell, so that it can be shown.
_SHOWN = "shown_"
# The prefix, in the text above a cell, for the name of a variable that the cell reads and rebinds.
_GIVEN = "given_"

_TYPES = (n.TypeAlias, n.RecordDef)
_UNKNOWN = (
    catalogue.UNKNOWN_NAME.number,
    catalogue.UNBOUND_NAME.number,
    catalogue.UNKNOWN_TYPE.number,
)
# To find a value's type: the most levels of nested values, and the most elements of each, to look
# at.
_DEEPEST, _LONGEST = 3, 1_000
_SCALARS: dict[type, str] = {
    **{bool: "bool", int: "int", float: "float", str: "string"},
    **{date: "date", datetime: "datetime", Decimal: "decimal"},
}

_numbers = count(1)


class ScriptError(Exception):
    """Raised if a cell has errors. The text shows them as `saftc check` does."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows for this error."""
        return str(self).split("\n")


def register(shell: Any) -> None:
    """Registers the magic `%%saft` with the shell, and makes scripts importable."""
    install(os.getcwd())
    notebook = Notebook(shell.user_ns)

    def saft(line: str, cell: str) -> object:
        """Runs a script; --show prints its Python first, --async runs it in the event loop."""
        words = line.split()
        for word in words:
            if word not in _WORDS:
                raise ScriptError(f"%%saft takes {' and '.join(_WORDS)}, not {word}")
        run = notebook.await_cell if _ASYNC in words else notebook.run_cell
        return run(cell, show="--show" in words)

    shell.register_magic_function(saft, magic_kind="cell", magic_name="saft")
    transformers = shell.input_transformers_cleanup
    if _with_await not in transformers:
        transformers.append(_with_await)


_ASYNC = "--async"
_WORDS = ("--show", _ASYNC)


def _with_await(lines: list[str]) -> list[str]:
    """Rewrites a cell of `%%saft --async` as Python with `await`, as a magic cannot await.

    Other cells are returned unchanged.
    """
    words = lines[0].split() if lines else []
    if words[:1] != ["%%saft"] or _ASYNC not in words:
        return lines
    line, cell = " ".join(words[1:]), "".join(lines[1:])
    return [f"await get_ipython().run_cell_magic('saft', {line!r}, {cell!r})\n"]


@dataclass(frozen=True, slots=True)
class _PastStatement:
    """A statement of an earlier cell, with the names that it bound and the values that they got.

    `types` has the bound names that have no value. `module` is the module that an import statement
    imports. `cell` is the statement's cell, and `start` its place in the cell. A definition runs
    again when a name that it uses is redefined. While a definition has an error, no cell may use
    its names.
    """

    cell: Source
    start: int
    text: str
    values: Mapping[str, object]
    types: frozenset[str]
    uses: frozenset[str]
    is_definition: bool
    module: str = ""

    @property
    def names(self) -> Set[str]:
        """All names that the statement binds."""
        return self.values.keys() | self.types


@dataclass
class Notebook:
    """The statements of the cells that have run, and the namespace of IPython."""

    names: dict[str, Any]
    _kept: list[_PastStatement] = field(default_factory=list[_PastStatement])
    # Helper functions and the like of compiled cells: later cells may overwrite these names.
    _own: dict[str, object] = field(default_factory=dict[str, object])
    # The scripts whose text has changed, and which were not imported again since.
    _changed: set[str] = field(default_factory=set[str])

    def run_cell(self, cell: str, *, show: bool = False) -> object:
        """Compiles a cell and runs it. Returns the value of the cell's last expression, or None.

        Raises:
            ScriptError: The cell has errors.
        """
        made = self._compile_cell(cell, show=show, is_async=False)
        with self._keeping(made):
            run_text(made.python, made.file, self.names)
        return self.names.pop(_SHOWN, None)

    async def await_cell(self, cell: str, *, show: bool = False) -> object:
        """Runs a cell as `run_cell` does, in the async form, in the running event loop."""
        made = self._compile_cell(cell, show=show, is_async=True)
        with self._keeping(made):
            await await_text(made.python, made.file, self.names)
        return self.names.pop(_SHOWN, None)

    @contextmanager
    def _keeping(self, made: "_CompiledCell") -> Generator[None]:
        """Records the cell's bindings after the block.

        If the cell fails, only the bindings made until then are recorded.
        """
        before, is_over = dict(self.names), False
        try:
            yield
            is_over = True
        finally:
            new = {key: one for key, one in self.names.items() if before.get(key) is not one}
            cell, again = made.cell, {name for one in made.cell.again for name in one.names}
            self._own |= {key: new[key] for key in new.keys() - cell.binds - again}
            self._keep(made.found, cell, cell.binds | self.names.keys() if is_over else new.keys())

    def _compile_cell(self, cell: str, *, show: bool, is_async: bool) -> "_CompiledCell":
        name = f"<cell {next(_numbers)}>"
        self._changed |= forget_changed_scripts()
        self._forget_what_has_changed()
        text = _Cell(name, cell, self.names)
        found = self._checked(text)
        said = text.rendered(found.when_used) + render(text.warnings, text.written)
        others = {key for key, one in self.names.items() if self._own.get(key, self) is not one}
        settings = Project().compiling()._replace(
            is_async=is_async, waits_at_top=is_async, taken=others | text.binds
        )
        compiled = compile_checked(found, settings)
        if compiled.text is None:
            raise ScriptError(plain(text.rendered(compiled.checked.diagnostics)))
        self._check_form(compiled, text)
        write_rendered(said, sys.stderr)
        self._keep_forms(compiled, text)
        own = _own_part(compiled, text)
        if show:
            print(own.replace(f"{_SHOWN} = ", ""))
        self.names["__saft_folder__"] = str(Path.cwd())
        return _CompiledCell(text, found, own)

    def _check_form(self, compiled: Compiled, cell: "_Cell") -> None:
        """Raises ScriptError if the cell calls a function that was compiled in the other form.

        An async cell cannot call a blocking function if the function sends prompts. A blocking
        cell cannot call an async function.
        """
        assert compiled.module is not None
        awaits, module = compiled.module.plan.awaits, compiled.checked.module
        waiting = set[n.FunctionDef]() if awaits is None else awaits.functions
        own = {one.text for one in nodes_of(module, n.Name) if cell.is_own(one.span)}
        for one in module.statements:
            if isinstance(one, n.FunctionDef) and one.name.text in own - cell.binds:
                is_async = iscoroutinefunction(self.names.get(one.name.text))
                if is_async and awaits is None:
                    raise ScriptError(
                        f"`{one.name.text}` is from a cell with --async: begin this cell with "
                        f"`%%saft --async` as well"
                    )
                if awaits is not None and is_async != (one in waiting):
                    raise ScriptError(
                        f"`{one.name.text}` sends prompts, and its cell has no --async: "
                        "run that cell again with --async, or this one without"
                    )

    def _keep_forms(self, compiled: Compiled, cell: "_Cell") -> None:
        """Removes from `cell.again` the definitions that would get another form if they ran again.

        A function that was defined in the async form stays async, and a blocking one stays
        blocking.
        """
        assert compiled.module is not None
        awaits = compiled.module.plan.awaits
        waiting = {one.name.text for one in awaits.functions} if awaits is not None else set[str]()
        cell.again = [
            one
            for one in cell.again
            if all(
                iscoroutinefunction(value) == (name in waiting)
                for name, value in one.values.items()
                if isfunction(value) and not one.module
            )
        ]

    def _forget_what_has_changed(self) -> None:
        """Drops earlier statements whose names Python code has bound to other values since."""
        self._kept = [
            one
            for one in self._kept
            if all(self.names.get(name) is value for name, value in one.values.items())
        ]

    def _checked(self, cell: "_Cell") -> Checked:
        """Checks the cell after the earlier statements.

        Statements that are no longer valid are dropped.
        """
        while True:
            kept = self._kept_beside(cell)
            cell.again = self._outdated(kept, cell)
            found = cell.checked("", kept)
            more = _wanted(found) & self.names.keys()
            if not more and not found.has_errors:
                return found
            given = self._given(cell, more)
            found = cell.checked(given, kept)
            if cell.types and _errors(found, Span(0, len(given) - 1)):
                cell.types.clear()  # one of the types cannot be expressed in Saft
                continue
            errors = cell.broken(found)
            wrong = [one for one, _ in errors]
            if not wrong:
                return found
            # An unbound name is a matter of order: the definition was executed before.
            unbound = catalogue.UNBOUND_NAME.number
            misfits = [(one, at) for one, at in errors if one.is_definition and at.code != unbound]
            cell.refuse_uses(misfits, self._kept)
            imports = [one for one in wrong if one.module]
            if not imports and cell.defines:
                # A name has a new definition: statements that use the old one must come after it.
                types = cell.types_of(self._kept)
                needed = {name for one in wrong for name in one.names}
                cell.types |= {name: types[name] for name in needed & types.keys()}
                cell.warn(misfits)
            elif not imports:
                self._kept = [one for one in self._kept if one.is_definition or one not in wrong]
            # An error in a script disappears when the script is corrected.
            cell.aside += imports or wrong

    def _outdated(self, kept: list[_PastStatement], cell: "_Cell") -> list[_PastStatement]:
        """The earlier definitions that must run again before the cell.

        They depend on types that the cell redefines, or on scripts that have changed.
        """
        again = [one for one in kept if one.module in self._changed]
        new = cell.new_types.union(*(one.names for one in again))
        while True:
            more = [
                one for one in kept if one.is_definition and one not in again and one.uses & new
            ]
            if not more:
                return again
            again += more
            values = {name: one.values.get(name) for one in more for name in one.names}
            new |= {name for name, value in values.items() if not isfunction(value)}

    def _kept_beside(self, cell: "_Cell") -> list[_PastStatement]:
        """The statements of earlier cells that the cell does not replace."""
        return [
            one for one in self._kept if not one.names & cell.binds and one not in cell.aside
        ]

    def _given(self, cell: "_Cell", more: set[str]) -> str:
        """Lines to put above the cell. They declare names of the notebook that the cells read."""
        anew = cell.binds
        kept = self._kept_beside(cell)
        known = {name for one in kept for name in one.names}
        lines: list[str] = []
        for name in sorted(more - known - cell.defines):
            value = self.names[name]
            schema = cell.types.get(name) or _schema_of(value)
            # The cell may rebind the name with another type, so its old value gets another name.
            own = f"{_GIVEN}{name}" if name in anew else name
            if schema is None:
                lines.append(f"from {_NOTEBOOK} import {name} as {own}")
            else:
                # Keep the conversation of a prompt's result.
                is_result = isinstance(value, Result)
                given = "$ $" if is_result else 'parse("")'
                lines.append(f"{own}: {schema} = {given}")
            if own != name:
                lines.append(f"{name} = {own}")
        return "".join(f"{line}\n" for line in lines)

    def _keep(self, found: Checked, cell: "_Cell", bound_now: Set[str]) -> None:
        """Keeps the cell's definitions and assignments for later cells."""
        anew = cell.binds & bound_now
        again = [one for one in cell.again if one.values.keys() <= bound_now]
        self._kept = [
            replace(one, values={name: self.names[name] for name in one.values})
            if one in again
            else one
            for one in self._kept
        ]
        before = self._kept
        self._kept = [one for one in before if not one.names & anew]
        bound = [
            (statement, _names_of(statement))
            for statement in found.module.statements
            if cell.is_own(statement.span)
            if set() < _names_of(statement) <= bound_now
            and not isinstance(statement, n.ForStmt | n.AugmentedAssignStmt | n.ServerImport)
            # The function of an imported tool has no text; it stays a name of the notebook.
            if not (isinstance(statement, n.FunctionDef) and statement.span == statement.name.span)
        ]
        self._changed -= {one.module for one in again}
        named = {name for _, names in bound for name in names}
        loose = {name for name in anew if name not in named and name in self.names}
        for statement, names in bound:
            # If a name is bound more than once, only the last value is known.
            if loose.isdisjoint(names) and _SHOWN not in names:
                is_import = isinstance(statement, n.ImportStmt | n.FromImport)
                module = statement.module.text if is_import else ""
                self._changed.discard(module)
                start, is_definition = cell.moved(statement.span).start, _is_definition(statement)
                read = _global_names(statement, found)
                uses = frozenset(one.text.partition(".")[0] for one in read)
                for text, own in _parts_of(statement, found.source):
                    types = frozenset(own - self.names.keys())
                    values = {name: self.names[name] for name in own - types}
                    made = _PastStatement(
                        cell.written, start, text, values, types, uses, is_definition, module
                    )
                    self._put(made, before)
        if any(one.names & cell.defines for one in before):
            self._forget_other_types(cell, before)

    def _put(self, made: _PastStatement, before: list[_PastStatement]) -> None:
        """Keeps a statement for later cells.

        A definition replaces the earlier definition of its name. Other statements are appended.
        Statements that use the earlier definition come after the new one.
        """
        place = len(self._kept)
        if made.is_definition:
            earlier = [one for one in before if one.names & made.names][:1]
            behind = before[before.index(earlier[0]) :] if earlier else []
            place = next((i for i, one in enumerate(self._kept) if one in behind), place)
        self._kept.insert(place, made)

    def _forget_other_types(self, cell: "_Cell", before: list[_PastStatement]) -> None:
        """Drops statements that bind variables whose type a new definition has changed."""
        old, new = cell.types_of(before), cell.types_of(self._kept)
        other = {name for name, type_ in old.items() if new.get(name) != type_}
        self._kept = [one for one in self._kept if not one.names & other]


@dataclass(frozen=True, slots=True)
class _CompiledCell:
    """A compiled cell, with the result of its check and its Python.

    Tracebacks name the Python `file`, as its lines are not those of the cell.
    """

    cell: "_Cell"
    found: Checked
    python: str

    @property
    def file(self) -> str:
        return f"<compiled {self.cell.name.removeprefix('<')}"


class _Cell:
    """A cell that is being compiled: its text, and its position in the compiled text."""

    def __init__(self, name: str, cell: str, names: Mapping[str, Any]) -> None:
        self.name = name
        self._notebook = Namespace(_NOTEBOOK, partial(_declared, names), names.keys)
        self._modules = Scripts().of("-")
        # Lines are counted from the line with the magic.
        self.written = Source.from_text(name, f"\n{cell}")
        alone = check(self.written, self._load)
        self.binds = _bound(alone.module)
        # The functions, types and imports that the cell defines, the earlier statements that come
        # after the cell as they need them, and the types of the names that these statements bind.
        self.defines = _bound(alone.module, _is_definition)
        self.aside: list[_PastStatement] = []
        self.types: dict[str, str] = {}
        # The types that the cell defines, the earlier statements that run again with it, and the
        # warnings about those that its definitions break.
        self.new_types = _bound(alone.module, lambda one: isinstance(one, _TYPES))
        self.again: list[_PastStatement] = []
        self.warnings: list[Diagnostic] = []
        # Where it uses names that are not local to a function, and where it defines names.
        self._uses = _global_names(alone.module, alone)
        definitions = filter(_is_definition, alone.module.statements)
        self._defined = [one for made in definitions for one in _identifiers_of(made)]
        self._shown = _last_expression(alone)
        self._start = 0
        # The earlier statements before it, with their spans.
        self._before: list[tuple[Span, _PastStatement]] = []

    def _load(self, module: str) -> Loaded:
        if module == _NOTEBOOK:
            return PythonModule(members=self._notebook)
        return self._modules.load(module)

    def checked(self, given: str, kept: list[_PastStatement]) -> Checked:
        """Checks the cell after the declarations `given` and the earlier statements `kept`."""
        text, before = self.written.text, given
        self._before = []
        for one in kept:
            self._before.append((Span(len(before), len(before) + len(one.text)), one))
            before += f"{one.text}\n"
        self._start = len(before)
        if self._shown is not None:
            text = f"{text[: self._shown]}{_SHOWN} = {text[self._shown :]}"
        source = Source.from_text(self.name, before + text)
        return check(source, self._load, keeps_results=True)

    def broken(self, found: Checked) -> list[tuple[_PastStatement, Diagnostic]]:
        """Pairs each earlier statement that has an error now with its first error.

        Such a statement has an error because a name that it uses has changed.
        """
        return [
            (one, _explained(one, error, one.start - span.start))
            for span, one in self._before
            for error in _errors(found, span)[:1]
        ]

    def refuse_uses(
        self, misfits: list[tuple[_PastStatement, Diagnostic]], kept: list[_PastStatement]
    ) -> None:
        """Raises ScriptError if the cell uses a definition that is now wrong.

        The cell may also use it indirectly, through other definitions.
        """
        definitions = [one for one in kept if one.is_definition]
        for wrong, error in misfits:
            users = set(wrong.names)
            while more := set[str]().union(
                *(one.names - self.binds - users for one in definitions if one.uses & users)
            ):
                users |= more
            for one in self._uses:
                if one.text.partition(".")[0] in users:
                    found = replace(error, span=one.span)
                    raise ScriptError(plain(render([found], self.written)))

    def warn(self, misfits: list[tuple[_PastStatement, Diagnostic]]) -> None:
        """Adds warnings about earlier definitions that the cell's definitions have made wrong."""
        self.warnings += [
            replace(error, span=cause.span, severity="warning")
            for wrong, error in misfits
            for cause in [one for one in self._defined if one.text in wrong.uses][:1]
        ]

    def types_of(self, kept: list[_PastStatement]) -> dict[str, str]:
        """Maps the variables that statements of earlier cells bind to the texts of their types."""
        text = "".join(f"{one.text}\n" for one in kept)
        found = check(Source.from_text(self.name, text), self._load, keeps_results=True)
        symbols = {
            name.text: found.facts.names.of(name)
            for one in found.module.statements
            for name in assigned_by(one)
        }
        types = {name: found.facts.symbols.get(one) for name, one in symbols.items()}
        return {name: show(one) for name, one in types.items() if one is not None}

    def is_own(self, span: Span) -> bool:
        """Whether a place of the compiled text is in the cell itself."""
        return span.start >= self._start

    def runs(self, span: Span) -> bool:
        """Whether a place of the compiled text is in the cell, or in a statement to run again."""
        return self.is_own(span) or any(
            one in self.again and place.start <= span.start <= place.end
            for place, one in self._before
        )

    def rendered(self, diagnostics: tuple[Diagnostic, ...]) -> list[Piece]:
        """The cell's diagnostics, with positions in the cell."""
        found = [self._in_cell(one) for one in diagnostics if self.is_own(one.span)]
        if not found and any(one.severity == "error" for one in diagnostics):
            # A redefinition in the cell contradicts an earlier cell.
            problem = next(one for one in diagnostics if one.severity == "error")
            found = [replace(problem, span=Span(0, 0), related=(), edits=())]
        return render(found, self.written)

    def _in_cell(self, told: Diagnostic) -> Diagnostic:
        related = tuple(
            replace(one, span=self.moved(one.span))
            for one in told.related
            if self.is_own(one.span)
        )
        return replace(told, span=self.moved(told.span), related=related, edits=())

    def moved(self, span: Span) -> Span:
        """Converts a span of the compiled text to a span of the cell."""
        return Span(self._place(span.start), self._place(span.end))

    def _place(self, offset: int) -> int:
        offset -= self._start
        added = len(f"{_SHOWN} = ")
        is_behind = self._shown is not None and offset > self._shown
        return max(self._shown or 0, offset - added) if is_behind else offset


def _declared(names: Mapping[str, Any], name: str) -> Declared:
    """The declaration of a notebook's name.

    For a function, it says whether the function is async.
    """
    return Function((), "yes") if iscoroutinefunction(names.get(name)) else UNKNOWN


def _global_names(node: n.Node, found: Checked) -> list[n.Name | n.NamedSchema]:
    """The names inside `node` that refer to types, or to variables of the script's top level."""
    names = found.facts.names
    return [
        one
        for one in walk(node)
        if isinstance(one, n.NamedSchema)
        or (isinstance(one, n.Name) and not _is_local(names.of(one)))
    ]


def _is_local(symbol: Symbol) -> bool:
    return symbol.scope is not None and symbol.scope.parent is not None


def _is_definition(statement: n.Statement) -> bool:
    """Whether a statement binds a function, a type or an import, rather than a variable."""
    return bool(_names_of(statement)) and not assigned_by(statement)


def _bound(module: n.Module, fits: Callable[[n.Statement], bool] = bool) -> set[str]:
    """The names that the top level of a script binds, including types.

    Only statements for which `fits` is true count.
    """
    return set[str]().union(*map(_names_of, filter(fits, all_statements(module.statements))))


def _names_of(statement: n.Statement) -> set[str]:
    """The names that a statement binds."""
    return {one.text for one in _identifiers_of(statement)}


def _identifiers_of(statement: n.Statement) -> tuple[n.Identifier, ...]:
    """The identifiers by which a statement binds names."""
    return (statement.name,) if isinstance(statement, _TYPES) else tuple(bound_by(statement))


def _parts_of(statement: n.Statement, source: Source) -> Iterator[tuple[str, set[str]]]:
    """Yields the text of a statement, with the names that it binds.

    An import of several names is split into one import for each name.
    """
    if not isinstance(statement, n.FromImport):
        yield source.at(statement.span), _names_of(statement)
        return
    for one in statement.names:
        text = f"from {statement.module.text} import {source.at(one.span)}"
        yield text, {(one.alias or one.name).text}


def _explained(wrong: _PastStatement, error: Diagnostic, offset: int) -> Diagnostic:
    """The error of an earlier statement, with the message that is shown for a later cell.

    `offset` is added to the place of the error to get its place in the earlier cell.
    """
    if wrong.module:
        message = error.message
        if error.code == catalogue.UNKNOWN_NAME.number:
            script, name = wrong.module.rpartition(".")[2], wrong.text.split()[3]
            message = f"`{script}.saft` has no `{name}` any more"
        return replace(error, message=message, related=(), edits=())
    name = min(wrong.names)
    place = Span(error.span.start + offset, error.span.end + offset)
    return replace(
        error,
        message=f"`{name}` no longer fits: {error.message}",
        hint=f"define `{name}` again",
        related=(Related(place, "here", wrong.cell),),
        edits=(),
    )


def _last_expression(alone: Checked) -> int | None:
    """The offset of a cell's last expression; None if its value is not shown."""
    last = alone.module.statements[-1] if alone.module.statements else None
    if not isinstance(last, n.ExpressionStmt):
        return None
    called = last.value.function if isinstance(last.value, n.Call) else None
    if isinstance(called, n.Name) and called.text in ("print", "write_text", "append_text"):
        return None
    return last.span.start


def _errors(found: Checked, place: Span) -> list[Diagnostic]:
    """The errors that begin in a part of the text."""
    errors = (one for one in found.diagnostics if one.severity == "error")
    return [one for one in errors if place.start <= one.span.start <= place.end]


def _wanted(found: Checked) -> set[str]:
    """The names to look up in the notebook: unknown names, and names of builtins."""
    unknown = {found.source.at(one.span) for one in found.diagnostics if one.code in _UNKNOWN}
    names = nodes_of(found.module, n.Name)
    return unknown | {one.text for one in names if found.facts.names.of(one).kind == "builtin"}


def _schema_of(value: object, depth: int = 0) -> str | None:
    """The schema of a Python value, as text.

    The result is None if Saft has no type for the value, or would have to check the value again.
    """
    if value is None:
        return "nil" if depth else None
    if type(value) in _SCALARS:
        return _SCALARS[type(value)]
    if is_dataframe(value):
        return None if depth else "dataframe"
    if type(value) not in (list, dict) or depth == _DEEPEST:
        return None
    held = cast("list[object] | dict[object, object]", value)
    if not 0 < len(held) <= _LONGEST:
        return None
    items = held.values() if isinstance(held, dict) else held
    found = {_schema_of(one, depth + 1) for one in items}
    inner = found.pop() if len(found) == 1 else None
    if inner is None or (isinstance(held, dict) and any(type(one) is not str for one in held)):
        return None
    return f"{{[string]: {inner}}}" if isinstance(held, dict) else f"[{inner}]"


def _own_part(compiled: Compiled, cell: _Cell) -> str:
    """The Python of the cell, and of statements that run again with it, with the needed imports."""
    assert compiled.text is not None and compiled.module is not None
    text = compiled.text
    lines = StringIO(text).readlines()  # not `splitlines`, which has further line ends
    of_line: dict[int, bool] = {}
    for one in compiled.module.origins.map(text):
        for line in range(one.line, one.end_line + 1):
            of_line[line] = of_line.get(line, False) or cell.runs(one.span)
    module = compiled.checked.module
    written = nodes_of(module, n.ImportStmt, n.FromImport)
    own = {one.module.text for one in written if cell.runs(one.span)}
    theirs = {one.module.text for one in written} - own
    earlier = set[str]().union(*(_names_of(one) for one in written if not cell.runs(one.span)))
    imports: list[ast.Import | ast.ImportFrom] = []
    kept: list[str] = []
    pending: list[str] = []
    end = 0
    for statement in ast.parse(text).body:
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        start = min([statement.lineno, *(one.lineno for one in decorators)])
        part = "".join(lines[end : statement.end_lineno])
        end = statement.end_lineno or 0
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.append(statement)
            continue
        known = [of_line[line] for line in range(start, end + 1) if line in of_line]
        if not known:
            pending.append(part)  # a class of an earlier cell; write it only if it is needed
            continue
        if any(known):
            kept += [*pending, part]
        pending = []
    body = "".join(kept)
    names = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    for statement in imports:
        is_theirs = _modules_of(statement) & theirs
        is_own = _modules_of(statement) & own
        bound = {one: one.asname or one.name for one in statement.names}
        used = [
            one for one, name in bound.items() if name not in earlier and (is_own or name in names)
        ]
        statement.names = [] if is_theirs else used
    head = "".join(f"{ast.unparse(one)}\n" for one in imports if one.names)
    return f"{head}\n{body.lstrip()}" if head else body.lstrip()


def _modules_of(statement: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {"." * statement.level + (statement.module or "")}
    return {one.name for one in statement.names}
