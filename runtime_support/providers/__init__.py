"""Finds the provider for given settings.

    live_provider(Settings(provider="openai", base_url="http://127.0.0.1:8080/v1"))
    PromptRun(settings, place).provider     the same provider, created at first use (`_core.hooks`)

A provider is any object with `complete(request) -> reply`. Connections to a server are created once
per address and key, and an embedded model once per file. All threads share them; a forked process
creates its own.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from runtime_support._core.hooks import Hook, load_part
from runtime_support._core.messages import StreamingProvider
from runtime_support._values.context import after_fork
from runtime_support.errors import ConfigError

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun, SendRequest
    from runtime_support._core.messages import Provider, ReplyStream, Request
    from runtime_support._core.positions.frames import Place
    from runtime_support._core.settings import Settings, WireName
    from runtime_support.providers._server import Server


class _Preset(NamedTuple):
    """A known provider: the environment variable of its API key, its address and its default model.

    If `models` is set, the API key makes the provider the default only for models whose names start
    with `models`. `wire` names the API that the provider's requests use.
    """

    variable: str
    address: str | None
    model: str | None
    models: str | None = None
    wire: WireName | None = None

    def checked_model(self, name: str, settings: Settings) -> str:
        """Returns the preset's default model, or else the model in the settings.

        Raises ConfigError if neither names a model.
        """
        model = self.model or settings.model
        if model is None:
            raise ConfigError(
                f"the provider {name} has no default model",
                setting="model",
                hint="set `model`, or SAFT_MODEL, to the one that should answer",
            )
        return model


# In the order in which API keys are looked up.
PRESETS = {
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
    "anthropic": _Preset(
        "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1", None, models="claude-", wire="messages"
    ),
}

# Servers by provider, address, key variable and package, each with its API key.
_made: dict[tuple[str | None, ...], tuple[str | None, Server]] = {}
_MOST_MADE = 64
_lock = threading.Lock()


def _forget() -> None:
    """Replaces the lock in a forked process, where a thread that no longer exists may hold it."""
    global _lock
    _lock = threading.Lock()


after_fork(_forget)


def own_model(provider: Provider) -> str:
    """Returns the name of the provider's default model, or else a name made from its class."""
    name: str = getattr(provider, "default_model", "")
    return name or type(provider).__name__.removesuffix("Provider").lower()


def provider_and_model(settings: Settings) -> tuple[str, str]:
    """Returns the names of the provider and the model for these settings.

    The provider is not created.
    """
    chosen = settings.provider or _default_name(settings)
    if not isinstance(chosen, str):
        return type(chosen).__name__, settings.model or own_model(chosen)
    preset = PRESETS.get(chosen)
    return chosen, settings.model or (preset and preset.model) or chosen


def live_provider(settings: Settings, place: Place | None = None) -> Provider:
    """Returns the provider for these settings. `place` is where the prompt is in the script.

    Raises ConfigError if there is no provider.
    """
    chosen = settings.provider
    if chosen is None:
        chosen = _default_name(settings)
    if not isinstance(chosen, str):
        return chosen
    match chosen:
        case "local" | "mock":
            return load_part(chosen).configured(settings)
        case "unset":
            raise _no_provider(is_chosen=settings.provider == "unset")
        case _:
            return _openai_provider(chosen, settings, place)


class RetryHook(Hook):
    """Retries the failed requests of a prompt, if its provider supports retries."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the reply of the first successful attempt."""
        provider = self._prompt.provider
        if isinstance(provider, StreamingProvider):
            return provider.stream_with_retries(request, proceed)
        return proceed(request)


def hook_for(prompt: PromptRun) -> RetryHook:
    """Returns the hook that retries the requests of a prompt."""
    return RetryHook(prompt)


def _no_provider(*, is_chosen: bool) -> ConfigError:
    """Returns the error for a prompt without a provider; its hint says how to configure one.

    `is_chosen` is true if the setting `provider` is `unset`.
    """
    if is_chosen:
        return ConfigError(
            "no model answers, as the setting `provider` is `unset`",
            setting="provider",
            hint="choose another one, as in SAFT_PROVIDER=mock",
        )
    lacking = load_part("local").lacking()
    return ConfigError(
        "no model is configured",
        setting="provider",
        hint=(
            "set OPENAI_API_KEY or OPENROUTER_API_KEY, or SAFT_BASE_URL for another server, or "
            "SAFT_PROVIDER=gemini with GEMINI_API_KEY and SAFT_MODEL, or anthropic with "
            "ANTHROPIC_API_KEY; SAFT_PROVIDER=mock answers by fixed rules, without a key; "
            f"for a small model on this machine, {' and '.join(lacking)}"
        ),
    )


def _default_name(settings: Settings) -> str:
    """Returns the name of the default provider.

    It is `openai` if the settings name a server or a key variable, or else the first provider with
    an API key, or else the embedded model. If none of them is available, it is `unset`.
    """
    if settings.base_url or settings.api_key_env:
        return "openai"
    for name, preset in PRESETS.items():
        has_model = preset.models is None or (settings.model or "").startswith(preset.models)
        if has_model and os.environ.get(preset.variable):
            return name
    return "local" if load_part("local").is_available() else "unset"


def _openai_provider(name: str, settings: Settings, place: Place | None) -> Provider:
    from runtime_support.providers._server import configured_server, package_of

    preset = PRESETS[name]
    model = preset.checked_model(name, settings)
    variable = settings.api_key_env or preset.variable
    wire = settings.api or preset.wire
    package = package_of(wire)
    where = (name, settings.base_url or os.environ.get("OPENAI_BASE_URL"), variable, package)
    key = os.environ.get(variable)
    with _lock:
        made = _made.get(where)
        if made is None or made[0] != key:
            made = key, configured_server(settings, preset.address, variable, package)
            _made[where] = made
            while len(_made) > _MOST_MADE:
                del _made[next(iter(_made))]
    openai = load_part("openai")
    spoken = None if wire is None else openai.wire_named(wire)
    key_of_cache = "" if place is None else place.name()
    return openai.OpenAIProvider(settings, made[1], model, spoken, key_of_cache, name)
