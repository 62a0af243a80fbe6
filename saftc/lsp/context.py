"""What an offset of a script stands in: its open brackets, prompts and texts, and the words before.

A line that is being written cannot be parsed, so this reads the characters alone, from the
beginning of the statement that the offset stands in.
"""

import re
from dataclasses import dataclass

from saftc.syntax import nodes as n

_PIECE = re.compile(
    r'(?P<comment>//[^\n]*)|f?"""(?P<block>(?:[^"\\]|\\.|"(?!""))*)(?P<endblock>""")?'
    r'|(?P<format>f?)"(?P<line>(?:[^"\\\n]|\\.)*)(?P<endline>")?'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<newline>\n)|(?P<blank>[ \t]+)"
    r"|(?P<arrow>->)|(?P<other>.)",
    re.DOTALL,
)
_TEXT = re.compile(r"(?:[^\\${}]|\\.)+", re.DOTALL)
_CLOSERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, a number, a text or a character, and where it begins."""

    text: str
    offset: int


@dataclass(slots=True)
class Open:
    """A bracket or a prompt that is open, and what stands in it so far, without what is closed."""

    what: str
    offset: int
    # What stands before it, and what stands in it.
    before: list[Piece]
    inside: list[Piece]


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around an offset.

    `open` are the brackets and prompts around it, the outermost first; the first of them is the
    line itself. `is_text`: it stands in a text, a comment or the words of a prompt.
    """

    open: list[Open]
    is_text: bool

    @property
    def inner(self) -> Open:
        """The innermost of what is open."""
        return self.open[-1]

    @property
    def before(self) -> list[Piece]:
        """What stands before the offset in the innermost of what is open, and on its line."""
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
    start = 0
    for statement in module.statements:
        if statement.span.start > offset:
            break
        start = statement.span.start
    position = text.rfind("\n", 0, start) + 1
    stack = [Open("", position, [], [])]
    while position < offset:
        position, is_text = _step(stack, text, position, offset)
        if is_text:
            return Context(stack, is_text=True)
    return Context(stack, is_text=stack[-1].what == "$")


def whole(text: str, bracket: Open) -> tuple[list[Piece], int] | None:
    """All that stands in a bracket, without what is closed in it, and where it ends; None when it
    is open to the end of the text."""
    stack = [Open("", bracket.offset, [], [])]
    position, _ = _step(stack, text, bracket.offset, len(text))
    inside = stack[-1].inside
    while len(stack) > 1:
        if position == len(text):
            return None
        position, _ = _step(stack, text, position, len(text))
    return inside, position - 1


def _step(stack: list[Open], text: str, position: int, end: int) -> tuple[int, bool]:
    """Reads a piece; gives the place behind it, and whether the end stands in a text."""
    if stack[-1].what == "$":
        found = _TEXT.match(text, position, end)
        if found is not None:
            return found.end(), False
        character = text[position]
        if character == "$":
            stack.pop()
            stack[-1].inside.append(Piece("$", position))
        elif character == "{":
            stack.append(Open("hole", position, [], []))
        return position + 1, False
    match = _PIECE.match(text, position)
    assert match is not None, "any character is a piece"
    if match.end() > end and (match["comment"] or _is_text(match)):
        return end, True
    if match.end() == end and (match["comment"] or _is_open_text(match)):
        return end, True
    _take(stack, match, min(match.end(), end), text)
    return match.end(), False


def _is_text(match: re.Match[str]) -> bool:
    return match["block"] is not None or match["line"] is not None


def _is_open_text(match: re.Match[str]) -> bool:
    return _is_text(match) and not match["endblock"] and not match["endline"]


def _take(stack: list[Open], match: re.Match[str], end: int, text: str) -> None:
    inner, start = stack[-1], match.start()
    written = text[start:end]
    if match["blank"] or match["comment"]:
        return
    if match["newline"]:
        # A line ends but for one in brackets.
        if len(stack) == 1:
            inner.inside.clear()
        return
    if written in ("(", "[", "{"):
        stack.append(Open(written, start, list(inner.inside), []))
        return
    if written == "$":
        stack.append(Open("$", start, list(inner.inside), []))
        return
    if written in _CLOSERS:
        if inner.what == _CLOSERS[written] or (inner.what == "hole" and written == "}"):
            stack.pop()
            stack[-1].inside.append(Piece(written, start))
        return
    inner.inside.append(Piece(written, start))
