"""Additions to pygls: a connection that frees memory, and converting offsets to positions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp
from pygls.protocol import LanguageServerProtocol
from pygls.workspace import PositionCodec

from saftc.source import Source, Span


class Connection(LanguageServerProtocol):
    """The connection to one client. It calls `handled` before it handles an incoming message."""

    handled: Callable[[], None] | None = None

    def handle_message(self, message: Any) -> None:
        """Handles an incoming message."""
        if self.handled is not None:
            self.handled()
        super().handle_message(message)

    def _execute_handler(self, msg_id: Any, *args: Any, **kwargs: Any) -> None:
        super()._execute_handler(msg_id, *args, **kwargs)
        # pygls itself frees the futures of requests only, and would keep those of notifications.
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))


@dataclass(frozen=True, slots=True)
class Lines:
    """Converts between the offsets of a text and the protocol's positions.

    A position is a line, counted from 0, and a number of code units in that line. Client and server
    agree on the encoding of these units. (The conversion of pygls is not used: it moves a position
    after the end of a line to the offset before the end.)
    """

    source: Source
    codec: PositionCodec

    def position(self, offset: int) -> lsp.Position:
        """The position of an offset."""
        line, column = self.source.position(offset)
        before = self.source.line_text(line)[: column - 1]
        return lsp.Position(line - 1, self.codec.client_num_units(before))

    def range(self, span: Span) -> lsp.Range:
        """The range of a span."""
        return lsp.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: lsp.Position) -> int:
        """The offset of a position.

        If the position is after the end of its line, the result is the offset of the line's end.
        """
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
