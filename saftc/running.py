"""Compiled texts, run as modules so that tracebacks, and the runtime, find their lines.

    run_text(text, "<compiled triage.saft>", module.__dict__, Running(compiled, workspace))
"""

import importlib
import linecache
import os
import sys
from functools import cache, cached_property
from io import StringIO
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Protocol

from saftc.project.cache import CompiledModule
from saftc.project.files import shown
from saftc.project.workspace import Origin, Workspace

if TYPE_CHECKING:
    from saftc.codegen.positions import Mapping as Place
    from saftc.source import Source, Span

# Lines and columns as `co_positions` gives them: first line, first column, last line, last column.
Stretch = tuple[int, int | None, int, int | None]


class Places(Protocol):
    """What the runtime asks for the places of a script that has become a module."""

    def position(self, line: int, column: int | None) -> str | None:
        """`file:line:column` of the script for a place in the module; None if it has none."""
        ...


def run_text(
    text: str,
    filename: str,
    names: dict[str, Any],
    places: Places | None = None,
    code: CodeType | None = None,
) -> None:
    """Runs the text of a module with `names`; `code` is what runs, where it is not the text itself.

    Tracebacks find its lines by the file name, and what the runtime says of it has the places.
    """
    remember_lines(filename, text)
    if places is not None:
        names["__saft_source_map__"] = places
    exec(compile(text, filename, "exec") if code is None else code, names)


async def await_text(text: str, filename: str, names: dict[str, Any]) -> None:
    """As `run_text`, of a text that may wait at its top level."""
    import ast
    import inspect

    remember_lines(filename, text)
    code = compile(text, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)
    if inspect.iscoroutine(waiting):
        await waiting


def remember_lines(filename: str, text: str) -> None:
    """Has tracebacks, and what looks at a run, find the lines of a text that is in no file."""
    linecache.cache[filename] = (len(text), None, StringIO(text).readlines(), filename)


def importing_file(own: str) -> str | None:
    """The file of the innermost code that calls here and is neither a part of importing nor `own`.

    None when there is no such code.
    """
    passed = (own, __file__, importlib.__file__)
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename not in passed and not filename.startswith("<frozen importlib"):
            return filename
        frame = frame.f_back
    return None


def is_of_library(path: str) -> bool:
    """Whether the code of this file is Python's, an installed package's or saftc's."""
    return path.startswith(_libraries()) or is_of_saftc(path)


def is_of_saftc(path: str) -> bool:
    """Whether the code of this file is saftc's or the runtime's."""
    return path.startswith(_ours())


@cache
def _libraries() -> tuple[str, ...]:
    import sysconfig

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(sysconfig.get_path(name) + os.sep for name in names)


@cache
def _ours() -> tuple[str, ...]:
    import runtime_support

    folders = (os.path.dirname(__file__), os.path.dirname(str(runtime_support.__file__)))
    return tuple(f"{folder}{os.sep}" for folder in folders)


class Running:
    """A script that is being run; it is compiled again when its places are asked for."""

    def __init__(self, module: CompiledModule, workspace: Workspace) -> None:
        self.module = module
        self.workspace = workspace

    @property
    def text(self) -> str:
        """The text of the module."""
        return self.module.text or ""

    @cached_property
    def origin(self) -> Origin | None:
        """The script, and the places of its module; None when they cannot be had any more."""
        return self.workspace.origin(self.module)

    @cached_property
    def source(self) -> "Source":
        """The script."""
        from saftc.source import Source

        data = self.workspace.reads.data(self.module.script)
        return Source.from_bytes(shown(self.module.script), data)

    @cached_property
    def places(self) -> "list[Place]":
        """Where in the script each place of the text comes from."""
        return [] if self.origin is None else self.origin.generated.origins.map(self.text)

    def span(self, stretch: Stretch) -> "Span | None":
        """The part of the script that a stretch of the text was made from."""
        from saftc.codegen.positions import locate

        return locate(self.places, *stretch)

    def import_at(self, line: int) -> "Span | None":
        """The import statement of the script that has become a line of the text."""
        import ast

        from saftc.diagnostics.model import Collector
        from saftc.syntax import nodes as n
        from saftc.syntax.parser import parse
        from saftc.syntax.walk import nodes_of

        names = [
            "." * node.level + (node.module or "")
            if isinstance(node, ast.ImportFrom)
            else node.names[0].name
            for node in ast.walk(ast.parse(self.text))
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno == line
        ]
        imports = nodes_of(parse(self.source, Collector()), n.ImportStmt, n.FromImport)
        return next((node.span for node in imports if node.module.text in names), None)

    def position(self, line: int, column: int | None) -> str | None:
        """`file:line:column` of the script for a place in the text: what the runtime asks for."""
        span = self.span((line, column, line, column))
        return None if span is None else self.shown(span)

    def shown(self, span: "Span") -> str:
        """`file:line:column` of a place in the script."""
        line, column = self.source.position(span.start)
        return f"{self.source.name}:{line}:{column}"
