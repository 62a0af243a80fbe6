"""Finds comments that were meant as a division: Saft reads `pages // per + 1` as `pages`.

A `//` after a value, with at most one blank before it, is taken for Python's division if the text
after it is an expression of numbers and known names.
"""

import re
from collections.abc import Iterable, Iterator

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.source import Source, Span
from saftc.syntax.tokens import CLOSER_OF, LAYOUT, Comment, Token

DIVISION_HINT = "`//` begins a comment; `div(a, b)` is integer division"

_ENDS_VALUE = {"NAME", "INTEGER", "FLOAT", "RPAR", "RSQB"}
# An operand: numbers, and names that may be called or indexed.
_VALUE = r"\s*(?:[-(]\s*)*(?:\d[\d_.]*|[A-Za-z_][\w.]*(?:\([^()]*\)|\[[^][]*\])*)[\s)]*"
_DIVISOR = re.compile(rf"=?{_VALUE}(?:(?:[-+*/%]|[<>=!]=|[<>]){_VALUE})*[:,]?")
_NAME = re.compile(r"[A-Za-z_]\w*")
# Lines that contain no division, as their statements only define names.
_NO_VALUES = {"FUNCTION", "CONV", "TYPE", "IMPORT", "FROM", "PATTERN_START"}
_WITH_VALUES = {"RET", "ASSERT", "IF", "ELIF", "WHILE", "FOR"}
_CLOSING = re.compile(r"[)\]}]")


def swallows(comments: Iterable[Comment], offset: int) -> bool:
    """True if a comment after `offset` closes a bracket that the comment does not open."""
    return any(
        comment.span.start > offset and comment.is_trailing and _closes_more(comment.text)
        for comment in comments
    )


def _closes_more(text: str) -> bool:
    depth = 0
    for character in text:
        if character in CLOSER_OF:
            depth += 1
        elif _CLOSING.match(character):
            depth -= 1
        if depth < 0:
            return True
    return False


def divisions(
    source: Source, tokens: list[Token], comments: Iterable[Comment]
) -> Iterator[Diagnostic]:
    """Yields the diagnostic for each comment that was meant as a division.

    The diagnostic is an error if the comment contains the `:` or `,` after the division. Otherwise
    it is a warning.
    """
    candidates = [one for one in comments if one.is_trailing and not one.is_doc]
    names = {token.text for token in tokens if token.kind == "NAME"} if candidates else set[str]()
    position = 0
    for comment in candidates:
        while position < len(tokens) and tokens[position].span.end <= comment.span.start:
            position += 1
        text = comment.text.removeprefix("//")
        if not _DIVISOR.fullmatch(text.rstrip()) or not names.issuperset(_NAME.findall(text)):
            continue
        line = _before(tokens, position, comment)
        is_augmented = text.startswith("=") and len(line) == 1
        if _is_behind_value(source, line, comment) and (is_augmented or _takes_value(line)):
            yield _warning(line, comment, text)


def _warning(line: list[Token], comment: Comment, text: str) -> Diagnostic:
    if text.startswith("="):
        # The parser would see only `n` in `n //= 2`, and report that later.
        name = line[0].text
        hint = f"`//` begins a comment; write `{name} = div({name}, {text[1:].strip()})`"
        return catalogue.UNUSED_VALUE.at(line[0].span, hint=hint)
    if text.endswith((":", ",")):
        return catalogue.UNEXPECTED.at(
            Span(comment.span.start, comment.span.start + 2),
            expected=f"`{text[-1]}`",
            found="a comment",
            hint=DIVISION_HINT,
        )
    return catalogue.DIVISION_COMMENT.at(
        Span(comment.span.start, comment.span.start + 2),
        hint="`div(a, b)` is integer division; write two blanks before a comment",
    )


def _before(tokens: list[Token], position: int, comment: Comment) -> list[Token]:
    """Returns the tokens of the logical line up to a comment."""
    end = position
    while end > 0 and tokens[end - 1].span.start >= comment.span.start:
        end -= 1
    start = end
    while start > 0 and tokens[start - 1].kind not in LAYOUT:
        start -= 1
    return tokens[start:end]


def _is_behind_value(source: Source, line: list[Token], comment: Comment) -> bool:
    if not line or line[-1].kind not in _ENDS_VALUE:
        return False
    if line[0].kind in _NO_VALUES and all(token.kind != "RET" for token in line):
        return False
    return source.text[line[-1].span.end : comment.span.start] in ("", " ")


def _takes_value(line: list[Token]) -> bool:
    """True if the value at the end of the line is assigned, returned, compared or in brackets."""
    depth = 0
    for token in line:
        depth += (token.text in CLOSER_OF) - (token.text in CLOSER_OF.values())
    return (
        depth > 0
        or line[0].kind in _WITH_VALUES
        or any(token.kind in ("ASSIGN", "RET") for token in line)
    )
