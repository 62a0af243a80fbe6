"""The next model, where one fails by its provider: the setting `fallback`.

    prompt(..., options={"model": "large", "fallback": ["small", "local-one"]})

A model has failed when its tries are at an end: its server cannot be reached, refuses the model,
has too much to do for too long, or breaks off. What a model says is no such failure, and neither is
a budget that is spent. The reply says which model gave it, and the rest of the conversation goes on
with that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from runtime_support._core.hooks import Hook
from runtime_support._core.notes import note
from runtime_support._values.kinds import quote
from runtime_support.errors import ProviderError, ToolsUnsupported

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun, SendRequest
    from runtime_support._core.messages import Replying, Request

# The pairs of models that were reported to the user.
_told: set[tuple[str, str]] = set()


class FallbackHook(Hook):
    """Outside of the retries, so that each model has all of its tries; inside of journals and
    recordings, which keep one reply.
    """

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt
        self._model = prompt.settings.model

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply of the first model that gives one."""
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
                # Once somebody has been given a part of a reply, no other model goes on with it.
                if request.pieces or not has_next:
                    error.message += "".join(f"; before, {one}: {failed[one]}" for one in failed)
                    raise
                failed[name] = error.message
                continue
            if failed:
                _tell(next(iter(failed)), name, next(iter(failed.values())))
            if model == self._prompt.settings.model:
                return reply
            return replace(reply, model=reply.model or name, fallback=name)
        raise AssertionError("a request has a model")

    def _models(self, request: Request) -> Iterator[tuple[str | None, bool]]:
        """The models that may answer, each with whether there is one behind it."""
        settings = self._prompt.settings
        models = list(dict.fromkeys((settings.model, *(settings.fallback or ()))))
        # A model that a journal has kept may be one that the script no longer names.
        is_named = request.model in models
        models = models[models.index(request.model) :] if is_named else [request.model]
        return ((model, model != models[-1]) for model in models)


def hook_for(prompt: PromptRun) -> FallbackHook | None:
    """What asks the next model, where the prompt names some."""
    return FallbackHook(prompt) if prompt.settings.fallback else None


def _tell(failed: str, model: str, reason: str) -> None:
    """Reports once that one model answers in the place of another."""
    if (failed, model) not in _told:
        _told.add((failed, model))
        note(f"{quote(failed)} did not answer, so {quote(model)} is asked: {reason}")
