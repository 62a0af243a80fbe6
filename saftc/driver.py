"""Source text to result: pure, no files, no output.

`check` gives what is wrong with a script; `compile_source` gives the Python module as well.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from saftc.diagnostics.model import Collector, Diagnostic
from saftc.semantics.facts import Facts
from saftc.semantics.inference import analyze
from saftc.source import Source
from saftc.syntax.nodes import Module
from saftc.syntax.parser import parse

# Trees are at most some hundred levels deep (see the parser); each level takes several frames.
_FRAMES = 12_000


@dataclass(frozen=True, slots=True)
class Checked:
    """A script's tree, its facts, and what is wrong with it, in source order."""

    source: Source
    module: Module
    facts: Facts
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        """Whether there is no module to be had."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A checked script and its Python module; `text` is None when there are errors."""

    checked: Checked
    text: str | None


def check(source: Source) -> Checked:
    """Everything that is known of a script without writing its module."""
    found = Collector()
    with _deep_stack():
        module = parse(source, found)
        facts = analyze(module, found)
    return Checked(source, module, facts, found.report())


def compile_source(source: Source) -> Compiled:
    """The Python module of a script, or what keeps it from having one."""
    checked = check(source)
    if checked.has_errors:
        return Compiled(checked, None)
    # libcst takes longer to import than a script takes to check.
    from saftc.codegen.module import generate

    with _deep_stack():
        return Compiled(checked, generate(source, checked.module, checked.facts))


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Room for the deepest tree that the parser lets pass."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
