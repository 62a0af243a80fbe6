"""The cases and how one is compiled: a folder with `in.saft`, and `out.py` or `errors.txt`.

Other scripts in the folder are siblings that `in.saft` imports.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import libcst as cst
import pytest

from saftc.check.imports import no_modules
from saftc.codegen import layout
from saftc.diagnostics.render import render_text
from saftc.driver import Compiled, compile_source
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.project.scripts import Modules
from saftc.project.settings import Project
from saftc.source import Source

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
CASES = TESTS / "cases"
GOLDENS = TESTS / "goldens"
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True, slots=True)
class Case:
    """A case; `name` is `for_stmt/list`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.relative_to(CASES).as_posix()

    @property
    def construct(self) -> str:
        return self.name.split("/")[0]

    @property
    def out(self) -> Path:
        return self.folder / "out.py"

    @property
    def errors(self) -> Path:
        return self.folder / "errors.txt"

    def source(self) -> Source:
        return Source.from_bytes("in.saft", (self.folder / "in.saft").read_bytes())

    def siblings(self) -> list[Path]:
        """The scripts beside it, which it imports."""
        return sorted(set(self.folder.glob("*.saft")) - {self.folder / "in.saft"})

    @property
    def overlapping(self) -> Overlapping:
        """How it is compiled: an empty file `async` asks for the async form; `defaults.json` has
        the settings that the module takes with it; `pyproject.toml` says what has no effects."""
        shipped = self.folder / "defaults.json"
        defaults = shipped.read_text(encoding="utf-8") if shipped.exists() else ""
        is_project = (self.folder / "pyproject.toml").exists()
        return Overlapping(
            pure=Project(self.folder).pure if is_project else (),
            is_async=(self.folder / "async").exists(),
            defaults=defaults,
        )

    def compile(self) -> Compiled:
        """What it compiles to, once in each process: it is the same for all who ask."""
        return _compiled(self)


@cache
def _compiled(case: Case) -> Compiled:
    return compile_source(case.source(), Modules(case.folder).load, case.overlapping)


def all_cases() -> list[Case]:
    """Every case, in order of its name."""
    return [Case(path.parent) for path in sorted(CASES.rglob("in.saft"))]


def compiled_cases() -> list[Case]:
    """The cases that have a module."""
    return [case for case in all_cases() if case.out.exists()]


def compile_file(path: Path, overlapping: Overlapping = DEFAULT) -> Compiled:
    """A script in a file, compiled with the scripts beside it and its project in sight."""
    source = Source.from_bytes(path.name, path.read_bytes())
    pure = (*overlapping.pure, *Project(path.parent).pure)
    return compile_source(source, Modules(path.parent).load, overlapping._replace(pure=pure))


@contextmanager
def without_black() -> Iterator[None]:
    """Modules are written as libcst has them: laying them out takes most of the time of compiling,
    and changes nothing of what they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "formatted", _as_it_is)
        yield


def _as_it_is(module: cst.Module) -> str:
    return module.code


def examples() -> list[Path]:
    """The scripts of `examples/`; applications have folders and tests of their own."""
    return sorted(EXAMPLES.glob("*.saft"))


def compile_text(text: str, name: str = "in.saft", folder: Path | None = None) -> Compiled:
    """A script given as text, compiled; with the scripts and the project of `folder` in sight."""
    source = Source.from_text(name, text)
    if folder is None:
        return compile_source(source, no_modules)
    pure = Project(folder).pure
    return compile_source(source, Modules(folder).load, Overlapping(pure=pure))


def diagnostics_of(text: str | bytes, name: str = "in.saft") -> str:
    """What is wrong with a script, as text for people."""
    source = (
        Source.from_bytes(name, text) if isinstance(text, bytes) else Source.from_text(name, text)
    )
    return render_text(compile_source(source).checked.diagnostics, source)


def codes_of(text: str | bytes) -> list[str]:
    """The codes of what is wrong with a script, in source order."""
    source = (
        Source.from_bytes("in.saft", text)
        if isinstance(text, bytes)
        else Source.from_text("in.saft", text)
    )
    return [found.code for found in compile_source(source).checked.diagnostics]


# Goldens that need something the compiler does not know yet; empty when all of them hold.
LATER_GOLDENS: frozenset[str] = frozenset()


def supported_goldens() -> list[str]:
    """The names of the goldens that have to hold."""
    names = {path.stem for path in GOLDENS.glob("*.saft")}
    return sorted(names - LATER_GOLDENS)
