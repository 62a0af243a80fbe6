"""Formats sequences in brackets, on one line or with one item per line, with their comments.

    [
        1,  // beside
        // above
        2,
    ]

A comment keeps its place at an item: beside it, or on separate lines above it. A sequence with a
comment has one item per line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from saftc.formatter.documents import (
    Broken,
    Doc,
    Forced,
    Group,
    Hard,
    Hug,
    Line,
    Nest,
    Trailing,
    is_spread,
)
from saftc.formatter.original import Original
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import FIELDS, between, take
from saftc.syntax.tokens import Comment

# The comma after the last item, which is written if the sequence has one item a line.
WHEN_BROKEN = Broken(",")


@dataclass(frozen=True, slots=True)
class Part:
    """An item of a sequence: its node, its document, and the text `lead` before it."""

    node: n.Node
    doc: Doc
    lead: str = ""

    @property
    def span(self) -> Span:
        """The span of the item."""
        return self.node.span


@dataclass(slots=True)
class _Gaps:
    """The comments of a sequence: above and beside each item, and after the opening bracket.

    The last list in `above` has the comments after the last item.
    """

    above: list[list[str | Comment]]
    beside: list[Comment | None]
    opening: list[Comment]

    @property
    def are_empty(self) -> bool:
        return not self.opening and not any(self.above) and not any(self.beside)


def write_sequence(
    original: Original,
    brackets: str,
    parts: Sequence[Part],
    inside: Span,
    *,
    one_a_line: bool,
    last_comma: Doc = WHEN_BROKEN,
) -> Doc:
    """Returns the document of items with commas, in `brackets`.

    Each item has its own line if the items do not fit on a line, if there are comments, or if
    `one_a_line` is set.
    """
    opening, closing = brackets
    gaps = _gaps(original, parts, inside)
    if gaps.are_empty and not parts:
        return brackets
    if one_a_line or not gaps.are_empty:
        return _spread(original, opening, closing, parts, gaps, "," if parts else "")
    items: list[Doc] = []
    for part in parts:
        items += [",", Line(" "), part.doc] if items else [part.doc]
    return Group((opening, Nest((Line(""), *items, last_comma)), Line(""), closing))


def write_chain(
    original: Original, brackets: str | None, parts: Sequence[Part], inside: Span, *, hugs: bool
) -> Doc:
    """Returns the document of items that are joined by operators or words.

    If `brackets` is "", parentheses are written only if lines break. If `brackets` is None, the
    caller writes brackets around the chain. With `hugs`, the chain may stay on one line up to the
    bracket that its last item opens.
    """
    gaps = _gaps(original, parts, inside)
    must_hug = is_spread(parts[-1].doc)
    if (
        not gaps.are_empty
        or any(is_spread(part.doc) for part in parts[:-1])
        or (must_hug and not hugs)
    ):
        ends = (*gaps.opening, *gaps.above[0], gaps.beside[-1], *gaps.above[-1])
        if brackets is None and not any(ends):
            return Forced(tuple(_lines(original, parts, gaps, "")[1:]))
        opening, closing = brackets or "()"
        return _spread(original, opening, closing, parts, gaps, "")
    items: list[Doc] = []
    for part in parts:
        items += [Line(" "), part.lead, part.doc] if items else [part.doc]
    if brackets is None:
        broken = Group(tuple(items))
    else:
        opening, closing = brackets or (Broken("("), Broken(")"))
        broken = Group((opening, Nest((Line(""), *items)), Line(""), closing))
    if not hugs:
        return broken
    opening, closing = brackets or ("", "")
    return Hug((opening, *items[:-1]), (items[-1], closing), broken)


def _spread(
    original: Original, opening: str, closing: str, parts: Sequence[Part], gaps: _Gaps, comma: str
) -> Doc:
    head = [Trailing(comment.text) for comment in gaps.opening]
    lines = _lines(original, parts, gaps, comma)
    return Forced((opening, *head, Nest(tuple(lines)), Hard(), closing))


def _lines(original: Original, parts: Sequence[Part], gaps: _Gaps, comma: str) -> list[Doc]:
    """Returns each item and comment on its own line, with the line break above it."""
    lines: list[Doc] = []
    is_first = True
    for position, above in enumerate(gaps.above):
        for comment in above:
            lines += [_break(original, comment, is_first), _text(comment)]
            is_first = False
        if position == len(parts):
            break
        part, beside = parts[position], gaps.beside[position]
        lines += [_break(original, part, is_first or not comma), part.lead, part.doc, comma]
        lines += [Trailing(beside.text)] if beside is not None else []
        is_first = False
    return lines


def _break(original: Original, what: str | Comment | Part, is_close: bool) -> Hard:
    """Returns the line break above a comment or item. A blank line in the script is kept."""
    if is_close or isinstance(what, str):
        return Hard()
    start = what.span.start
    if not original.begins_line(start):
        return Hard()
    return Hard(min(1, original.source.blank_lines_above(start)))


def _gaps(original: Original, parts: Sequence[Part], inside: Span) -> _Gaps:
    lost = [[plain_text(comment) for comment in take(original.inner, *part.span)] for part in parts]
    spans = [part.span for part in parts]
    above, beside = between(original.source, spans, take(original.inner, *inside))
    opening: list[Comment] = []
    line = original.source.line_of(inside.start)
    for comment in above[0][:1]:
        if comment.is_trailing and original.source.line_of(comment.span.start) == line:
            opening.append(above[0].pop(0))
    written: list[list[str | Comment]] = [
        [_part_comment(original, one, parts) for one in comments] for comments in above
    ]
    gaps = _Gaps(written, [], opening)
    for position, part in enumerate(parts):
        place = index_for_displaced(gaps.above[position])
        gaps.above[position][place:place] = lost[position]
        comment = original.docs_beside.get(part.node) or beside[position]
        gaps.beside.append(comment and _part_comment(original, comment, parts))
    return gaps


def _part_comment(original: Original, comment: Comment, parts: Sequence[Part]) -> Comment:
    """Returns the comment of an item.

    Among fields, a doc comment that documents no field becomes an ordinary comment.
    """
    are_fields = bool(parts) and isinstance(parts[0].node, FIELDS)
    if not are_fields or not comment.is_doc or comment in original.doc_comments:
        return comment
    return Comment(comment.span, plain_text(comment), comment.is_trailing)


def plain_text(comment: Comment) -> str:
    """Returns the text of a comment, with `//` even if it is a doc comment."""
    return "//" + comment.text[3:] if comment.is_doc else comment.text


def index_for_displaced(above: Sequence[str | Comment]) -> int:
    """Returns the index in `above` at which comments that lost their place are inserted.

    They come before the doc comments at the end of `above`.
    """
    position = len(above)
    while position:
        before = above[position - 1]
        if isinstance(before, str) or not before.is_doc:
            break
        position -= 1
    return position


def _text(comment: str | Comment) -> str:
    return comment if isinstance(comment, str) else comment.text
