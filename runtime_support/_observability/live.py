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
from runtime_support._core.messages import ReplyStream, Request, StreamingProvider
from runtime_support._core.tasks.waits import Steps, Wait, drive
from runtime_support._observability.tracing import current_watchers
from runtime_support.errors import ProviderError
from runtime_support.events import emit_piece

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun, SendRequest


class LiveHook(Hook):
    """Streams a prompt.

    It runs outside of the budget, which counts both requests of a retry; journals and recordings
    see one reply.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the whole reply and reports its pieces as they arrive."""
        if request.pieces is not None or not isinstance(self._prompt.provider, StreamingProvider):
            return (yield from proceed(request))
        streamed = replace(request, pieces=[])
        try:
            return (yield from drive(proceed(streamed), partial(_tell, self._prompt)))
        except ProviderError:
            if not streamed.pieces:
                raise
        return (yield from proceed(request))


def _tell(prompt: PromptRun, step: Wait | str) -> Steps[None]:
    if isinstance(step, Wait):
        return (yield step)
    emit_piece(prompt, step)


def hook_for(prompt: PromptRun) -> LiveHook | None:
    """Returns the hook that streams a prompt if someone watches, else None."""
    return LiveHook(prompt) if os.environ.get("SAFT_LIVE") and current_watchers() else None
