"""What an offset of a script is in: its open brackets, prompts and texts, and the words before.

A line that is being written cannot be parsed, so this reads the tokens alone, from the beginning of
the statement that the offset is in.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from saftc.syntax import nodes as n
from saftc.syntax.lexer import lex_beginning
from saftc.syntax.tokens import LAYOUT, Token

_OPENING = {"LPAR", "LSQB", "LBRACE", "PATTERN_START", "PROMPT_START", "FORMAT_START"}
_HOLES = {"HOLE_START", "FORMAT_HOLE_START"}
_CLOSING = {"RPAR", "RSQB", "RBRACE", "PROMPT_END", "FORMAT_END", "HOLE_END", "FORMAT_HOLE_END"}
_WORDS = {"PROMPT_TEXT", "FORMAT_TEXT"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, a number, a text or a character, and where it begins."""

    text: str
    offset: int


@dataclass(slots=True)
class Open:
    """A bracket or a prompt that is open, and what is in it so far, without what is closed."""

    what: str
    offset: int
    # What is before it, and what is in it.
    before: list[Piece]
    inside: list[Piece]


@dataclass(frozen=True, slots=True)
class Context:
    """What is around an offset.

    `open` are the brackets and prompts around it, the outermost first; the first of them is the
    line itself. `is_text`: it is in a text, a comment or the words of a prompt.
    """

    open: list[Open]
    is_text: bool

    @property
    def inner(self) -> Open:
        """The innermost of what is open."""
        return self.open[-1]

    @property
    def before(self) -> list[Piece]:
        """What is before the offset in the innermost of what is open, and on its line."""
        return self.inner.inside

    @property
    def call(self) -> Open | None:
        """The innermost parentheses of a call that are open."""
        for one in reversed(self.open):
            if one.what == "$":
                return None
            if one.what == "(" and one.before and one.before[-1].text[-1:].isidentifier():
                return one
        return None


def context_at(module: n.Module, text: str, offset: int) -> Context:
    """The context of an offset in the text of a script."""
    begun = (one.span.start for one in module.statements if one.span.start <= offset)
    start = text.rfind("\n", 0, max(begun, default=0)) + 1
    tokens, is_text = lex_beginning(text[start:offset])
    stack = [Open("", start, [], [])]
    for _ in _taken(stack, tokens, text, start):
        pass
    return Context(stack, is_text)


def whole(text: str, bracket: Open) -> tuple[list[Piece], int] | None:
    """All that is in a bracket, without what is closed in it, and where it ends; None when it
    is open to the end of the text."""
    stack = [Open("", bracket.offset, [], [])]
    tokens, _ = lex_beginning(text[bracket.offset :])
    inside = list[Piece]()
    for token in _taken(stack, tokens, text, bracket.offset):
        if len(stack) == 1:
            return inside, bracket.offset + token.span.start
        inside = stack[1].inside
    return None


def _taken(stack: list[Open], tokens: list[Token], text: str, start: int) -> Iterator[Token]:
    """Takes the tokens of a text that begins at `start` into the stack, and gives each then."""
    for token in tokens:
        inner, offset = stack[-1], start + token.span.start
        if token.kind in LAYOUT:
            inner.inside.clear()
        elif token.kind in _OPENING:
            stack.append(Open(token.text, offset, list(inner.inside), []))
        elif token.kind in _HOLES:
            stack.append(Open("hole", offset, [], []))
        elif token.kind not in _WORDS:
            if token.kind in _CLOSING and len(stack) > 1:
                stack.pop()
            stack[-1].inside.append(Piece(text[offset : start + token.span.end], offset))
        yield token
