"""What the lexer gives, and what of it an earlier text has given already.

Where a line of the top level begins, nothing is open, and the lexer knows no more than that. So of
a text that differs from an earlier one in some place, only the lines around that are read: what
is above is taken from the earlier text, and from a line below that both have, so is the rest.
A line of the top level may tell whether a `$` above it is a stray one; hence reading begins at one
that is the same to its end.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from saftc.diagnostics.model import Collector, Diagnostic, Edit, Related
from saftc.source import Source, Span, common_ends
from saftc.syntax.tokens import Comment, Token


class Line(NamedTuple):
    """Where a line of the top level begins: its offset, and how much was read before it."""

    offset: int
    tokens: int
    comments: int


@dataclass(slots=True)
class Lexed:
    """What the lexer gives: all tokens of a file, and its comments, both in source order.

    `lines` are those of the top level; from `unsure` on, if that is not None, what was read follows
    from text far below: from what is not closed.
    """

    source: Source
    tokens: list[Token] = field(default_factory=list[Token])
    comments: list[Comment] = field(default_factory=list[Comment])
    mistakes: tuple[Diagnostic, ...] = ()
    lines: list[Line] = field(default_factory=list[Line])
    unsure: int | None = None


class Earlier:
    """What an earlier text has given, `before`, to be taken into what is `lexed` of this one."""

    def __init__(self, before: Lexed, lexed: Lexed, mistakes: Collector) -> None:
        self.before = before
        self.lexed = lexed
        self.mistakes = mistakes
        # How much of the earlier text stands unchanged above what has changed, and below it.
        self.above, below = common_ends(before.source.text, lexed.source.text)
        # The lines of the earlier text below the change, by their offsets in this one.
        self.lines_below: dict[int, Line] = {}
        if before.unsure is None:
            first = len(before.source.text) - below
            by = len(lexed.source.text) - len(before.source.text)
            self.lines_below = {
                line.offset + by: line for line in before.lines if line.offset >= first
            }

    def take_above(self) -> int | None:
        """Takes what is above the change; gives where the last line before it begins."""
        before = self.before
        for position in range(len(before.lines) - 1, -1, -1):
            line = before.lines[position]
            is_sure = before.unsure is None or line.offset <= before.unsure
            if is_sure and before.source.text.find("\n", line.offset, self.above) >= 0:
                break
        else:
            return None
        self.lexed.tokens += before.tokens[: line.tokens]
        self.lexed.comments += before.comments[: line.comments]
        self.lexed.lines += before.lines[: position + 1]
        for mistake in before.mistakes:
            if mistake.span.start < line.offset:
                self.mistakes.add(mistake)
        return line.offset

    def take_below(self, offset: int) -> bool:
        """Takes all from a line of the top level on, if it was read so in the earlier text."""
        line = self.lines_below.get(offset)
        if line is None or self.lexed.unsure is not None:
            return False
        before, tokens, by = self.before, self.lexed.tokens, offset - line.offset
        more, further = len(tokens) - line.tokens, len(self.lexed.comments) - line.comments
        if by:
            # A named tuple makes another more slowly than `tuple` does.
            make = cast("Any", tuple).__new__
            tokens += [
                make(Token, (kind, text, make(Span, (start + by, end + by))))
                for kind, text, (start, end) in before.tokens[line.tokens :]
            ]
            self.lexed.comments += [
                Comment(_further(one.span, by), one.text, one.is_trailing)
                for one in before.comments[line.comments :]
            ]
        else:
            tokens += before.tokens[line.tokens :]
            self.lexed.comments += before.comments[line.comments :]
        first = before.lines.index(line) + 1
        self.lexed.lines += [
            Line(one.offset + by, one.tokens + more, one.comments + further)
            for one in before.lines[first:]
        ]
        for mistake in before.mistakes:
            if mistake.span.start >= line.offset:
                self.mistakes.add(_moved(mistake, by))
        return True


def _moved(mistake: Diagnostic, by: int) -> Diagnostic:
    """The same mistake, `by` characters further on, with all places of the same text."""
    if not by:
        return mistake
    related = tuple(
        one if one.source is not None else Related(_further(one.span, by), one.text)
        for one in mistake.related
    )
    edits = tuple(Edit(_further(one.span, by), one.text) for one in mistake.edits)
    return replace(mistake, span=_further(mistake.span, by), related=related, edits=edits)


def _further(span: Span, by: int) -> Span:
    return Span(span[0] + by, span[1] + by)
