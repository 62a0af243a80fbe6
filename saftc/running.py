"""Runs compiled texts as modules, so that tracebacks and the runtime find the texts' lines.

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

# First line, first column, last line and last column, as in `co_positions`.
Stretch = tuple[int, int | None, int, int | None]


class Places(Protocol):
    """The source map that the runtime uses for a compiled script."""

    def position(self, line: int, column: int | None) -> str | None:
        """`file:line:column` of the script for a place in the module; None if it is unknown."""
        ...


def run_text(
    text: str,
    filename: str,
    names: dict[str, Any],
    places: Places | None = None,
    code: CodeType | None = None,
) -> None:
    """Executes the text of a module in the namespace `names`.

    If `code` is given, it is executed instead of the compiled text. Tracebacks find the text's
    lines by `filename`. The runtime maps places in the module to places in the script with
    `places`.
    """
    remember_lines(filename, text)
    if places is not None:
        names["__saft_source_map__"] = places
    exec(compile(text, filename, "exec") if code is None else code, names)


async def await_text(text: str, filename: str, names: dict[str, Any]) -> None:
    """Executes a text as `run_text` does, but allows `await` at its top level."""
    import ast
    import inspect

    remember_lines(filename, text)
    code = compile(text, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)
    if inspect.iscoroutine(waiting):
        await waiting


def remember_lines(filename: str, text: str) -> None:
    """Registers the lines of a text without a file for tracebacks and traces."""
    linecache.cache[filename] = (len(text), None, StringIO(text).readlines(), filename)


def importing_file(own: str) -> str | None:
    """The file of the innermost calling frame outside of import machinery and the file `own`.

    The result is None if there is no such frame.
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
    """Whether a file belongs to Python, an installed package or saftc."""
    return path.startswith(_libraries()) or is_of_saftc(path)


def is_of_saftc(path: str) -> bool:
    """Whether a file belongs to saftc or the runtime."""
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
    """A running script. If its source map is needed and unknown, the script is compiled again."""

    def __init__(self, module: CompiledModule, workspace: Workspace) -> None:
        self.module = module
        self.workspace = workspace

    @property
    def text(self) -> str:
        """The text of the script's module."""
        return self.module.text or ""

    @cached_property
    def origin(self) -> Origin | None:
        """The script and its module's source map; None if the script or an import has changed."""
        return self.workspace.origin(self.module)

    @cached_property
    def source(self) -> "Source":
        """The source of the script, as it was read when the script was compiled."""
        from saftc.source import Source

        data = self.workspace.reads.data(self.module.script)
        return Source.from_bytes(shown(self.module.script), data)

    @cached_property
    def places(self) -> "list[Place]":
        """The parts of the module's text, each with its place in the script."""
        return [] if self.origin is None else self.origin.generated.origins.map(self.text)

    def span(self, stretch: Stretch) -> "Span | None":
        """The span of the script from which a stretch of the module's text was generated."""
        from saftc.codegen.positions import locate

        return locate(self.places, *stretch)

    def import_at(self, line: int) -> "Span | None":
        """The span of the import from which a line of the module's text was generated."""
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
        """`file:line:column` of the script for a place in the module; None if it is unknown."""
        span = self.span((line, column, line, column))
        return None if span is None else self.shown(span)

    def shown(self, span: "Span") -> str:
        """`file:line:column` of a place in the script."""
        line, column = self.source.position(span.start)
        return f"{self.source.name}:{line}:{column}"
