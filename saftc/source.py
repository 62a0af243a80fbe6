"""A source text, and the only place that converts offsets to lines and columns.

A `Source` is made from the bytes or the text of a script. Its `text` has LF line ends and no byte
order mark. The compiler uses offsets into that text. Lines and columns, which are only displayed,
are computed here. Both are counted from 1. A column is a number of characters.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """A part of a source text. It begins at the offset `start` and ends before the offset `end`."""

    start: int
    end: int


class Position(NamedTuple):
    """A line and a column for display. Both are counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The text of a script, with the script's name in messages."""

    name: str
    text: str
    _line_starts: list[int] = field(repr=False)

    @staticmethod
    def from_text(name: str, text: str) -> "Source":
        """Creates a source.

        In its text, CRLF becomes LF and a leading byte order mark is dropped.
        """
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        starts = [0]
        offset = text.find("\n")
        while offset >= 0:
            starts.append(offset + 1)
            offset = text.find("\n", offset + 1)
        return Source(name, text, starts)

    @staticmethod
    def from_bytes(name: str, data: bytes) -> "Source":
        """Creates a source from UTF-8. Bytes that are not UTF-8 become lone surrogates.

        The lexer reports the surrogates, so that invalid bytes are mistakes with a position.
        """
        return Source.from_text(name, data.decode("utf-8", errors="surrogateescape"))

    def position(self, offset: int) -> Position:
        """The line and column of `offset`."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line_of(self, offset: int) -> int:
        """The line of `offset`, counted from 1."""
        return bisect_right(self._line_starts, offset)

    def line_start(self, line: int) -> int:
        """The offset at which `line` begins.

        For a line after the last line, the result is the end of the text.
        """
        starts = self._line_starts
        return starts[line - 1] if line <= len(starts) else len(self.text)

    def line_text(self, line: int) -> str:
        """The text of `line` without its line end."""
        start = self._line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def blank_lines_above(self, offset: int) -> int:
        """How many blank lines are above the line of `offset`."""
        line = self.line_of(offset)
        count = 0
        while count < line - 1 and not self.line_text(line - 1 - count).strip():
            count += 1
        return count

    def blank_lines_below(self, offset: int) -> int:
        """How many blank lines are below the line of `offset`."""
        line = self.line_of(offset) + 1
        count = 0
        while self.line_start(line + count) < len(self.text):
            if self.line_text(line + count).strip():
                break
            count += 1
        return count

    def at(self, span: Span) -> str:
        """The text of `span`."""
        return self.text[span.start : span.end]


def common_ends(one: str, other: str) -> tuple[int, int]:
    """The lengths of the common prefix of two texts, and of the common suffix of the rest."""
    most = min(len(one), len(other))
    first = _most(most, lambda size: one.startswith(other[:size]))
    last = _most(most - first, lambda size: not size or one.endswith(other[-size:]))
    return first, last


def _most(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which `holds` is true, by binary search.

    `holds` must be true for all smaller numbers.
    """
    return bisect_left(range(1, most + 1), True, key=lambda size: not holds(size))
