"""`saftc fmt`: the text of a script in the one form that `saftc.syntax.unparse` writes.

`format_source` is pure: text in, text out. What was written is read again and compared with the
script, so that formatting never changes what a script means. `Formatter` does it to files; a script
that cannot be read is left alone.
"""

import difflib
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from saftc.commands.reporting import complain, say
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.diagnostics.render import render_text
from saftc.project.files import FileProblem, read_module, read_source, write_module
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.parser import parse
from saftc.syntax.unparse import unparse

# Trees are at most some hundred levels deep (see the parser); each level takes several frames.
_FRAMES = 12_000

# Where a node stands, and whether it is written on several lines, is not what it means.
_LAYOUT = {"span", "is_spread"}


@dataclass(frozen=True, slots=True)
class Formatted:
    """A script and its formatted text; `text` is None when the script cannot be read."""

    source: Source
    text: str | None
    diagnostics: tuple[Diagnostic, ...]


def format_source(source: Source) -> Formatted:
    """The formatted text of a script, or the mistakes that keep it from having one."""
    found = Collector()
    with _deep_recursion():
        module = parse(source, found)
        if found.has_errors:
            return Formatted(source, None, found.report())
        text = unparse(source, module)
        _compare(source.name, module, text)
    return Formatted(source, text, ())


def is_same(one: object, other: object) -> bool:
    """Whether two trees, or parts of trees, differ in nothing but layout."""
    if isinstance(one, n.Node) and isinstance(other, n.Node):
        names = [field.name for field in fields(one) if field.name not in _LAYOUT]
        return type(one) is type(other) and all(
            is_same(getattr(one, name), getattr(other, name)) for name in names
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        ones, others = cast("tuple[object, ...]", one), cast("tuple[object, ...]", other)
        return len(ones) == len(others) and all(map(is_same, ones, others))
    return one == other


def _compare(name: str, module: n.Module, text: str) -> None:
    """Raises when `text` is not the script `module`, which would be a bug."""
    found = Collector()
    written = parse(Source.from_text(name, text), found)
    if found.has_errors or not is_same(module.statements, written.statements):
        raise RuntimeError(f"formatting would change what {name} means")
    if _words(module) != _words(written):
        raise RuntimeError(f"formatting would lose a comment of {name}")


def _words(module: n.Module) -> Counter[str]:
    """The comments of a script; their slashes may change, as not all of them document something."""
    return Counter(comment.text.lstrip("/") for comment in module.comments)


@contextmanager
def _deep_recursion() -> Generator[None, None, None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Formatter:
    """Formats files in place, or only says what it would do."""

    def __init__(self, *, check: bool, diff: bool) -> None:
        self.check = check
        self.diff = diff
        self.has_failed = False

    def format(self, file: str) -> None:
        """Formats the script `file`; `-` is standard input, written to standard output."""
        try:
            source = read_source(file)
            # Unlike the source, the text has the file's line ends.
            existing = source.text if file == "-" else read_module(Path(file)) or ""
        except FileProblem as problem:
            complain(str(problem))
            self.has_failed = True
            return
        formatted = format_source(source)
        if formatted.text is None:
            print(render_text(formatted.diagnostics, source), file=sys.stderr, end="")
            self.has_failed = True
            return
        text = formatted.text
        if existing.partition("\n")[0].endswith("\r"):
            text = text.replace("\n", "\r\n")
        if self.check or self.diff:
            self._compare(file, existing, text)
        elif file == "-":
            sys.stdout.write(text)
        elif text != existing:
            # A link stays one: what it points to is replaced.
            write_module(Path(file).resolve(), text)
            say(f"{file} formatted")

    def _compare(self, file: str, existing: str, text: str) -> None:
        if text == existing:
            return
        if self.diff:
            lines = difflib.unified_diff(
                existing.splitlines(keepends=True),
                text.splitlines(keepends=True),
                fromfile=f"{file} (on disk)",
                tofile=f"{file} (formatted)",
            )
            sys.stdout.writelines(lines)
        if self.check:
            say(f"{file} is not formatted: run `saftc fmt {file}`")
            self.has_failed = True
