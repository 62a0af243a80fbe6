"""Recovers from syntax errors: replaces each line that cannot be parsed by a placeholder.

If the line has a block, the placeholder keeps the block. The tokens of the placeholder have
the span of the old line.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.source import Source, Span
from saftc.syntax.mistakes.habits import FOREIGN_BLOCKS, SPELLINGS
from saftc.syntax.tokens import LAYOUT, OPENS_BLOCK, Token, first_word, line_at

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

# The kind of line that replaces the invalid first line of a block.
_LIKE = {
    "CONV": "function",
    "FOR": "while",
    "WHILE": "while",
    "IF": "if",
    "ELIF": "elif",
    "ELSE": "else",
    "TRY": "if",
    "EXCEPT": "except",
}

# Tokens of placeholders. An empty text is replaced by a text that is no name, unique for the line.
_NOTHING = (("NIL", "nil"), ("NEWLINE", "\n"))
_EMPTY_BLOCK = (("INDENT", " "), *_NOTHING, ("DEDENT", " "))
_COLON = (("COLON", ":"), ("NEWLINE", "\n"))
_OPENERS = {
    "function": (("FUNCTION", "f"), ("NAME", ""), ("LPAR", "("), ("RPAR", ")"), *_COLON),
    "while": (("WHILE", "while"), ("TRUE", "true"), *_COLON),
    "if": (("IF", "if"), ("TRUE", "true"), *_COLON),
    "elif": (("ELIF", "elif"), ("TRUE", "true"), *_COLON),
    "else": (("ELSE", "else"), *_COLON),
    "except": (("EXCEPT", "except"), *_COLON),
}


def without_misread_lines(
    tokens: list[Token], wrong: list[int], guessed: set[str], told: set[int]
) -> list[Token]:
    """Returns the tokens, with placeholders for the lines in which the lexer found a mistake.

    Adds the names on these lines to `guessed`, and the offsets of the lines to `told`.
    """
    first = bisect_left(wrong, tokens[0].span.start)
    last = bisect_left(wrong, tokens[-1].span.end)
    for offset in wrong[first:last]:
        line = line_at(tokens, offset)
        guessed.update(names_on(tokens[line]))
        told.add(first_word(tokens[line]).start)
        replaced = without_line(tokens, line)
        if replaced is None:
            return []
        tokens = replaced
    return tokens


def without_stray_indents(
    tokens: list[Token], mistakes: Collector, source: Source, wrong: list[int]
) -> list[Token]:
    """Returns the tokens without each INDENT below a line that opens no block, and its DEDENT.

    Reports each of these indentations, unless the lexer found a mistake on the same line.
    """
    wrong_lines = {source.line_of(offset) for offset in wrong}
    dropped: set[int] = set()
    strays: list[bool] = []
    for position, token in enumerate(tokens):
        if token.kind == "INDENT":
            opener = _line_above(tokens, position)
            is_stray = not opener or (
                opener[0].kind not in OPENS_BLOCK and opener[-1].kind != "COLON"
            )
            strays.append(is_stray)
            if is_stray:
                dropped.add(position)
            if is_stray and source.line_of(token.span.start) not in wrong_lines:
                mistakes.add(
                    catalogue.UNEXPECTED_INDENT.at(
                        tokens[position + 1].span,
                        hint="only a line that ends with `:` opens a block",
                    )
                )
        elif token.kind == "DEDENT" and strays.pop():
            dropped.add(position)
    if not dropped:
        return tokens
    return [token for position, token in enumerate(tokens) if position not in dropped]


def _line_above(tokens: list[Token], indent: int) -> list[Token]:
    """Returns the tokens of the last line before the INDENT at a position."""
    start = indent
    while start > 0 and tokens[start - 1].kind in LAYOUT:
        start -= 1
    while start > 0 and tokens[start - 1].kind not in LAYOUT:
        start -= 1
    return tokens[start : max(indent - 1, 0)]


def names_on(line: list[Token]) -> Iterator[str]:
    """Yields the names on a line that could not be parsed, as the line may define them."""
    for token in line:
        if token.kind == "NAME":
            yield token.text
        elif token.kind == "UNCLOSED":
            yield from _WORD.findall(token.text)


def with_foreign_block(tokens: list[Token], line: slice) -> slice:
    """Returns the slice of a line, together with its block if the block has no meaning in Saft.

    The body of a class has no meaning in Saft, for example.
    """
    start: int = line.start
    stop: int = line.stop
    first = tokens[start]
    has_block = stop < len(tokens) and tokens[stop].kind == "INDENT"
    if not has_block or (first.kind != "TYPE" and first.text not in FOREIGN_BLOCKS):
        return line
    depth = 0
    for position in range(stop, len(tokens)):
        depth += (tokens[position].kind == "INDENT") - (tokens[position].kind == "DEDENT")
        if not depth:
            return slice(start, position + 1)
    return slice(start, len(tokens))


def _opener_like(line: list[Token]) -> str | None:
    """Returns the kind of line that replaces the invalid first line of a block.

    `def g(x):`, `export f g(x):` and `f (x):` begin functions.
    """
    if any(SPELLINGS.get(token.text, token.text) == "f" for token in line[:2]):
        return "function"
    return _LIKE.get(line[0].kind)


def without_line(
    tokens: list[Token], line: slice, *, is_orphan: bool = False
) -> list[Token] | None:
    """Returns `tokens` with one line replaced by a placeholder.

    Returns None if no tokens are left.
    """
    removed = tokens[line]
    following = tokens[line.stop : line.stop + 1]
    has_block = bool(following) and following[0].kind == "INDENT"
    if not removed or (not has_block and line.start == 0 and line.stop == len(tokens)):
        return None
    first = removed[0]
    opener = None if is_orphan else _opener_like(removed)
    if has_block:
        words = _OPENERS[opener or "if"]
    elif opener is not None:
        # An `else` of this line may follow.
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
