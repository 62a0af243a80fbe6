"""Diagnostics as text for people and as JSON for tools.

error[SAFT0203]: unknown name `pepole`
 --> greet.saft:3:24
  |
3 |   who is longest in {pepole}
  |                      ^^^^^^ did you mean `people`?
"""

import json
import unicodedata
from collections.abc import Iterable

from saftc.diagnostics.model import Diagnostic
from saftc.source import Source, Span

# A line longer than this is shown in part, around the place that is meant.
_WIDEST = 100
_BEFORE = 40
# What joins emoji and letters; other invisible characters could hide what a line says.
_JOINERS = "\u200c\u200d"


def render_text(diagnostics: Iterable[Diagnostic], source: Source) -> str:
    """The diagnostics as text, a blank line between two; empty when there are none."""
    return "\n".join(_render_one(diagnostic, source) for diagnostic in diagnostics)


def snippet(source: Source, span: Span, note: str = "") -> str:
    """The place `file:line:column` with its line and a caret under it."""
    line, column = source.position(span.start)
    text = source.line_text(line)
    length = max(1, min(span.end - span.start, len(text) - column + 1))
    shown, before, marked = _clip(text, column - 1, length)
    gutter = " " * len(str(line))
    marks = " " * _width(before) + "^" * max(1, _width(marked))
    last = f"{gutter} | {marks} {note}".rstrip()
    place = f"{gutter}--> {source.name}:{line}:{column}"
    return f"{place}\n{gutter} |\n{line} | {shown}\n{last}\n"


def as_data(diagnostics: Iterable[Diagnostic], source: Source) -> list[dict[str, object]]:
    """The diagnostics as JSON values: one object each, places as 1-based lines and columns."""
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
    """What `as_data` gave, of one file or several, or an object with it, as one JSON text."""
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _render_one(diagnostic: Diagnostic, source: Source) -> str:
    head = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}\n"
    parts = [head, snippet(source, diagnostic.span, diagnostic.hint or "")]
    parts += [snippet(one.source or source, one.span, one.text) for one in diagnostic.related]
    parts += [f"{line}\n" for line in diagnostic.lines]
    return "".join(parts)


def _place(source: Source, span: Span) -> dict[str, object]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _clip(text: str, start: int, length: int) -> tuple[str, str, str]:
    """The part of a line to show, what of it is before the mark, and what is marked."""
    text = "".join(_printable(character) for character in text[: start + length + _WIDEST])
    first = max(0, start - _BEFORE) if start + length > _WIDEST else 0
    lead = "…" if first else ""
    shown = text[first : first + _WIDEST]
    if len(text) > first + _WIDEST:
        shown += "…"
    marked = text[start : min(start + length, first + _WIDEST)]
    return lead + shown, lead + text[first:start], marked


def _printable(character: str) -> str:
    if character == "\t":
        return " "
    return character if character.isprintable() or character in _JOINERS else "�"


def _width(text: str) -> int:
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
