"""Streams every reply for live viewers of a run (SAFT_LIVE).

If the provider is a built-in one that can stream, this also streams prompts that the script does
not stream; nothing else in the request changes. The script still gets the whole reply. If the
connection breaks after the first piece, the request is sent once more without streaming, as the
script has received nothing yet.
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
    """Streams a prompt.

    It runs outside of the budget, which counts both requests of a retry; journals and recordings
    see one reply.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """Returns the whole reply and reports its pieces as they arrive."""
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
    """Returns the hook that streams a prompt if someone watches, else None."""
    return LiveHook(prompt) if os.environ.get("SAFT_LIVE") and watchers_here() else None
