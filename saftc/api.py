"""Checks, compiles and runs scripts as texts, without files.

    for problem in check_source("print(x)"):
        print(problem.line, problem.message)        1 unknown name `x`

    text = compile_source("print(1 + 2)")           the text of the Python module
    module = run_source("x = 1 + 2")                module.x is 3

Such scripts can import Python modules, but no other scripts. The package `saftc` also has these
functions, such as `saftc.run_source`.
"""

import ast
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from types import CodeType, ModuleType

from saftc.codegen.module import Generated
from saftc.codegen.positions import Mapping, locate
from saftc.diagnostics.model import Diagnostic, Severity
from saftc.diagnostics.render import render_text
from saftc.driver import Checked, check, compile_checked
from saftc.overlap.settings import Overlapping
from saftc.running import run_text
from saftc.source import Source

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a script. Lines and columns are counted from 1.

    `saftc explain` describes the `code`. `hint` says what to do. `str()` of a problem is the text
    that `saftc check` shows.
    """

    code: str
    severity: Severity
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    hint: str | None
    shown: str

    def __str__(self) -> str:
        return self.shown


class SourceError(SyntaxError):
    """Raised if a script has errors.

    The message shows all of them, and `problems` has them as data.
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def check_source(source: str, *, name: str = "<text>") -> tuple[Problem, ...]:
    """The errors and warnings of a script in source order. There may be none.

    `name` is the script's name in messages.
    """
    return _problems(_checked(source, name))


def compile_source(source: str, *, name: str = "<text>", is_async: bool = False) -> str:
    """Compiles a script to the text of a Python module, as `saftc build` writes it.

    `is_async` selects the async form, as `saftc build --async` does.

    Raises:
        SourceError: The script has errors.
    """
    return _compiled(_checked(source, name), Overlapping(is_async=is_async))[0]


def run_source(source: str, *, name: str = "<text>", **settings: object) -> ModuleType:
    """Runs a script as a program, with its `main` if it has one, and returns its module.

    The names of the script are attributes of the module. `settings` are those of
    `runtime_support.configure`, such as `provider="mock"`, and apply to this run only. Failures of
    the script are raised as in a compiled module, with a note on the place: `at <text>:3:7`.

    Raises:
        SourceError: The script has errors. Nothing has run.
        ConfigError: A setting is unknown or has a wrong value. Nothing has run.
    """
    from runtime_support import ReplayMiss, configure

    text, places = _compiled(_checked(source, name), Overlapping())
    number = next(_numbers)
    filename = f"<compiled {name} {number}>"
    # Dataclasses and the like look up the names in their annotations in `sys.modules`.
    module = sys.modules[f"saft_text_{number}"] = ModuleType(f"saft_text_{number}")
    with configure(**settings):
        try:
            run_text(text, filename, module.__dict__, places, _as_program(text, filename))
        except (Exception, ReplayMiss) as error:
            _note_place(error, filename, places)
            raise
    return module


@dataclass(frozen=True)
class _Places:
    """The source map for the runtime. It maps places of a module to places of the script."""

    source: Source
    module: Generated

    @cached_property
    def _origins(self) -> list[Mapping]:
        return self.module.origins.map(self.module.text)

    def position(self, line: int, column: int | None) -> str | None:
        """`name:line:column` in the script for a place in the module; None if it is unknown."""
        span = locate(self._origins, line, column, line, column)
        if span is None:
            return None
        at = self.source.position(span.start)
        return f"{self.source.name}:{at.line}:{at.column}"


def _checked(source: str, name: str) -> Checked:
    return check(Source.from_text(name, source))


def _compiled(checked: Checked, overlapping: Overlapping) -> tuple[str, _Places]:
    compiled = compile_checked(checked, overlapping)
    if compiled.module is None:
        raise SourceError(
            tuple(one for one in _problems(compiled.checked) if one.severity == "error")
        )
    return compiled.module.text, _Places(checked.source, compiled.module)


def _as_program(text: str, filename: str) -> CodeType:
    """Compiles a module so that its `if __name__ == "__main__"` statements run, too."""
    tree = ast.parse(text, filename)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
        tree.body[-1:] = last.body
    return compile(tree, filename, "exec")


def _note_place(error: BaseException, filename: str, places: _Places) -> None:
    """Adds a note with the innermost place in the script, unless the error has such a note."""
    if any(note.startswith("at ") for note in getattr(error, "__notes__", ())):
        return
    position, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            line, _, column, _ = [*code.co_positions()][trace.tb_lasti // 2]
            position = places.position(line or trace.tb_lineno, column) or position
        trace = trace.tb_next
    if position is not None:
        error.add_note(f"at {position}")


def _problems(checked: Checked) -> tuple[Problem, ...]:
    return tuple(_problem(one, checked.source) for one in checked.diagnostics)


def _problem(found: Diagnostic, source: Source) -> Problem:
    start, end = source.position(found.span.start), source.position(found.span.end)
    shown = render_text([found], source)
    place = (start.line, start.column, end.line, end.column)
    return Problem(found.code, found.severity, found.message, *place, found.hint, shown)
