"""The Pygments lexer of Saft.

    x: int = $ add {a} to {b:raw} $  // note

This line has the tokens Name, Punctuation, Keyword.Type, Operator, then String.Delimiter for each
`$`, String.Other for the text, String.Interpol for the braces, Name in the holes, Keyword.Pseudo
for `raw`, and a comment. saftc's own lexer finds the tokens, and the kinds of names come from its
syntax tree. Text with a syntax error is an Error token.
"""

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.depth import fitting_interpreter
from saftc.syntax.lexer import SHEBANG
from saftc.syntax.parser import Parsed, parse_with_tokens
from saftc.syntax.tokens import HOLE_FORMATS, KEYWORDS, LAYOUT, SOFT_KEYWORDS, Token
from saftc.syntax.walk import walk
from saftc.types.builtins import BUILTINS
from saftc.types.types import BUILT_IN, DATES

__all__ = ["SaftLexer"]

_KINDS: dict[str, Any] = {
    **dict.fromkeys(KEYWORDS.values(), Keyword),
    **dict.fromkeys(SOFT_KEYWORDS.values(), Keyword),
    **dict.fromkeys(("AND", "IN", "NOT", "OR"), Operator.Word),
    **dict.fromkeys(("FALSE", "NIL", "TRUE"), Keyword.Constant),
    **dict.fromkeys(("FUNCTION", "CONV", "TYPE"), Keyword.Declaration),
    **dict.fromkeys(("FROM", "IMPORT", "AS"), Keyword.Namespace),
    **dict.fromkeys(("PROMPT_START", "PROMPT_END"), String.Delimiter),
    **dict.fromkeys(("HOLE_START", "HOLE_END"), String.Interpol),
    **dict.fromkeys(("FORMAT_HOLE_START", "FORMAT_HOLE_END", "FORMAT_SPEC"), String.Interpol),
    **dict.fromkeys(("STRING", "FORMAT_START", "FORMAT_TEXT", "FORMAT_END"), String.Double),
    **dict.fromkeys(
        ("COMMA", "COLON", "DOT", "LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE"), Punctuation
    ),
    "PATTERN_START": Punctuation,
    "PROMPT_TEXT": String.Other,
    "INTEGER": Number.Integer,
    "FLOAT": Number.Float,
    "NAME": Name,
}
_WRONG = (catalogue.INVALID_ESCAPE.number, catalogue.INVALID_NUMBER.number)
_ESCAPE = re.compile(r'\\(?:[ntr"\\]|u[0-9a-fA-F]{4})|\{\{|\}\}')
_PROMPT_ESCAPE = re.compile(r"\\[${}\\]")
# Splits the text between the lexer's tokens into pieces.
_PIECE = re.compile(r"\s+|\w+|.")

_Coloured = tuple[Span, Any]


class SaftLexer(Lexer):
    """Saft, a small language in which a prompt is an expression."""

    name = "Saft"
    aliases = ("saft",)
    filenames = ("*.saft",)
    mimetypes = ("text/x-saft",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """The tokens of a text. Together, they cover the whole text."""
        with fitting_interpreter():
            parsed = parse_with_tokens(Source.from_text("", text), Collector(None))
        end = 0
        for span, kind in sorted(_coloured(text, parsed)):
            if span.start >= end:
                yield from _between(text, end, span.start)
                yield span.start, kind, text[span.start : span.end]
                end = span.end
        yield from _between(text, end, len(text))


def _coloured(text: str, parsed: Parsed) -> Iterator[_Coloured]:
    shebang, lexed = SHEBANG.match(text), parsed.lexed
    if shebang is not None:
        yield Span(0, len(shebang.group().rstrip("\n"))), Comment.Hashbang
    for comment in lexed.comments:
        yield comment.span, String.Doc if comment.is_doc else Comment.Single
    wrong = {one.span for one in lexed.mistakes if one.code in _WRONG}
    names = dict(_names(parsed.module))
    tokens = [one for one in lexed.tokens if one.kind not in (*LAYOUT, "UNCLOSED")]
    for position, token in enumerate(tokens):
        kind = _KINDS.get(token.kind, Operator)
        if token.span in wrong:
            kind = Error
        elif token.kind == "NAME":
            plain = Name.Builtin if token.text in BUILTINS else Name
            kind = Keyword.Pseudo if _is_format(tokens, position) else names.get(token.span, plain)
        if kind in String and kind is not String.Delimiter:
            yield from _escapes(text, token, kind, wrong)
        else:
            yield token.span, kind


def _is_format(tokens: list[Token], position: int) -> bool:
    """Whether a token is a format such as `raw`, which follows the colon in a hole of a prompt."""
    around = [one.kind for one in tokens[position - 1 : position + 2 : 2]]
    return tokens[position].text in HOLE_FORMATS and around == ["COLON", "HOLE_END"]


def _escapes(text: str, token: Token, kind: Any, wrong: set[Span]) -> Iterator[_Coloured]:
    """Splits a text token into its escapes and the text between them."""
    start, end = token.span
    pattern = _PROMPT_ESCAPE if kind is String.Other else _ESCAPE
    found = [(Span(*one.span()), String.Escape) for one in pattern.finditer(text, start, end)]
    if token.kind == "STRING":
        found = [one for one in found if text[one[0].start] == "\\"]
    found += [(one, Error) for one in wrong if start <= one.start and one.end <= end]
    for span, inner in sorted(found):
        if start < span.start:
            yield Span(start, span.start), kind
        yield span, inner
        start = span.end
    if start < end:
        yield Span(start, end), kind


def _names(module: n.Module) -> Iterator[_Coloured]:
    """Yields the names in a script, with their kinds.

    A name is left out if its kind cannot be seen in the syntax tree.
    """
    for node in walk(module):
        match node:
            case n.FunctionDef(name=name):
                yield name.span, Name.Function
            case n.RecordDef(name=name) | n.TypeAlias(name=name):
                yield name.span, Name.Class
            case n.NamedSchema(span, text):
                *around, last = _parts(span, text)
                yield from ((one, Name.Namespace) for one in around)
                yield last, Keyword.Type if text in {*BUILT_IN, *DATES} else Name.Class
            case n.Field(key=name) | n.Member(name=name) | n.Argument(name=n.Identifier() as name):
                yield name.span, Name.Attribute
            case n.SchemaField(name=name):
                yield name.span, Name.Attribute
            case n.ImportStmt(module=name) | n.FromImport(module=name):
                yield from ((one, Name.Namespace) for one in _parts(name.span, name.text))
                if isinstance(node, n.ImportStmt) and node.alias is not None:
                    yield node.alias.span, Name.Namespace
            case n.Parameter(name=name) | n.PatternField(name=name):
                yield name.span, Name
            case _:
                pass


def _parts(span: Span, text: str) -> Iterator[Span]:
    """The spans of the names in a dotted name such as `shop.Order`."""
    start = span.start
    for part in text.split("."):
        yield Span(start, start + len(part))
        start += len(part) + 1


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, Any, str]]:
    for match in _PIECE.finditer(text, start, end):
        piece = match.group()
        kind = Whitespace if piece.isspace() else Name if piece[0].isidentifier() else Error
        yield match.start(), kind, piece
