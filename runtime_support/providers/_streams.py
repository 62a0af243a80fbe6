"""Reads streamed replies: server-sent events, and the chunks of text in them.

    reply = yield from read_stream(body, reader, chunks, backoff.aside, failure_of)

The module is loaded with the first stream.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress

from runtime_support._core.messages import ReceivedChunks, ReplyStream
from runtime_support._core.tasks.waits import Steps
from runtime_support.errors import ProviderError
from runtime_support.providers._clients import BROKEN, NETWORK_ERRORS, Body, BodyLimits
from runtime_support.providers._wires.bodies import ReplyReader, of_server
from runtime_support.providers._wires.events import EventReader, event_reader

_DONE = b"[DONE]"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # at the beginning of a stream
# The first bytes of a stream of server-sent events; JSON never begins with any of them.
_OF_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_FIELD = max(map(len, _OF_EVENTS))
_LINE_END = re.compile(rb"\r\n|\n|\r")
# Limits on reading the rest of a body after its last event, so that the connection can be reused.
_DRAIN_SECONDS = 0.1
_DRAIN_BYTES = 65_536


def read_stream(
    body: Body,
    wire: str,
    reader: ReplyReader,
    chunks: ReceivedChunks,
    aside: Callable[[], AbstractContextManager[None]],
    failure_of: Callable[[Exception], Exception],
) -> ReplyStream:
    """Yields the chunks of a response and returns the reply.

    While the script processes a chunk, the request is `aside`. After the first text, errors are not
    retryable. A complete reply is returned even if the connection breaks at its end.
    """
    events, received = ServerSentEvents(body), event_reader(wire, reader)
    problem: Exception = ValueError("it has no end")
    try:
        if not (yield from events.are_there()):
            content = yield from body.read(events.beginning)
            with of_server():
                return reader.read(content)
        yield from _pieces(events, received, chunks, aside)
        if received.is_whole:
            yield from _drain(body)
    except BROKEN as error:
        problem = error
    if received.is_whole:
        try:
            with of_server():
                return received.reply()
        except (ValueError, ProviderError) as error:
            problem = error
    failure = failure_of(problem)
    if received.text and isinstance(failure, ProviderError):
        failure.another_try, failure.text = None, received.text
        from runtime_support._values.kinds import counted

        failure.message += f"; {counted(len(failure.text), 'character')} of the reply had come"
    raise failure from problem.__cause__


def _pieces(
    events: ServerSentEvents,
    received: EventReader,
    chunks: ReceivedChunks,
    aside: Callable[[], AbstractContextManager[None]],
) -> Steps[None]:
    while not received.is_over and (data := (yield from events.next_event())) is not None:
        with of_server():
            if data.startswith(_DONE):
                if not received.is_whole:
                    received.end()
                return
            piece = received.read(data)
        if piece and chunks is not None:
            chunks.append(piece)
            with aside(), _stopped_clock(events.body.bounds):
                yield piece


@contextmanager
def _stopped_clock(bounds: BodyLimits) -> Generator[None]:
    """Stops the clock of a request inside the block, in which the script processes a chunk."""
    began = time.monotonic()
    try:
        yield
    finally:
        bounds.end += time.monotonic() - began


def _drain(body: Body) -> Steps[None]:
    """Reads the rest of the body if it is short, so that the connection can be reused."""
    body.bounds.end = time.monotonic() + _DRAIN_SECONDS
    body.bounds.most = max(body.length, body.bounds.received) + _DRAIN_BYTES
    with suppress(*NETWORK_ERRORS, ProviderError):
        while (yield from body.next_part()):
            pass


class ServerSentEvents:
    """The events in a body. If it has none, `beginning` is the part that was read to find out."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.beginning = b""
        # The complete lines, the pieces of an incomplete line, and the last part received.
        self._lines: deque[bytes] = deque()
        self._pieces: list[bytes] = []
        self._before = b""

    def are_there(self) -> Steps[bool]:
        """True if the body is a stream of server-sent events, whatever its content type."""
        if self.body.content_type == "text/event-stream":
            return True
        self.beginning = yield from self.body.read_beginning(_LONGEST_FIELD)
        are_events = self.beginning.startswith(_OF_EVENTS)
        if are_events:
            self._add(self.beginning)
        return are_events

    def next_event(self) -> Steps[bytes | None]:
        """Returns the data of the next event that has data, or None at the end of the body."""
        data: list[bytes] = []
        while (line := (yield from self._next_line())) is not None:
            if not line and data:
                break
            name, _, value = line.partition(b":")
            if name.removeprefix(_BYTE_ORDER_MARK) == b"data" and value.strip():
                data.append(value.removeprefix(b" "))
        return b"\n".join(data) or None

    def _next_line(self) -> Steps[bytes | None]:
        while not self._lines:
            part = yield from self.body.next_part()
            if not part:
                rest, self._pieces = b"".join(self._pieces), []
                return rest or None
            self._add(part)
        return self._lines.popleft()

    def _add(self, part: bytes) -> None:
        """Splits a part of the body into lines, in linear time."""
        is_in_line_end, self._before = self._before.endswith(b"\r"), part
        first, *others = _LINE_END.split(part.removeprefix(b"\n") if is_in_line_end else part)
        self._pieces.append(first)
        if others:
            self._lines.append(b"".join(self._pieces))
            self._lines += others[:-1]
            self._pieces = others[-1:]
