"""Streams every reply for live viewers of a run (SAFT_LIVE).

If the provider is built in and can stream, prompts that the script does not stream are streamed,
too. Nothing else in the request changes, and the script still gets the whole reply. If the
connection breaks after the first piece, the request is sent once more without streaming, because
the script has received nothing yet.
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
    """Streams the requests of a prompt.

    This hook encloses the budget's hook, so that the budget counts both requests of a retry.
    Journals and recordings see only one reply.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the whole reply, and emits an event for each piece as it arrives."""
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
    """Returns the hook that streams a prompt, or None if the run has no live viewer."""
    return LiveHook(prompt) if os.environ.get("SAFT_LIVE") and current_watchers() else None
