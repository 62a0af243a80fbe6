"""Scripts to format, trees to compare, and scripts whose layout has been thrown about."""

from dataclasses import fields
from itertools import zip_longest
from pathlib import Path
from random import Random

from saftc.diagnostics.model import Collector
from saftc.formatter.formatter import format_source
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.lexer import lex
from saftc.syntax.parser import parse
from saftc.syntax.walk import walk
from tests.compiler.support import CASES, EXAMPLES, GOLDENS, TESTS


def scripts() -> list[Path]:
    """Every script of the project."""
    folders = (CASES, GOLDENS, EXAMPLES, TESTS / "oracle" / "scripts")
    return sorted(path for folder in folders for path in folder.rglob("*.saft"))


def parsed(text: str) -> n.Module | None:
    """The tree of a script; None when it cannot be read."""
    found = Collector()
    module = parse(Source.from_text("in.saft", text), found)
    return None if found.has_errors else module


def formatted(text: str) -> str:
    """The formatted text of a script that can be read."""
    result = format_source(Source.from_text("in.saft", text))
    assert result.text is not None, result.diagnostics
    return result.text


def shape(value: object) -> object:
    """A tree as nested tuples, without places and without what is only layout."""
    if isinstance(value, n.Module):
        return shape(value.statements)
    if isinstance(value, n.Node):
        parts = [
            (field.name, shape(getattr(value, field.name)))
            for field in fields(value)
            if field.name not in ("span", "is_spread")
        ]
        return (type(value).__name__, *parts)
    if isinstance(value, tuple):
        return tuple(shape(part) for part in value)
    # 1 == 1.0 == True, but they are not the same literal.
    return (type(value).__name__, repr(value))


def documented(module: n.Module) -> list[tuple[int, str]]:
    """What each doc comment documents, as the number of the node in the tree."""
    found: list[tuple[int, str]] = []
    for number, node in enumerate(walk(module)):
        if node in module.docs:
            found.append((number, module.docs[node]))
    return found


_OPENERS = {"LPAR", "LSQB", "LBRACE", "PATTERN_START", "HOLE_START"}
_CLOSERS = {"RPAR", "RSQB", "RBRACE", "HOLE_END"}
# Between these and what follows, nothing can be put without changing what is read.
_TIED = {"DOT", "DO", "PROGRAM", "STREAM", "PROMPT_START", "PROMPT_TEXT"}
_LINES = {"NEWLINE", "INDENT", "DEDENT"}


def thrown_about(text: str, random: Random) -> str:
    """`text` with other blanks, line breaks and comments, and the same tree."""
    tokens = lex(Source.from_text("in.saft", text), Collector()).tokens
    result: list[str] = []
    depth = position = formatted = 0
    for token, following in zip_longest(tokens, tokens[1:]):
        start, end = token.span
        result.append(text[position:start])
        result.append(text[start:end])
        position = end
        depth += (token.kind in _OPENERS) - (token.kind in _CLOSERS)
        formatted += (token.kind == "FORMAT_START") - (token.kind == "FORMAT_END")
        if formatted:
            # What stands in a formatted string stays on its line.
            continue
        if following is None or token.kind in _TIED or following.kind == "PROMPT_TEXT":
            continue
        if following.kind == "PROMPT_END" and token.kind == "HOLE_END":
            continue
        if depth and following.span.start != end:
            result.append(_gap(random, len(result)))
        elif depth:
            result.append(random.choice(["", "", "", " ", _gap(random, len(result))]))
        elif following.kind == "NEWLINE" and token.kind not in _LINES:
            result.append(random.choice(["", "", "", "  ", f" // note {len(result)}"]))
        elif (
            token.kind not in _LINES
            and following.kind not in _LINES
            and following.span.start != end
        ):
            result.append(random.choice(["", "", "  "]))
    result.append(text[position:])
    return "".join(result)


def _gap(random: Random, number: int) -> str:
    return random.choice(
        [
            " ",
            " ",
            " ",
            "\n",
            "\n\n      ",
            f"  // beside {number}\n",
            f"\n  // above {number}\n  ",
            f"\n\n  // apart {number}\n\n  ",
            f" /// doc beside {number}\n",
            f"\n  /// doc above {number}\n  ",
        ]
    )
