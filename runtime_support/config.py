"""Settings: which model answers, and how.

    configure(provider="openai", model="gpt-4o-mini")       for the process
    prompt(..., options={"temperature": 0})                 for one prompt

A setting comes from the first of: the prompt's options, `configure`, the environment
(`SAFT_MODEL`, `SAFT_TEMPERATURE`, ...), `[tool.saft]` of the nearest pyproject.toml, the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal

from runtime_support.checks import check
from runtime_support.errors import CheckError, ConfigError
from runtime_support.exchange import Provider, Structured
from runtime_support.names import did_you_mean, listed
from runtime_support.values import brief, is_number, is_object, plain

SAMPLING = ("temperature", "top_p", "max_tokens", "seed", "stop", "extra")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default; None leaves it to the provider. `timeout` is in seconds."""

    provider: str | Provider | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    system: str | None = None
    timeout: float = 120.0
    retries: int = 2
    repairs: int = 1
    max_tool_rounds: int = 8
    max_tool_calls: int = 32
    structured: Structured = "auto"
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def sampling(self) -> dict[str, Any]:
        """The sampling options that are set."""
        options = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in options.items() if value not in (None, {})}


_TYPES: dict[str, Any] = {
    "provider": str,
    "model": str,
    "base_url": str,
    "api_key_env": str,
    "temperature": float,
    "top_p": float,
    "max_tokens": int,
    "seed": int,
    "stop": str | list[str],
    "system": str,
    "timeout": float,
    "retries": int,
    "repairs": int,
    "max_tool_rounds": int,
    "max_tool_calls": int,
    "structured": Literal["auto", "on", "off"],
    "extra": dict[str, Any],
}

_MINIMUM: dict[str, float] = {
    "temperature": 0,
    "top_p": 0,
    "max_tokens": 1,
    "timeout": 0.001,
    "retries": 0,
    "repairs": 0,
    "max_tool_rounds": 0,
    "max_tool_calls": 0,
}

_MAXIMUM: dict[str, float] = {"top_p": 1}

# What is no text in the environment is read from it by this.
_FROM_TEXT: dict[Any, Any] = {float: float, int: int}
_VARIABLES = {f"SAFT_{name.upper()}": name for name in _TYPES if name not in ("stop", "extra")}

assert [own.name for own in fields(Settings)] == list(_TYPES)

_configured: dict[str, Any] = {}
_last: tuple[Settings, dict[str, Any], Settings] = (Settings(), {}, Settings())


def configure(**settings: Any) -> None:
    """Sets options for every prompt of the process; None takes one back.

    `provider` is a name or an object with `complete(request) -> reply`. ConfigError names an
    unknown or ill-typed setting.
    """
    global _configured
    checked = {
        name: None if value is None else checked_option(name, value, "configure")
        for name, value in settings.items()
    }
    merged = {**_configured, **checked}
    _configured = {name: value for name, value in merged.items() if value is not None}


def settings_for(options: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force for a prompt with these options."""
    options = plain(options)
    if options is not None and not is_object(options):
        raise ConfigError(f"the options of a prompt are an object, got {brief(options)}")
    variables = tuple(map(os.environ.get, _VARIABLES))
    settings = _with_configured(_from_surroundings(variables, _working_directory()))
    if not options:
        return settings
    checked = {name: checked_option(name, plain(v), "option") for name, v in options.items()}
    return replace(settings, **checked)


def _with_configured(settings: Settings) -> Settings:
    """The settings with those of `configure`; the last answer is kept."""
    global _last
    below, configured, merged = _last
    if below is not settings or configured is not _configured:
        merged = replace(settings, **_configured) if _configured else settings
        _last = settings, _configured, merged
    return merged


def checked_option(name: str, value: Any, origin: str) -> Any:
    """The value of an option, or ConfigError when there is no such option or it does not fit."""
    type_ = _TYPES.get(name)
    if type_ is None:
        hint = did_you_mean(name, _TYPES) or f"the options are {listed(_TYPES, limit=20)}"
        raise ConfigError(f"{origin}: no option `{name}`", setting=name, hint=hint)
    if name == "provider" and isinstance(value, Provider):
        return value
    try:
        checked = check(value, type_, path=f"{origin} {name}")
    except CheckError as error:
        raise ConfigError(error.message, setting=name) from None
    minimum = _MINIMUM.get(name)
    if minimum is not None and is_number(checked) and not checked >= minimum:
        message = f"{origin} {name}: expected {minimum} or more, got {brief(checked)}"
        raise ConfigError(message, setting=name)
    maximum = _MAXIMUM.get(name)
    if maximum is not None and is_number(checked) and not checked <= maximum:
        message = f"{origin} {name}: expected {maximum} or less, got {brief(checked)}"
        raise ConfigError(message, setting=name)
    if name == "provider":
        check_provider_name(str(checked), origin)
    return checked


def check_provider_name(name: str, origin: str) -> None:
    """ConfigError when no provider has this name."""
    from runtime_support.providers import NAMES

    if name not in NAMES:
        hint = did_you_mean(name, NAMES) or f"the providers are {listed(NAMES)}"
        raise ConfigError(f"{origin}: no provider `{name}`", setting="provider", hint=hint)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep  # it was removed, and with it the project file that may have been there


@lru_cache(maxsize=32)
def _from_surroundings(variables: tuple[str | None, ...], directory: str) -> Settings:
    found = _from_project(directory)
    for (variable, name), text in zip(_VARIABLES.items(), variables, strict=True):
        if text:
            found[name] = checked_option(name, _read_text(variable, name, text), variable)
    return Settings(**found)


def _read_text(variable: str, name: str, text: str) -> Any:
    read = _FROM_TEXT.get(_TYPES[name])
    if read is None:
        return text
    try:
        return read(text)
    except ValueError:
        word = "an int" if read is int else "a number"
        raise ConfigError(f"{variable}: expected {word}, got {brief(text)}", setting=name) from None


def _from_project(directory: str) -> dict[str, Any]:
    """`[tool.saft]` of the pyproject.toml in this directory or the nearest one above."""
    while True:
        path = os.path.join(directory, "pyproject.toml")
        if os.path.isfile(path):
            return _read_project(path)
        parent = os.path.dirname(directory)
        if parent == directory:
            return {}
        directory = parent


def _read_project(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    section = table.get("tool", {}).get("saft", {})
    return {
        name: checked_option(name, value, f"{path} [tool.saft]") for name, value in section.items()
    }
