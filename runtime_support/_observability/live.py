"""The pieces of every reply, for who watches a run as it happens (SAFT_LIVE).

A prompt that the script does not stream is streamed all the same, where the provider is one of ours
and can do that: the request says so, and nothing else of it changes. The script gets the whole
reply, as it would without. When a connection breaks after the first piece, the request is sent once
more as it would have been, since nobody has been given anything yet.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from runtime_support._core.hooks import Hook
from runtime_support._core.messages import Replying, Request, Streaming
from runtime_support._core.tasks.effects import Effect, Effects, drive
from runtime_support._observability.tracing import watchers_here
from runtime_support.errors import ProviderError
from runtime_support.events import tell_piece

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun, SendRequest


class LiveHook(Hook):
    """Outside of the budget, which counts both requests; journals and recordings see one reply."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The whole reply, whose pieces are told as they come."""
        if request.pieces is not None or not isinstance(self._prompt.provider, Streaming):
            return (yield from proceed(request))
        streamed = replace(request, pieces=[])
        try:
            return (yield from drive(proceed(streamed), partial(_tell, self._prompt)))
        except ProviderError:
            if not streamed.pieces:
                raise
        return (yield from proceed(request))


def _tell(prompt: PromptRun, step: Effect | str) -> Effects[None]:
    if isinstance(step, Effect):
        return (yield step)
    tell_piece(prompt, step)


def hook_for(prompt: PromptRun) -> LiveHook | None:
    """What streams every prompt, where somebody watches."""
    return LiveHook(prompt) if os.environ.get("SAFT_LIVE") and watchers_here() else None
