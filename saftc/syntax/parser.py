"""Parses tokens to an abstract syntax tree.

The parser reads one top-level statement at a time. If it cannot parse a line, it reports the
mistake, replaces the line by a valid one (see `mistakes.recovery`), and parses the statement again.
So it finds every mistake of a file, and the rest of the file still has a tree. It reports one
mistake per line.
"""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lark import UnexpectedToken

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.builder import Mistake
from saftc.syntax.comments import find_docs, needless_docs, texts_of
from saftc.syntax.depth import MOST_LEVELS, depth_of
from saftc.syntax.grammar import parse_statement
from saftc.syntax.lexer import Lexed, lex
from saftc.syntax.mistakes.divisions import divisions
from saftc.syntax.mistakes.explaining import explain
from saftc.syntax.mistakes.habits import GOES_ON
from saftc.syntax.mistakes.recovery import (
    names_on,
    with_foreign_block,
    without_line,
    without_misread_lines,
    without_stray_indents,
)
from saftc.syntax.tokens import LAYOUT, Token, first_word, line_at

# A statement with fewer tokens than this cannot nest deeper than MOST_LEVELS.
_SHORT = MOST_LEVELS


# The words that continue a statement, by the word that begins the statement. `else` after a `try`
# is a mistake inside the statement.
_GO_ON = {"IF": ("ELIF", "ELSE"), "TRY": ("EXCEPT", "ELSE")}
_GOING_ON = ("ELIF", "ELSE", "EXCEPT")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a script, and its tokens."""

    module: n.Module
    lexed: Lexed


def parse(source: Source, mistakes: Collector) -> n.Module:
    """Returns the tree of `source`. Adds its syntax errors to `mistakes`."""
    return parse_with_tokens(source, mistakes).module


def parse_with_tokens(source: Source, mistakes: Collector) -> Parsed:
    """Returns the tree of `source` and its tokens. Adds its syntax errors to `mistakes`."""
    misread = Collector()
    lexed = lex(source, misread)
    guessed: set[str] = set()
    told: set[int] = set()
    statements: list[n.Statement] = []
    begun: set[str] = set()
    wrong = [diagnostic.span.start for diagnostic in misread.all()]
    for diagnostic in misread.all():
        mistakes.add(diagnostic)
    for division in divisions(source, lexed.tokens, lexed.comments):
        mistakes.add(division)
        if division.severity == "error":
            insort(wrong, division.span.start)
    kept = without_stray_indents(lexed.tokens, mistakes, source, wrong)
    for tokens in _top_level_statements(kept):
        readable = without_misread_lines(tokens, wrong, guessed, told)
        statements += _parse_statements(readable, mistakes, guessed, told, begun)
    comments = tuple(lexed.comments)
    documenting = find_docs(source, statements, comments)
    # The target of a doc comment may be on a line that could not be parsed.
    if not mistakes.has_errors:
        for warning in needless_docs(source, comments, documenting):
            mistakes.add(warning)
    texts = texts_of(documenting)
    module = n.Module(
        Span(0, len(source.text)),
        tuple(statements),
        comments,
        {node: text for node, text in texts.items() if node is not None},
        texts.get(None, ""),
        documenting,
        frozenset(guessed),
    )
    return Parsed(module, lexed)


def _top_level_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    depth = start = 0
    for position, token in enumerate(tokens):
        if token.kind not in LAYOUT:
            continue
        if token.kind == "INDENT":
            depth += 1
        elif token.kind == "DEDENT":
            depth -= 1
        if depth or token.kind == "INDENT":
            continue
        following = tokens[position + 1].kind if position + 1 < len(tokens) else ""
        if following == "INDENT" or following in _GO_ON.get(tokens[start].kind, ()):
            continue
        yield tokens[start : position + 1]
        start = position + 1
    if start < len(tokens):
        yield tokens[start:]


def _parse_statements(
    tokens: list[Token],
    mistakes: Collector,
    guessed: set[str],
    told: set[int],
    begun: set[str],
) -> list[n.Statement]:
    """Returns the statements in the tokens of a top-level statement.

    If the statement is invalid, returns those of its parts that could be parsed. `told` has the
    offsets of the lines with a reported mistake. `begun` has the first words of these lines.
    """
    statements: list[n.Statement] = []
    pending = [tokens] if tokens else []
    while pending and not mistakes.is_full:
        tokens = pending.pop()
        is_orphan = False
        try:
            statement = parse_statement(tokens)
        except Mistake as mistake:
            diagnostic = mistake.diagnostic
            broken = line_at(tokens, diagnostic.span.start)
        except UnexpectedToken as error:
            bad: Any = error.token
            diagnostic = explain(bad, set(error.expected), tokens)
            broken = line_at(tokens, diagnostic.span.start)
            # An `elif` or `else` without its `if`, an `except` without its `try`.
            is_orphan = bad.type in _GOING_ON and bad is tokens[broken.start]
        else:
            if _is_shallow(statement, tokens, mistakes):
                statements.append(statement)
            continue
        broken = with_foreign_block(tokens, broken)
        start = first_word(tokens[broken]).start
        first = tokens[broken][0].text
        is_missing = tokens[broken][0].kind != "EXCEPT" or is_orphan
        is_new = start not in told and not (is_missing and GOES_ON.get(first) in begun)
        if is_new and all(token.kind != "UNCLOSED" for token in tokens[broken]):
            mistakes.add(diagnostic)
        told.add(start)
        begun.add(first)
        guessed.update(names_on(tokens[broken]))
        replaced = without_line(tokens, broken, is_orphan=is_orphan)
        if replaced is None or _said(replaced) == _said(tokens):
            guessed.update(names_on(tokens))
        else:
            pending += reversed(list(_top_level_statements(replaced)))
    return statements


def _said(tokens: list[Token]) -> list[tuple[str, str]]:
    """Returns the kinds and texts of the tokens, without their spans."""
    return [(token.kind, token.text) for token in tokens]


def _is_shallow(statement: n.Statement, tokens: list[Token], mistakes: Collector) -> bool:
    if len(tokens) < _SHORT:
        return True
    deepest, levels = depth_of(statement)
    if levels <= MOST_LEVELS:
        return True
    mistakes.add(
        catalogue.TOO_DEEP.at(
            deepest.span,
            what="an expression",
            limit=MOST_LEVELS,
            hint="bind parts of it to names",
        )
    )
    return False
