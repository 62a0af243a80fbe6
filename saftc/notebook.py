"""Scripts in the cells of a notebook: `%load_ext saftc`, and then cells that begin with `%%saft`.

    %%saft --show
    answer = $ how many moons has {planet}? $

What the cell assigns and defines becomes a name of the notebook, and it may read names that the
notebook has by then, unless it assigns them. `--show` prints the Python that it becomes, before
that runs.
"""

import sys
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from saftc.commands.reporting import write_rendered
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.render import render_text
from saftc.driver import Checked, check, compile_checked
from saftc.importing import install
from saftc.project.scripts import Scripts
from saftc.project.settings import compile_settings
from saftc.running import run_text
from saftc.semantics.imports import Loaded, PythonModule
from saftc.source import Source

# The module that the names of a notebook are imported from in a cell.
_NOTEBOOK = "__notebook__"

# What is said of a name that the notebook may have; of the second kind, the cell assigns it later.
_UNKNOWN = (catalogue.UNKNOWN_NAME.number, catalogue.UNBOUND_NAME.number)

_numbers = count(1)


class ScriptError(SyntaxError):
    """A cell has errors; they are shown as `saftc check` shows them."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows."""
        return str(self.msg).splitlines()


def register(shell: Any) -> None:
    """Gives the shell the magic, and has it find scripts when they are imported."""
    install()

    def saft(line: str, cell: str) -> None:
        """Runs a script; with --show, prints its Python first."""
        words = line.split()
        if words not in ([], ["--show"]):
            raise ScriptError(f"%%saft takes --show and nothing else, not {line.strip()}")
        run_cell(cell, shell.user_ns, show=bool(words))

    shell.register_magic_function(saft, magic_kind="cell", magic_name="saft")


def run_cell(cell: str, names: dict[str, Any], *, show: bool = False) -> None:
    """Compiles a cell and runs it with `names`, which are then also those that it gives.

    Raises:
        ScriptError: The cell has errors.
    """
    name = f"<cell {next(_numbers)}>"
    modules = Scripts().of("-")

    def load(module: str) -> Loaded:
        return PythonModule() if module == _NOTEBOOK else modules.load(module)

    def checked(given: list[str]) -> Checked:
        # The first line of the cell is that of the magic.
        first = f"from {_NOTEBOOK} import {', '.join(given)}" if given else ""
        return check(Source.from_text(name, f"{first}\n{cell}"), load)

    found = checked([])
    unknown = {found.source.at(one.span) for one in found.diagnostics if one.code in _UNKNOWN}
    given = sorted(unknown & names.keys())
    if given:
        found = checked(given)
    said = render_text([_of_notebook(one, found, given) for one in found.when_used], found.source)
    compiled = compile_checked(found, compile_settings())
    if compiled.text is None:
        raise ScriptError(said)
    write_rendered(said, sys.stderr)
    if show:
        print(compiled.text)
    names["__saft_folder__"] = str(Path.cwd())
    # Where the import in its first line finds the names that it reads.
    notebook = sys.modules[_NOTEBOOK] = ModuleType(_NOTEBOOK)
    notebook.__dict__.update(names)
    run_text(compiled.text, name, names)


def _of_notebook(told: Diagnostic, found: Checked, given: list[str]) -> Diagnostic:
    """What is reported of the import in the first line, which the notebook has added."""
    name = found.source.at(told.span)
    if told.code != catalogue.NAME_IS_TAKEN.number or name not in given:
        return told
    what, hint = "read from the notebook", "give what the cell assigns another name"
    return catalogue.NAME_IS_TAKEN.at(told.span, name=name, what=what, hint=hint)
