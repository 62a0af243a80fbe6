"""Assembles replies from the events of a stream.

    reader = event_reader("chat", ChatReader(request, form, None))
    reader.add({"choices": [{"delta": ...}]})           the visible text that the event adds
    reader.reply()                                      the reply of all events

    ChunkedText(is_wrapped=True).add('{"val')           the visible text that a chunk adds

Each wire has a module with the class `EVENTS`. The modules are loaded with the first stream.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any

from runtime_support._core.messages import Reply
from runtime_support.providers._wires.bodies import ReplyReader

_WRAPPING = re.compile(r'\s*\{\s*"value"\s*:')


def event_reader(wire: str, reader: ReplyReader) -> EventReader:
    """Returns the object that assembles a reply of this wire; `reader` reads its body."""
    made: EventReader = import_module(f"{__package__}.{wire}_events").EVENTS(reader)
    return made


def joined(pieces: list[str]) -> str:
    """Joins chunks of text, even if the server cut them inside a surrogate pair."""
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


class ChunkedText:
    """Joins chunks of text that the server may have cut inside a character.

    If the text is wrapped in `{"value": ...}`, the opening brace and key are not visible text.
    """

    def __init__(self, *, is_wrapped: bool) -> None:
        self._texts: list[str] = []
        # Held back: half of a surrogate pair, and a possible start of `{"value": `.
        self._half = self._opening = ""
        self._is_open = not is_wrapped

    @property
    def known(self) -> str:
        """The text so far, without an incomplete character at its end."""
        return "".join(self._texts)

    @property
    def whole(self) -> str:
        """The text so far, even if it ends inside a character."""
        return self.known + self._half

    def add(self, piece: str) -> str:
        """Adds a chunk and returns the visible text that it adds."""
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = joined([text])
        self._texts.append(text)
        if self._is_open:
            return text
        self._opening += text
        opened = _WRAPPING.match(self._opening)
        if opened is None and '{"value":'.startswith("".join(self._opening.split())):
            return ""
        self._is_open = True
        return self._opening if opened is None else self._opening[opened.end() :]


class EventReader(ABC):
    """Assembles the body of one reply from events. Subclasses add the reply's text to `_text`."""

    def __init__(self, reader: ReplyReader) -> None:
        self._reader = reader
        self._text = ChunkedText(is_wrapped=reader.is_wrapped)

    @property
    def text(self) -> str:
        """The text of the reply so far."""
        return self._text.known

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """True if the server has said that the reply is complete."""

    @property
    def is_over(self) -> bool:
        """True after the reply's last event; later data does not belong to it."""
        return False

    def end(self) -> None:
        """Handles the event `[DONE]`, which ends a stream. In some APIs, it completes the reply."""
        return

    def read(self, data: bytes) -> str:
        """Adds an event, given as JSON text, and returns the visible text that it adds."""
        return self.add(self._reader.parsed(data))

    def add(self, event: Any) -> str:
        """Adds an event, given as parsed JSON, and returns the visible text that it adds."""
        return self._take(self._reader.checked(event))

    def reply(self) -> Reply:
        """Returns the reply assembled from all events.

        Raises ProviderError or ValueError if the events do not make a valid reply.
        """
        return self._reader.reply_of(self._whole())

    @abstractmethod
    def _take(self, event: dict[str, Any], /) -> str:
        """Adds an event that reports no error. Returns the visible text that it adds."""

    @abstractmethod
    def _whole(self) -> dict[str, Any]:
        """Returns the body of a response, assembled from all events."""
