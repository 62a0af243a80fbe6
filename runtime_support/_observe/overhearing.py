"""The pieces of every reply, for who watches a run as it happens (SAFT_LIVE).

A prompt that the script does not stream is streamed all the same, where the provider is one of ours
and can do that: the request says so, and nothing else of it changes. The script gets the whole
reply, as it would without. When a connection breaks after the first piece, the request is sent once
more as it would have been, since nobody has been given anything yet.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from runtime_support._effects import Effect, Effects, drive
from runtime_support._exchange import Heard, Replying, Request, Streaming
from runtime_support._observe.tracing import Tracer, tracer_of
from runtime_support._seams import Around, register
from runtime_support.errors import ProviderError

if TYPE_CHECKING:
    from runtime_support._seams import Send
    from runtime_support.providers import PromptCall


class Overhearing(Around):
    """Next to the provider: journals, budgets and recordings see a reply that is not streamed."""

    order = 60

    def __init__(self, call: PromptCall, tracer: Tracer) -> None:
        self._call = call
        self._tracer = tracer

    @classmethod
    def of(cls, call: PromptCall) -> Overhearing | None:
        tracer = tracer_of(call)
        is_wanted = os.environ.get("SAFT_LIVE") and tracer is not None and tracer.watchers
        return cls(call, tracer) if is_wanted and tracer is not None else None

    def exchange(self, request: Request, heard: Heard, send: Send) -> Replying:
        if heard is not None or not isinstance(self._call.provider, Streaming):
            return (yield from send(request, heard))
        pieces: list[str] = []
        try:
            return (yield from drive(send(request, pieces), self._hear))
        except ProviderError:
            if not pieces:
                raise
        return (yield from send(request, None))

    def _hear(self, step: Effect | str) -> Effects[Any]:
        if isinstance(step, Effect):
            return (yield step)
        self._tracer.tell_piece(step)


register(Overhearing)
