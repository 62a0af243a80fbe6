"""What pygls leaves open between a client and the server: nothing is kept of what is over, and
offsets become places and back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp
from pygls.protocol import LanguageServerProtocol
from pygls.workspace import PositionCodec

from saftc.source import Source, Span


class Connection(LanguageServerProtocol):
    """The messages of one client; `handled` is called before each message that comes in."""

    handled: Callable[[], None] | None = None

    def handle_message(self, message: Any) -> None:
        """Has a message answered."""
        if self.handled is not None:
            self.handled()
        super().handle_message(message)

    def _execute_handler(self, msg_id: Any, *args: Any, **kwargs: Any) -> None:
        super()._execute_handler(msg_id, *args, **kwargs)
        # pygls itself forgets only what was asked for; notifications would be kept for ever.
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))


@dataclass(frozen=True, slots=True)
class Lines:
    """The places of one text.

    The protocol counts lines from 0, and in them units of the encoding that client and server agree
    on. (pygls' own way back puts what is behind the end of a line one before it.)
    """

    source: Source
    codec: PositionCodec

    def position(self, offset: int) -> lsp.Position:
        """The place of an offset."""
        line, column = self.source.position(offset)
        before = self.source.line_text(line)[: column - 1]
        return lsp.Position(line - 1, self.codec.client_num_units(before))

    def range(self, span: Span) -> lsp.Range:
        """The places of a span."""
        return lsp.Range(self.position(span.start), self.position(span.end))

    def length(self, span: Span) -> int:
        """The units of a span."""
        return self.codec.client_num_units(self.source.at(span))

    def offset(self, position: lsp.Position) -> int:
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
