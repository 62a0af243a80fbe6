"""Who answers: the providers by name, and the one for given settings.

    provider_for(Settings(provider="openai", base_url="http://127.0.0.1:8080/v1"))

A provider is anything with `complete(request) -> reply`. Those that hold connections or models are
made once for each configuration and shared by all threads.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from runtime_support.errors import ConfigError

if TYPE_CHECKING:
    from runtime_support.config import Settings
    from runtime_support.exchange import Provider

OPENAI_KEY = "OPENAI_API_KEY"
OPENROUTER_KEY = "OPENROUTER_API_KEY"
OPENROUTER_URL = "https://openrouter.ai/api/v1"

_made: dict[tuple[Any, ...], Provider] = {}
_lock = threading.Lock()


def provider_for(settings: Settings) -> Provider:
    """The provider that answers under these settings, recording or replaying if so asked."""
    replaying, recording = os.environ.get("SAFT_REPLAY"), os.environ.get("SAFT_RECORD")
    if not replaying and not recording:
        return live_provider(settings)
    from runtime_support.providers.replay import Replaying

    return Replaying(replaying or None, recording or None, lambda: live_provider(settings))


def live_provider(settings: Settings) -> Provider:
    """The provider that really answers."""
    chosen = settings.provider
    if chosen is None:
        chosen = _default_name(settings)
    if not isinstance(chosen, str):
        return chosen
    key = (chosen, *_connection(chosen, settings))
    provider = _made.get(key)
    if provider is not None:
        return provider
    with _lock:
        if key not in _made:
            _made[key] = _make(chosen, settings)
        return _made[key]


def _default_name(settings: Settings) -> str:
    """What there is: a key, or the embedded model."""
    if settings.base_url or settings.api_key_env or os.environ.get(OPENAI_KEY):
        return "openai"
    if os.environ.get(OPENROUTER_KEY):
        return "openrouter"
    from runtime_support.providers.local import is_available

    return "local" if is_available() else "none"


def _connection(name: str, settings: Settings) -> tuple[Any, ...]:
    """What a provider is made from, so that a change of it makes another one."""
    if name in ("openai", "openrouter"):
        variable = settings.api_key_env or (OPENAI_KEY if name == "openai" else OPENROUTER_KEY)
        secret = os.environ.get(variable)
        base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL")
        return (base_url, variable, secret, settings.timeout, settings.retries)
    if name == "local":
        return (settings.model, os.environ.get("SAFT_LOCAL_MODEL"), settings.timeout)
    return ()


def _make(name: str, settings: Settings) -> Provider:
    match name:
        case "openai":
            from runtime_support.providers.openai import OpenAIProvider

            return OpenAIProvider.configured(settings, OPENAI_KEY)
        case "openrouter":
            from runtime_support.providers.openai import OpenAIProvider

            return OpenAIProvider.configured(
                settings, OPENROUTER_KEY, OPENROUTER_URL, "openai/gpt-4o-mini"
            )
        case "local":
            from runtime_support.providers.local import LocalProvider

            return LocalProvider(settings)
        case "mock":
            from runtime_support.providers.mock import MockProvider

            return MockProvider()
        case "none":
            from runtime_support.providers.none import NoProvider

            return NoProvider()
        case _:
            raise ConfigError(
                f"provider `{name}` cannot be chosen by name",
                setting="provider",
                hint="make one in Python: configure(provider=Scripted([...]))",
            )
