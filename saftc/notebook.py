"""Scripts in the cells of a notebook: `%load_ext saftc`, and then cells that begin with `%%saft`.

    %%saft --show
    answer = $ how many moons has {planet}? $

A cell goes on with the cells before it, as if they were one script: it knows their types and
functions, and the results of their prompts with their conversations. Only its own statements run.
What the cell assigns and defines becomes a name of the notebook; a name of the notebook goes before
a builtin. `--show` prints the Python that the cell becomes, before that runs.

What is compiled is a text of several parts, of which the last alone is the cell's:

    type Planet(name: string)           what earlier cells have defined and assigned
    mars = Planet("Mars")
    names: [string] = parse("")         values of Python, with the types that they have now
    from __notebook__ import client as client     what else the notebook has
    <the cell>
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, cast

from saftc.commands.reporting import write_rendered
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.render import render_text
from saftc.driver import Checked, Compiled, check, compile_checked
from saftc.flow.statements import all_statements, bound_by
from saftc.importing import install
from saftc.project.scripts import Scripts
from saftc.project.settings import compile_settings
from saftc.running import run_text
from saftc.semantics.imports import Loaded, PythonModule
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of

# The module that names of the notebook come from of which no more is known.
_NOTEBOOK = "__notebook__"
# What the last expression of a cell is bound to, so that it can be shown.
_SHOWN = "shown_"
# How what a cell reads and binds anew is called above it.
_GIVEN = "given_"

_UNKNOWN = (
    catalogue.UNKNOWN_NAME.number,
    catalogue.UNBOUND_NAME.number,
    catalogue.UNKNOWN_TYPE.number,
)
# How deep the values of Python are looked into, and how many elements are.
_DEEPEST, _LONGEST = 3, 1_000
_SCALARS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "string"}

_numbers = count(1)


class ScriptError(SyntaxError):
    """A cell has errors; they are shown as `saftc check` shows them."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows."""
        return str(self.msg).splitlines()


def register(shell: Any) -> None:
    """Gives the shell the magic, and has it find scripts when they are imported."""
    install()
    notebook = Notebook(shell.user_ns)

    def saft(line: str, cell: str) -> object:
        """Runs a script; with --show, prints its Python first."""
        words = line.split()
        if words not in ([], ["--show"]):
            raise ScriptError(f"%%saft takes --show and nothing else, not {line.strip()}")
        return notebook.run_cell(cell, show=bool(words))

    shell.register_magic_function(saft, magic_kind="cell", magic_name="saft")


@dataclass(frozen=True, slots=True)
class _Kept:
    """A statement of an earlier cell, the names that it binds, and the values they had then.

    A type binds names that have no value.
    """

    text: str
    values: Mapping[str, object]
    types: frozenset[str]


@dataclass
class Notebook:
    """The cells that have run, and the names of the notebook, which are those of IPython."""

    names: dict[str, Any]
    _kept: list[_Kept] = field(default_factory=list[_Kept])

    def run_cell(self, cell: str, *, show: bool = False) -> object:
        """Compiles a cell and runs it; gives what its last expression comes to, or None.

        Raises:
            ScriptError: The cell has errors.
        """
        name = f"<cell {next(_numbers)}>"
        self._forget_what_has_changed()
        text = _Cell(name, cell)
        found = text.checked(self._before(text, set()))
        more = _wanted(found) & self.names.keys()
        if more:
            found = text.checked(self._before(text, more))
        said = text.rendered(found.when_used)
        compiled = compile_checked(found, compile_settings())
        if compiled.text is None:
            raise ScriptError(text.rendered(compiled.checked.diagnostics))
        write_rendered(said, sys.stderr)
        own = _own_part(compiled, text)
        if show:
            print(own.replace(f"{_SHOWN} = ", ""))
        self.names["__saft_folder__"] = str(Path.cwd())
        run_text(own, name, self.names)
        self._keep(found, text)
        return self.names.pop(_SHOWN, None)

    def _forget_what_has_changed(self) -> None:
        """Leaves out what Python has bound anew since a cell has bound it."""
        self._kept = [
            one
            for one in self._kept
            if all(self.names.get(name) is value for name, value in one.values.items())
        ]

    def _before(self, cell: "_Cell", more: set[str]) -> str:
        """What stands before the cell: earlier cells, and `more` names of the notebook."""
        anew = cell.binds
        kept = [one for one in self._kept if not anew & {*one.values, *one.types}]
        known = {name for one in kept for name in (*one.values, *one.types)}
        lines = [one.text for one in kept]
        for name in sorted(more - known):
            schema = _schema_of(self.names[name])
            # What the cell binds anew may be of another type then.
            own = f"{_GIVEN}{name}" if name in anew else name
            if schema is None:
                lines.append(f"from {_NOTEBOOK} import {name} as {own}")
            else:
                lines.append(f'{own}: {schema} = parse("")')
            if own != name:
                lines.append(f"{name} = {own}")
        return "".join(f"{line}\n" for line in lines)

    def _keep(self, found: Checked, cell: "_Cell") -> None:
        """Keeps what the cell has defined and assigned for those that follow."""
        anew = cell.binds
        self._kept = [one for one in self._kept if not anew & {*one.values, *one.types}]
        bound = [
            (statement, [one.text for one in bound_by(statement)])
            for statement in cell.own(found.module.statements)
            if isinstance(statement, _KEPT)
        ]
        again = {name for _, names in bound for name in names}
        loose = {name for name in anew if name not in again and name in self.names}
        for statement, names in bound:
            if isinstance(statement, n.TypeAlias | n.RecordDef):
                names = [statement.name.text]
            # Of what is bound more than once, only the last value is there.
            if loose.isdisjoint(names) and _SHOWN not in names:
                types = frozenset(name for name in names if name not in self.names)
                values = {name: self.names[name] for name in names if name in self.names}
                self._kept.append(_Kept(found.source.at(statement.span), values, types))


_KEPT = (
    *(n.FunctionDef, n.RecordDef, n.TypeAlias, n.ImportStmt, n.FromImport),
    *(n.AssignStmt, n.DestructureStmt, n.UnpackStmt),
)


class _Cell:
    """The text of a cell, and where it stands in what is compiled."""

    def __init__(self, name: str, cell: str) -> None:
        self.name = name
        self._modules = Scripts().of("-")
        # The first line of the cell is that of the magic.
        self.written = Source.from_text(name, f"\n{cell}")
        alone = check(self.written, self._load)
        self.binds = _bound(alone.module)
        self._shown = _last_expression(alone)
        self._start = 0

    def _load(self, module: str) -> Loaded:
        return PythonModule() if module == _NOTEBOOK else self._modules.load(module)

    def checked(self, before: str) -> Checked:
        """The cell behind what stands before it."""
        text, self._start = self.written.text, len(before)
        if self._shown is not None:
            text = f"{text[: self._shown]}{_SHOWN} = {text[self._shown :]}"
        source = Source.from_text(self.name, before + text)
        return check(source, self._load, keeps_results=True)

    def is_own(self, span: Span) -> bool:
        """Whether a place is one of the cell."""
        return span.start >= self._start

    def own(self, statements: tuple[n.Statement, ...]) -> Iterator[n.Statement]:
        """Those statements that are the cell's."""
        return (one for one in statements if self.is_own(one.span))

    def rendered(self, diagnostics: tuple[Diagnostic, ...]) -> str:
        """What is wrong with the cell, with its places in it."""
        found = [self._in_cell(one) for one in diagnostics if self.is_own(one.span)]
        if not found and any(one.severity == "error" for one in diagnostics):
            # What the cell defines anew does not fit to what stands in an earlier one.
            problem = next(one for one in diagnostics if one.severity == "error")
            found = [replace(problem, span=Span(0, 0), related=(), edits=())]
        return render_text(found, self.written)

    def _in_cell(self, told: Diagnostic) -> Diagnostic:
        related = tuple(
            replace(one, span=self._moved(one.span))
            for one in told.related
            if self.is_own(one.span)
        )
        return replace(told, span=self._moved(told.span), related=related, edits=())

    def _moved(self, span: Span) -> Span:
        return Span(self._place(span.start), self._place(span.end))

    def _place(self, offset: int) -> int:
        offset -= self._start
        added = len(f"{_SHOWN} = ")
        is_behind = self._shown is not None and offset > self._shown
        return max(self._shown or 0, offset - added) if is_behind else offset


def _bound(module: n.Module) -> set[str]:
    """The names that the top level of a script binds, those of its types too."""
    found: set[str] = set()
    for statement in all_statements(module.statements):
        if isinstance(statement, n.TypeAlias | n.RecordDef):
            found.add(statement.name.text)
        else:
            found |= {one.text for one in bound_by(statement)}
    return found


def _last_expression(alone: Checked) -> int | None:
    """Where the last expression of a cell begins, if it is one to be shown."""
    last = alone.module.statements[-1] if alone.module.statements else None
    if not isinstance(last, n.ExpressionStmt):
        return None
    called = last.value.function if isinstance(last.value, n.Call) else None
    if isinstance(called, n.Name) and called.text in ("print", "write_text", "append_text"):
        return None
    return last.span.start


def _wanted(found: Checked) -> set[str]:
    """The names that the notebook may have: unknown ones, and those of builtins."""
    unknown = {found.source.at(one.span) for one in found.diagnostics if one.code in _UNKNOWN}
    names = nodes_of(found.module, n.Name)
    return unknown | {one.text for one in names if found.facts.names.of(one).kind == "builtin"}


def _schema_of(value: object, depth: int = 0) -> str | None:
    """The schema of a value of Python, if it is one that Saft has a type for and none that it has
    to be asked for again."""
    if value is None:
        return "nil" if depth else None
    if type(value) in _SCALARS:
        return _SCALARS[type(value)]
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
    """The Python of the cell alone, with the imports that it needs."""
    assert compiled.text is not None and compiled.module is not None
    text = compiled.text
    lines = text.splitlines(keepends=True)
    of_line: dict[int, bool] = {}
    for one in compiled.module.origins.map(text):
        for line in range(one.line, one.end_line + 1):
            of_line[line] = of_line.get(line, False) or cell.is_own(one.span)
    module = compiled.checked.module
    written = nodes_of(module, n.ImportStmt, n.FromImport)
    own = {one.module.text for one in written if cell.is_own(one.span)}
    theirs = {one.module.text for one in written} - own
    imports: list[ast.Import | ast.ImportFrom] = []
    kept: list[str] = []
    pending: list[str] = []
    end = 0
    for statement in ast.parse(text).body:
        first = min([statement.lineno, *(one.lineno for one in _decorators(statement))])
        part, start = "".join(lines[end : statement.end_lineno]), first
        end = statement.end_lineno or 0
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.append(statement)
            continue
        known = [of_line[line] for line in range(start, end + 1) if line in of_line]
        if not known:
            pending.append(part)  # a class that is made for what follows
            continue
        if any(known):
            kept += [*pending, part]
        pending = []
    body = "".join(kept)
    names = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    for statement in imports:
        is_theirs = _modules_of(statement) & theirs
        is_own = _modules_of(statement) & own
        used = [one for one in statement.names if is_own or (one.asname or one.name) in names]
        statement.names = [] if is_theirs else used
    head = "".join(f"{ast.unparse(one)}\n" for one in imports if one.names)
    return f"{head}\n{body.lstrip()}" if head else body.lstrip()


def _modules_of(statement: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {"." * statement.level + (statement.module or "")}
    return {one.name for one in statement.names}


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])

