"""Applies the edits of a diagnostic's hint to its script.

edits_of(diagnostic, source)        the edits that apply the hint
apply(text, edits)                  the edited text
"""

from collections.abc import Iterable

from saftc.diagnostics.model import Diagnostic, Edit
from saftc.source import Source, Span


def edits_of(diagnostic: Diagnostic, source: Source) -> tuple[Edit, ...]:
    """Returns the edits of a diagnostic. An edit that leaves a blank line also removes the line."""
    return tuple(_with_its_line(edit, source) for edit in diagnostic.edits)


def _with_its_line(edit: Edit, source: Source) -> Edit:
    (start, end), text = edit
    if text:
        return edit
    line, last = source.line_of(start), source.line_of(end)
    first, behind = source.line_start(line), source.line_start(last + 1)
    if (source.text[first:start] + source.text[end:behind]).strip():
        return edit
    return Edit(Span(first, behind), "")


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Returns the text with the edits applied. The edits must not overlap."""
    parts: list[str] = []
    position = 0
    for (start, end), put in sorted(edits):
        parts += text[position:start], put
        position = end
    return "".join([*parts, text[position:]])
