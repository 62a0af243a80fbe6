"""Renders diagnostics as styled text for people, and as JSON for tools.

    error[SAFT0203]: unknown name `pepole`
     --> greet.saft:3:24
      |
    3 |   who is longest in {pepole}
      |                      ^^^^^^ did you mean `people`?
      |
      -   who is longest in {pepole}
    3 +   who is longest in {people}

Places are marked as in rustc; the edits of the hint are drawn as in ruff.
"""

import json
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from saftc.diagnostics.fixes import apply, edits_of
from saftc.diagnostics.model import Diagnostic, Edit
from saftc.diagnostics.styled import Piece, Style, plain
from saftc.source import Source, Span, common_ends

# Of a line with more columns than this, only the part around its mark is shown: `_WIDEST` if the
# width of the output is unknown, `_NARROWEST` in the narrowest terminal.
_WIDEST = 100
_NARROWEST = 20
# The columns around a line of a script: " | ", the bar beside several lines, "…" at both ends.
_AROUND = 7
# If there are more lines than this, only the first and last lines are shown.
_MOST_LINES = 6
_TAB = "    "
# The joiners of emoji and letters. Other invisible characters are replaced, as they could hide
# text.
_JOINERS = "\u200c\u200d"


def render(
    diagnostics: Iterable[Diagnostic], source: Source, width: int | None = None
) -> list[Piece]:
    """Renders diagnostics, separated by blank lines. Without diagnostics, the list is empty.

    `width` is the width of the terminal, or None if the output is not a terminal.
    """
    drawn = (_render_one(diagnostic, source, width) for diagnostic in diagnostics)
    return [piece for one in drawn for piece in (Piece("\n"), *one)][1:]


def render_text(
    diagnostics: Iterable[Diagnostic], source: Source, width: int | None = None
) -> str:
    """Renders diagnostics as plain text."""
    return plain(render(diagnostics, source, width))


def draw_place(
    source: Source, span: Span, note: str = "", width: int | None = None
) -> list[Piece]:
    """Renders a span: its position `file:line:column`, and its lines with marks below them."""
    rows = list(_drawn(source, [_Mark(span, note, "^", "error")], _room(source, width)))
    return _placed(source, span.start, rows, _margin(rows))


def fits(text: str, width: int) -> bool:
    """True if rendered diagnostics fit in `width` columns, without a truncated line."""
    rows = (row for row in text.split("\n") if row.lstrip(" 0123456789").startswith("|"))
    return "…" not in text and all(_width(row) <= width for row in rows)


def as_data(diagnostics: Iterable[Diagnostic], source: Source) -> list[dict[str, object]]:
    """Returns the diagnostics as JSON objects. Their lines and columns begin at 1."""
    return [
        {
            "code": diagnostic.code,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "file": source.name,
            **_place(source, diagnostic.span),
            "hint": diagnostic.hint,
            "lines": list(diagnostic.lines),
            "edits": [{"text": one.text, **_place(source, one.span)} for one in diagnostic.edits],
            "related": [
                {
                    "text": related.text,
                    "file": (related.source or source).name,
                    **_place(related.source or source, related.span),
                }
                for related in diagnostic.related
            ],
        }
        for diagnostic in diagnostics
    ]


def render_json(data: object) -> str:
    """Returns the JSON text of the values from `as_data`, or of an object that contains them."""
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


class _Mark(NamedTuple):
    """A marked span of a script: the sign below it, the style of the sign, and a note."""

    span: Span
    note: str
    sign: str
    style: Style

    def drawn(self, blanks: int, signs: str) -> list[Piece]:
        """Returns a row with `signs` behind a number of blanks."""
        return [_BAR, Piece(" " * blanks), Piece(signs, self.style)]


# A row: its line number, if it has one, and its content. None means omitted lines.
_Row = tuple[int | None, list[Piece]] | None
_BAR = Piece("|", "gutter")


class _Room(NamedTuple):
    """The greatest widths in columns: for a line of a script, and for a row without its gutter.

    `row` is None if rows may have any width.
    """

    line: int
    row: int | None


def _room(source: Source, width: int | None) -> _Room:
    if width is None:
        return _Room(_WIDEST, None)
    row = width - len(str(source.line_of(len(source.text)))) - 1
    return _Room(max(_NARROWEST, row + 1 - _AROUND), max(_NARROWEST, row))


def _render_one(diagnostic: Diagnostic, source: Source, width: int | None) -> list[Piece]:
    """Renders a diagnostic with an excerpt of its script.

    Each other script with a related place gets an excerpt, too.
    """
    severity = diagnostic.severity
    drawings = [(source, [_Mark(diagnostic.span, diagnostic.hint or "", "^", severity)])]
    for related in diagnostic.related:
        where = related.source or source
        marks = next((held for drawn, held in drawings if drawn is where), None)
        if marks is None:
            drawings.append((where, [_Mark(related.span, related.text, "^", severity)]))
        else:
            marks.append(_Mark(related.span, related.text, "-", "gutter"))
    rows = [list(_drawn(where, marks, _room(where, width))) for where, marks in drawings]
    rows[0] += _fix(source, edits_of(diagnostic, source), _room(source, width).line)
    margin = max(map(_margin, rows))
    code = [Piece("[", severity), Piece(diagnostic.code, severity, "code"), Piece("]", severity)]
    head = [Piece(severity, severity), *code, Piece(f": {diagnostic.message}", "title")]
    pieces = [*head, Piece("\n")]
    for (where, marks), drawn in zip(drawings, rows, strict=True):
        pieces += _placed(where, marks[0].span.start, drawn, margin)
    return [*pieces, *(Piece(f"{line}\n") for line in diagnostic.lines)]


def _placed(source: Source, offset: int, rows: Sequence[_Row], margin: int) -> list[Piece]:
    line, column = source.position(offset)
    place = Piece(f"{source.name}:{line}:{column}", link="place")
    pieces = [Piece(f"{' ' * margin}-->", "gutter"), Piece(" "), place]
    for row in ((None, [_BAR]), *rows):
        number, shown = row or (None, [])
        left = "..." if row is None else f"{'' if number is None else number:>{margin}} "
        pieces += [Piece("\n"), Piece(left, "gutter"), *shown]
    return [*pieces, Piece("\n")]


def _margin(rows: Iterable[_Row]) -> int:
    return max(len(str(row[0])) for row in rows if row is not None and row[0] is not None)


def _drawn(source: Source, marks: Sequence[_Mark], room: _Room) -> Iterator[_Row]:
    """Yields the marked lines in order, with a row below each line for each of its marks."""
    first, *others = marks
    below: dict[int, list[_Mark]] = {}
    if bar := _bar(source, first, room):
        yield from bar
        if others:
            yield None
    for mark in others if bar else marks:
        below.setdefault(source.line_of(mark.span.start), []).append(mark)
    before = min(below, default=0)
    for line in sorted(below):
        if line - before > 2:
            yield None
        elif line - before == 2:
            yield _line(line - 1, _clip(source.line_text(line - 1), 0, 0, room.line)[0])
        yield from _marked(source, line, below[line], room)
        before = line


def _line(number: int, text: str) -> _Row:
    return number, [_BAR, Piece(f" {text}".rstrip())]


def _marked(source: Source, line: int, marks: Sequence[_Mark], room: _Room) -> Iterator[_Row]:
    """Yields a line with its marks. If the line is long, yields the part around each mark."""
    text = source.line_text(line)
    for mark in marks:
        column = mark.span.start - source.line_start(line)
        length = max(1, min(mark.span.end - mark.span.start, len(text) - column))
        shown, before, marked = _clip(text, column, length, room.line)
        if mark is marks[0] or _width(text) > room.line:
            yield _line(line, shown)
        signs = mark.drawn(1 + _width(before), mark.sign * max(1, _width(marked)))
        yield from _noted(signs, mark, room)


def _noted(signs: list[Piece], mark: _Mark, room: _Room) -> Iterator[_Row]:
    """Yields a mark with its note beside it, or below it if the note does not fit."""
    style: Style = "note" if mark.sign == "^" else mark.style
    if room.row is None or len(plain(signs)) + 1 + _width(mark.note) <= room.row:
        yield None, [*signs, Piece(f" {mark.note}".rstrip(), style)]
        return
    yield None, signs
    for line in textwrap.wrap(mark.note, room.row - 4, break_on_hyphens=False):
        yield None, [_BAR, Piece(f"   {line}", style)]


def _bar(source: Source, mark: _Mark, room: _Room) -> list[_Row]:
    """Returns the lines of a span of several lines, joined by a bar on their left.

    Returns an empty list if the span has one line, or if one of its lines is too long.
    """
    start, end = mark.span.start, mark.span.start + len(source.at(mark.span).rstrip()) - 1
    first, last = source.line_of(start), source.line_of(end)
    lines = list(range(first, last + 1))
    rows: list[_Row] = []
    if first >= last or any(_width(source.line_text(line)) > room.line for line in lines):
        return rows
    before = source.text[source.line_start(first) : start]
    for line in lines:
        if line == first + 2 and len(lines) > _MOST_LINES:
            rows.append(None)
        if line - first < 2 or line == last or len(lines) <= _MOST_LINES:
            bar = "|" if line > first else " " if before.strip() else "/"
            shown = Piece(f" {_shown(source.line_text(line))}".rstrip())
            rows.append((line, [_BAR, Piece(f" {bar}", mark.style), shown]))
        if line == first and before.strip():
            rows.append((None, mark.drawn(2, "_" * (_width(before) + 1) + mark.sign)))
    reach = "_" * (_width(source.text[source.line_start(last) : end]) + 1)
    return [*rows, *_noted(mark.drawn(1, f"|{reach}{mark.sign}"), mark, room)]


def _fix(source: Source, edits: Sequence[Edit], room: int) -> Iterator[_Row]:
    """Yields rows with the lines that the edits change, in their old and their new form."""
    if edits:
        yield None, [_BAR]
    shift = before = 0
    for near in _by_lines(source, edits):
        first = source.line_of(near[0].span.start)
        start = source.line_start(first)
        end = source.line_start(source.line_of(near[-1].span.end) + 1)
        moved = [Edit(Span(one.start - start, one.end - start), text) for one, text in near]
        old = _lines(source.text[start:end])
        new = _lines(apply(source.text[start:end], moved))
        alike = _alike(old, new)
        behind = _alike(old[alike:][::-1], new[alike:][::-1])
        old, new = old[alike : len(old) - behind], new[alike : len(new) - behind]
        first += alike
        if before and first > before:
            yield None
        # If the number of lines stays the same, each shows the part that differs from its
        # counterpart.
        others = (new, old) if len(old) == len(new) else (old, new)
        was = [_around(*both, room) for both in zip(old, others[0], strict=True)]
        now = [_around(*both, room) for both in zip(new, others[1], strict=True)]
        yield from _ends([(None, [Piece(f"- {line}".rstrip(), "removed")]) for line in was])
        numbered = enumerate(now, first + shift)
        yield from _ends([(at, [Piece(f"+ {line}".rstrip(), "added")]) for at, line in numbered])
        shift += len(new) - len(old)
        before = first + len(old)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in StringIO(text)]


def _by_lines(source: Source, edits: Sequence[Edit]) -> list[list[Edit]]:
    """Returns the edits in source order. Edits that touch the same line form a group."""
    groups: list[list[Edit]] = []
    last = 0
    for edit in sorted(edits):
        if groups and source.line_of(edit.span.start) <= last:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        last = source.line_of(edit.span.end)
    return groups


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns the length of the common prefix of two sequences."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _around(line: str, other: str, room: int) -> str:
    """Returns the part of a line that differs from `other`, with visible tabs."""
    first, last = common_ends(line, other)
    return _clip(line, first, len(line) - first - last, room, tab="→   ")[0]


def _ends(rows: Sequence[_Row]) -> Sequence[_Row]:
    return rows if len(rows) <= _MOST_LINES else [*rows[:2], None, rows[-1]]


def _place(source: Source, span: Span) -> dict[str, object]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _clip(
    text: str, start: int, length: int, room: int, tab: str = _TAB
) -> tuple[str, str, str]:
    """Returns the visible part of a line, its visible part before the mark, and its marked part."""
    first = 0
    if _width(text[: start + length]) > room:
        first = start - _fitting(text[:start][::-1], room * 2 // 5)
    lead = "…" if first else ""
    last = first + _fitting(text[first:], room)
    shown = _shown(text[first:last], tab)
    if len(text) > last:
        shown += "…"
    marked = text[start : min(start + length, last)]
    return lead + shown, lead + _shown(text[first:start]), _shown(marked)


def _fitting(text: str, room: int) -> int:
    """Returns how many characters of a text fit into `room` columns."""
    for count, character in enumerate(text):
        room -= _cells(character)
        if room < 0:
            return count
    return len(text)


def _shown(text: str, tab: str = _TAB) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(tab if one == "\t" else _printable(one) for one in text)


def _printable(character: str) -> str:
    return character if character.isprintable() or character in _JOINERS else "�"


def _width(text: str) -> int:
    if text.isascii():
        return len(text) + (len(_TAB) - 1) * text.count("\t")
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if character == "\t":
        return len(_TAB)
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
