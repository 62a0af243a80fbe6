"""Offsets into a text to the places of the protocol, and back.

The protocol counts lines from 0, and in them units of an encoding that client and server agree on:
UTF-16 unless both know better.
"""

from dataclasses import dataclass

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from saftc.source import Source, Span


@dataclass(frozen=True, slots=True)
class Lines:
    """The places of one text."""

    source: Source
    codec: PositionCodec

    def position(self, offset: int) -> Position:
        """The place of an offset."""
        line, column = self.source.position(offset)
        before = self.source.line_text(line)[: column - 1]
        return Position(line - 1, self.codec.client_num_units(before))

    def range(self, span: Span) -> Range:
        """The places of a span."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The offset of a place; of one behind the end of its line, the line's end."""
        line = position.line + 1
        start = self.source.line_start(line)
        if start >= len(self.source.text):
            return len(self.source.text)
        text = self.source.line_text(line)
        if text.isascii():
            return start + min(position.character, len(text))
        units = 0
        for index, character in enumerate(text):
            if units >= position.character:
                return start + index
            units += self.codec.client_num_units(character)
        return start + len(text)
