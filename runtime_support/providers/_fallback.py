"""The setting `fallback`: names models to try if the first one fails because of its provider.

    prompt(..., options={"model": "large", "fallback": ["small", "local-one"]})

A model has failed if all of its attempts have failed, because its server is unreachable, refuses
the model, stays overloaded, or breaks the connection. After a bad reply or a spent budget, no other
model is tried. The reply names the model that answered, and the conversation continues with this
model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from runtime_support._core.hooks import Hook
from runtime_support._core.notes import note_once
from runtime_support._values.kinds import quote
from runtime_support.errors import ProviderError, ToolsUnsupported

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun, SendRequest
    from runtime_support._core.messages import ReplyStream, Request


class FallbackHook(Hook):
    """Sends each request to one model after the other until one replies.

    The hook is outside of the retries, so that each model has all of its attempts. It is inside of
    journals and recordings, so that they store one reply.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt
        self._model = prompt.settings.model

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the reply of the first model that answers."""
        failed: dict[str, str] = {}
        for model, has_next in self._models(request):
            if model != self._model:
                self._model = model
                self._prompt.answer_by(model)
            asked = replace(request, model=model)
            name = self._prompt.model_of(asked)
            try:
                reply = yield from proceed(asked)
            except ToolsUnsupported:
                raise
            except ProviderError as error:
                # After a part of a reply was passed on, no other model can continue it.
                if request.pieces or not has_next:
                    error.message += "".join(f"; before, {one}: {failed[one]}" for one in failed)
                    raise
                failed[name] = error.message
                continue
            if failed:
                before, reason = next(iter(failed.items()))
                said = f"{quote(before)} did not answer, so {quote(name)} is asked"
                note_once(said, f"{said}: {reason}")
            if model == self._prompt.settings.model:
                return reply
            return replace(reply, model=reply.model or name, fallback=name)
        raise AssertionError("a request has a model")

    def _models(self, request: Request) -> Iterator[tuple[str | None, bool]]:
        """Yields each model to try, with a bool that is True if another model follows."""
        settings = self._prompt.settings
        models = list(dict.fromkeys((settings.model, *(settings.fallback or ()))))
        # A model from a journal may no longer be named by the script.
        is_named = request.model in models
        models = models[models.index(request.model) :] if is_named else [request.model]
        return ((model, model != models[-1]) for model in models)


def hook_for(prompt: PromptRun) -> FallbackHook | None:
    """Returns the hook that tries the fallback models if the prompt names some, else None."""
    return FallbackHook(prompt) if prompt.settings.fallback else None
