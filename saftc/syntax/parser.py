"""Tokens to an abstract syntax tree.

One top-level statement is parsed at a time. When a line of it cannot be read, the mistake is
reported, the line is replaced by one that can (a block keeps its block), and the statement is
parsed again: so every mistake of a file is found, and the rest of it still has a tree. What is put
in has the place of the line that it stands for, and nothing more is said about that line.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from lark import Lark, UnexpectedToken
from lark.lexer import Lexer
from platformdirs import user_cache_path

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.builder import Builder, Mistake
from saftc.syntax.comments import find_docs, texts_of
from saftc.syntax.lexer import lex
from saftc.syntax.tokens import DESCRIPTIONS, LAYOUT, Token, describe
from saftc.syntax.walk import depth_of

# What Python and black can take without running out of stack.
MOST_LEVELS = 200

# A line with fewer tokens than this cannot nest deeper than MOST_LEVELS.
_SHORT = MOST_LEVELS

# What stands at the beginning of a line in other languages, and what Saft has instead.
_FOREIGN = {
    "def": "a function begins with `f`",
    "function": "a function begins with `f`",
    "fn": "a function begins with `f`",
    "return": "write `ret`",
    "let": "an assignment needs no word before it",
    "var": "an assignment needs no word before it",
    "const": "an assignment needs no word before it",
    "class": "write `type Name(field: schema)`",
    "elseif": "write `elif`",
    "try": "a failed call to a model stops the script; there is no `try`",
    "lambda": "define a function with `f`",
}

# How the kinds of token that begin an expression are summed up, and so on: a set of expected
# kinds that contains the first of a row is described by its second.
_GROUPS = (
    ("COLON", "`:`"),
    ("NEWLINE", "the end of the line"),
    ("PROMPT_END", "`$`"),
    ("HOLE_END", "`}`"),
    ("RPAR", "`)`"),
    ("RSQB", "`]`"),
    ("RBRACE", "`}`"),
    ("NAME", "an expression"),
    ("ELSE", "`else`"),
)

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_OPENS_BLOCK = {"IF", "ELIF", "ELSE", "FOR", "WHILE", "FUNCTION", "CONV"}


class _Tokens(Lexer):
    """Lets lark read the tokens that our lexer made."""

    def __init__(self, _conf: object) -> None: ...

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Any]:
        return iter(lexer_state)


@cache
def _lark() -> Lark:
    # Building the tables takes longer than compiling most scripts: lark keeps them.
    folder = user_cache_path("saftc", appauthor=False, ensure_exists=True)
    return Lark(
        (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer=_Tokens,
        start="statement",
        maybe_placeholders=False,
        transformer=Builder(),
        cache=str(folder / "grammar"),
    )


def _parsed(tokens: list[Token]) -> n.Statement:
    lark: Any = _lark()
    return lark.parse(tokens)


def parse(source: Source, found: Collector) -> n.Module:
    """The tree of `source`; mistakes go to `found`."""
    misread = Collector()
    lexed = lex(source, misread)
    guessed: set[str] = set()
    told: set[int] = set()
    statements: list[n.Statement] = []
    wrong = [diagnostic.span.start for diagnostic in misread.all()]
    for diagnostic in misread.all():
        found.add(diagnostic)
    for tokens in _top_level_statements(_without_stray_indents(lexed.tokens, found, source, wrong)):
        tokens = _without_misread_lines(tokens, wrong, guessed, told)
        statements += _parse_statements(tokens, found, guessed, told)
    comments = tuple(lexed.comments)
    documenting = find_docs(source, statements, comments)
    texts = texts_of(documenting)
    return n.Module(
        Span(0, len(source.text)),
        tuple(statements),
        comments,
        {node: text for node, text in texts.items() if node is not None},
        texts.get(None, ""),
        documenting,
        frozenset(guessed),
    )


def _without_misread_lines(
    tokens: list[Token], wrong: list[int], guessed: set[str], told: set[int]
) -> list[Token]:
    """The tokens less the lines that hold a mistake of the lexer: what they mean is a guess."""
    first = bisect_left(wrong, tokens[0].span.start)
    last = bisect_left(wrong, tokens[-1].span.end)
    for offset in wrong[first:last]:
        line = _line_at(tokens, offset)
        guessed.update(_names(tokens[line]))
        told.add(_first_word(tokens[line]).start)
        replaced = _without_line(tokens, line)
        if replaced is None:
            return []
        tokens = replaced
    return tokens


def _without_stray_indents(
    tokens: list[Token], found: Collector, source: Source, wrong: list[int]
) -> list[Token]:
    """The tokens less each INDENT that no line opened, and the DEDENT that ends it."""
    wrong_lines = {source.line_of(offset) for offset in wrong}
    kept: list[Token] = []
    strays: list[bool] = []
    for position, token in enumerate(tokens):
        if token.kind == "INDENT":
            opener = _line_above(tokens, position)
            is_stray = not opener or (
                opener[0].kind not in _OPENS_BLOCK and opener[-1].kind != "COLON"
            )
            strays.append(is_stray)
            if is_stray and source.line_of(token.span.start) in wrong_lines:
                continue
            if is_stray:
                found.add(
                    catalogue.UNEXPECTED_INDENT.at(
                        tokens[position + 1].span,
                        hint="only a line that ends with `:` opens a block",
                    )
                )
                continue
        if token.kind == "DEDENT" and strays.pop():
            continue
        kept.append(token)
    return kept


def _line_above(tokens: list[Token], indent: int) -> list[Token]:
    """The last line that has tokens before the INDENT at a position."""
    start = indent
    while start > 0 and tokens[start - 1].kind in LAYOUT:
        start -= 1
    while start > 0 and tokens[start - 1].kind not in LAYOUT:
        start -= 1
    return tokens[start : max(indent - 1, 0)]


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
        if following == "INDENT" or (following in ("ELIF", "ELSE") and tokens[start].kind == "IF"):
            continue
        yield tokens[start : position + 1]
        start = position + 1
    if start < len(tokens):
        yield tokens[start:]


def _parse_statements(
    tokens: list[Token], found: Collector, guessed: set[str], told: set[int]
) -> list[n.Statement]:
    """What the tokens of a top-level statement become: one, or its parts when it is misread.

    `told` are the places of the lines that hold a mistake that has been reported.
    """
    statements: list[n.Statement] = []
    pending = [tokens] if tokens else []
    while pending and not found.is_full:
        tokens = pending.pop()
        is_orphan = False
        try:
            statement = _parsed(tokens)
        except Mistake as mistake:
            diagnostic = mistake.diagnostic
            broken = _line_at(tokens, diagnostic.span.start)
        except UnexpectedToken as error:
            diagnostic = _explain(error, tokens)
            broken = _line_at(tokens, diagnostic.span.start)
            # An `elif` or `else` without its `if`.
            bad: Any = error.token
            is_orphan = bad.type in ("ELIF", "ELSE") and bad is tokens[broken.start]
        else:
            if _is_shallow(statement, tokens, found):
                statements.append(statement)
            continue
        start = _first_word(tokens[broken]).start
        if start not in told and all(token.kind != "UNCLOSED" for token in tokens[broken]):
            found.add(diagnostic)
        told.add(start)
        guessed.update(_names(tokens[broken]))
        replaced = _without_line(tokens, broken, is_orphan=is_orphan)
        if replaced is None or _said(replaced) == _said(tokens):
            guessed.update(_names(tokens))
        else:
            pending += reversed(list(_top_level_statements(replaced)))
    return statements


def _is_shallow(statement: n.Statement, tokens: list[Token], found: Collector) -> bool:
    if len(tokens) < _SHORT:
        return True
    deepest, levels = depth_of(statement)
    if levels <= MOST_LEVELS:
        return True
    found.add(
        catalogue.TOO_DEEP.at(
            deepest.span,
            what="an expression",
            limit=MOST_LEVELS,
            hint="give parts of it names of their own",
        )
    )
    return False


# Reading on after a mistake


def _line_at(tokens: list[Token], offset: int) -> slice:
    """The tokens of the logical line that holds `offset`, its NEWLINE included."""
    start = 0
    for position, token in enumerate(tokens):
        if token.kind == "NEWLINE":
            if token.span.start >= offset and position >= start:
                return slice(start, position + 1)
            start = position + 1
        elif token.kind in ("INDENT", "DEDENT") and position == start:
            start = position + 1
    return slice(start, len(tokens))


def _names(line: list[Token]) -> Iterator[str]:
    """The names on a line that could not be read: it may define them."""
    for token in line:
        if token.kind == "NAME":
            yield token.text
        elif token.kind == "UNCLOSED":
            yield from _WORD.findall(token.text)


def _said(tokens: list[Token]) -> list[tuple[str, str]]:
    """The tokens without their places."""
    return [(token.kind, token.text) for token in tokens]


def _without_line(
    tokens: list[Token], line: slice, *, is_orphan: bool = False
) -> list[Token] | None:
    """`tokens` with one line replaced by a line that means nothing; None when nothing is left."""
    removed = tokens[line]
    following = tokens[line.stop : line.stop + 1]
    has_block = bool(following) and following[0].kind == "INDENT"
    if not removed or (not has_block and line.start == 0 and line.stop == len(tokens)):
        return None
    first = removed[0]
    opener = None if is_orphan else _LIKE.get(first.kind) or _LIKE.get(first.text)
    if has_block:
        words = _OPENERS[opener or "if"]
    elif opener is not None:
        # What follows may be an `else` of it.
        words = (*_OPENERS[opener], *_EMPTY_BLOCK)
    else:
        words = _NOTHING
    end = removed[-1].span
    place = Span(first.span.start, end.start)
    replacement = [
        Token(kind, text or f"<{first.span.start}>", end if kind == "NEWLINE" else place)
        for kind, text in words
    ]
    return [*tokens[: line.start], *replacement, *tokens[line.stop :]]


# What stands for the first line of a block that could not be read.
_LIKE = {
    "FUNCTION": "function",
    "CONV": "function",
    "def": "function",
    "fn": "function",
    "function": "function",
    "FOR": "while",
    "WHILE": "while",
    "IF": "if",
    "ELIF": "elif",
    "ELSE": "else",
}

# Lines that say nothing. A text that is empty becomes one of the line's own, which no name is.
_NOTHING = (("NIL", "nil"), ("NEWLINE", "\n"))
_EMPTY_BLOCK = (("INDENT", " "), *_NOTHING, ("DEDENT", " "))
_COLON = (("COLON", ":"), ("NEWLINE", "\n"))
_OPENERS = {
    "function": (("FUNCTION", "f"), ("NAME", ""), ("LPAR", "("), ("RPAR", ")"), *_COLON),
    "while": (("WHILE", "while"), ("TRUE", "true"), *_COLON),
    "if": (("IF", "if"), ("TRUE", "true"), *_COLON),
    "elif": (("ELIF", "elif"), ("TRUE", "true"), *_COLON),
    "else": (("ELSE", "else"), *_COLON),
}


# What to say


def _explain(error: UnexpectedToken, tokens: list[Token]) -> Diagnostic:
    bad: Token = cast("Any", error).token
    expected = set(error.expected)
    if bad.type == "$END":
        # The statement was cut where the next one begins, so what is missing is its block.
        bad = tokens[-1]
        expected = {"INDENT"}
    position = next((i for i, token in enumerate(tokens) if token is bad), 0)
    previous = tokens[position - 1] if position else None
    if "INDENT" in expected and bad.kind != "INDENT":
        last = previous if previous is not None else bad
        opener = tokens[_line_at(tokens, last.span.start)]
        return catalogue.MISSING_BLOCK.at(
            _first_word(opener), hint="indent what belongs to it; `nil` does nothing"
        )
    hint = _hint(bad, previous, tokens, position, expected)
    return catalogue.UNEXPECTED.at(
        _visible(bad, previous),
        expected=_summary(expected, tokens, position),
        found=describe(bad),
        hint=hint,
    )


def _summary(expected: set[str], tokens: list[Token], position: int) -> str:
    if position and tokens[position - 1].kind == "DOT":
        return "a name"
    goes_on = bool(expected & {"NEWLINE", "RPAR", "RSQB", "RBRACE", "HOLE_END"})
    if goes_on and "INTEGER" not in expected:
        line = tokens[_line_at(tokens, tokens[position].span.start)]
        opened = _innermost_open(tokens[:position])
        if opened is not None:
            return _CLOSINGS[tokens[opened].kind]
        if line and line[0].kind in _OPENS_BLOCK and "COLON" in expected:
            return "`:`"
        if "NEWLINE" in expected:
            return "the end of the line"
    if "NAME" in expected and "INTEGER" not in expected and len(expected) < 6:
        return "a name"
    if "IN" in expected and not expected & {"NAME", "EQUAL"}:
        return "`in`"
    if len(expected) == 1:
        (only,) = expected
        return DESCRIPTIONS.get(only, only)
    return next((words for kind, words in _GROUPS if kind in expected), "something else")


_CLOSINGS = {
    "LPAR": "`,` or `)`",
    "LSQB": "`,` or `]`",
    "LBRACE": "`,` or `}`",
    "PATTERN_START": "`,` or `}`",
    "HOLE_START": "`}`",
}
_CLOSED_BY = {"RPAR", "RSQB", "RBRACE", "HOLE_END"}


def _innermost_open(tokens: list[Token]) -> int | None:
    """Where the bracket stands that is open at the end of `tokens`; None when there is none."""
    depth = 0
    for position in reversed(range(len(tokens))):
        kind = tokens[position].kind
        if kind in LAYOUT:
            return None
        if kind in _CLOSED_BY:
            depth += 1
        elif kind in _CLOSINGS:
            if not depth:
                return position
            depth -= 1
    return None


def _hint(
    bad: Token, previous: Token | None, tokens: list[Token], position: int, expected: set[str]
) -> str | None:
    line = tokens[_line_at(tokens, bad.span.start)]
    first = line[0] if line else bad
    if first.kind == "NAME" and first.text in _FOREIGN and len(line) > 1 and bad is line[1]:
        return _FOREIGN[first.text]
    if bad.kind == "ASSIGN" and previous is first and first.kind != "NAME":
        return f"`{first.text}` is a keyword; choose another name"
    if bad.kind == "ASSIGN" and first.kind in ("IF", "ELIF", "WHILE", "ASSERT"):
        return "`==` compares"
    if bad.kind == "IF" and previous is not None and previous.kind == "ELSE":
        return "write `elif`"
    if bad.kind in ("ELSE", "ELIF") and bad is first:
        return "it has no `if` before it at this indentation"
    opened = _innermost_open(tokens[:position])
    if opened is not None and tokens[opened].kind == "LBRACE":
        opened -= 1
        if first.kind == "PATTERN_START" and "COLON" in expected:
            field = tokens[opened - 1]
            return f"patterns do not nest: write `{field.text}: {{name: type}}` and read its fields"
    if opened is not None and tokens[opened].kind == "HOLE_START":
        return r"write `\{` for a brace in the text"
    if previous is not None and previous.kind == bad.kind == "STAR":
        return "there is no power operator; multiply, or write a function"
    if previous is not None and previous.kind == bad.kind == "EQUAL":
        return "`==` compares"
    if bad.kind == "PROMPT_START" and previous is not None and previous.kind == "PROMPT_END":
        return r"a prompt ends at the next `$`; `\$` is a dollar sign in its text"
    if bad.kind == "PROMPT_START" and previous is not None and previous.kind == "NAME":
        return "only `do` and `program` stand before a prompt"
    return None


def _visible(bad: Token, previous: Token | None) -> Span:
    """The place to underline: the token, or for one without text what stands before it."""
    span = bad.span
    if bad.kind in ("NEWLINE", "DEDENT") and previous is not None:
        end = previous.span.end
        return Span(end, end)
    return span


def _first_word(tokens: list[Token]) -> Span:
    for candidate in tokens:
        if candidate.kind not in LAYOUT:
            return candidate.span
    return tokens[0].span if tokens else Span(0, 0)
