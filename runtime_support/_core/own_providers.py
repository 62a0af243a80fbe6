"""Asks providers that users write, which have only the blocking methods of `Provider`.

    adapt_provider(provider, request, None)         its reply, as a generator of waits
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from runtime_support._core.messages import Provider, ReceivedChunks, Reply, ReplyStream, Request
from runtime_support._core.tasks.turns import is_abandoned
from runtime_support._core.tasks.waits import Wait, close_after
from runtime_support._values.context import Block


def adapt_provider(provider: Provider, request: Request, chunks: ReceivedChunks) -> ReplyStream:
    """Gets the reply of a provider that has only the blocking methods of `Provider`."""
    stream = getattr(provider, "stream", None) if chunks is not None else None
    if chunks is None or stream is None:
        return (yield Wait(partial(_in_exchange, provider.complete, request)))
    pieces = _Pieces((yield Wait(partial(stream, request))))
    return (yield from close_after(_pieces_of(pieces, chunks), Wait(pieces.close)))


def _in_exchange(function: Callable[..., Any], *arguments: Any) -> Any:
    with Block(is_in_exchange=True):
        return function(*arguments)


class _Pieces:
    """The chunks of a blocking provider. A thread that was abandoned may still be reading them."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._busy = threading.Lock()

    def next(self) -> tuple[str | None, Any]:
        """Returns the next chunk and None; at the end, None and the iterator's return value."""
        try:
            with self._busy:
                return _in_exchange(next, self._pieces), None
        except StopIteration as end:
            return None, end.value
        finally:
            if is_abandoned():
                self.close()

    def close(self) -> None:
        """Closes the iterator, or leaves that to the abandoned thread that is reading from it."""
        close = getattr(self._pieces, "close", None)
        if close is not None and self._busy.acquire(blocking=False):
            try:
                close()
            finally:
                self._busy.release()


def _pieces_of(pieces: _Pieces, chunks: list[str]) -> ReplyStream:
    while True:
        piece, reply = yield Wait(pieces.next)
        if piece is None:
            return reply if isinstance(reply, Reply) else Reply("".join(chunks))
        chunks.append(piece)
        yield piece
