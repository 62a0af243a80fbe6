"""Formats the text of a script.

The result is parsed and compared with the script, so that formatting never changes the script's
meaning.
"""

from collections import Counter
from dataclasses import dataclass, fields
from typing import cast

from saftc.diagnostics.model import Collector, Diagnostic
from saftc.formatter.statements import format_module
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.depth import fitting_interpreter
from saftc.syntax.lexer import SHEBANG
from saftc.syntax.parser import parse

# Fields that do not affect the meaning: the position, and whether the node takes several lines.
_LAYOUT = {"span", "is_spread"}


@dataclass(frozen=True, slots=True)
class Formatted:
    """A script and its formatted text. The text is None if the script has syntax errors."""

    source: Source
    text: str | None
    diagnostics: tuple[Diagnostic, ...]


def format_source(source: Source) -> Formatted:
    """Formats a script. If the script has syntax errors, returns the errors instead."""
    mistakes = Collector()
    with fitting_interpreter():
        module = parse(source, mistakes)
        if mistakes.has_errors:
            return Formatted(source, None, mistakes.report())
        shebang = SHEBANG.match(source.text)
        text = (shebang[0] if shebang else "") + format_module(source, module)
        _compare(source.name, module, text)
    return Formatted(source, text, ())


def is_same(one: object, other: object) -> bool:
    """True if two trees, or parts of trees, differ only in layout."""
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
    """Raises RuntimeError if `text` has another meaning or other comments than `module`.

    Either would be a bug of the formatter.
    """
    mistakes = Collector()
    written = parse(Source.from_text(name, text), mistakes)
    if mistakes.has_errors or not is_same(module.statements, written.statements):
        raise RuntimeError(f"formatting would change what {name} means")
    if _words(module) != _words(written):
        raise RuntimeError(f"formatting would lose a comment of {name}")


def _words(module: n.Module) -> Counter[str]:
    """Counts the comments of a script by their text.

    Slashes are left out, as the formatter may change their number.
    """
    return Counter(comment.text.lstrip("/") for comment in module.comments)
