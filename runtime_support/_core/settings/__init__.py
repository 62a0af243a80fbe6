"""Settings: the provider, the model and their options.

    settings_for({"temperature": 0})        the settings in force for a prompt with these options

The module `configuration` sets them from Python.

A setting comes from the first of these sources that has it: the prompt's options, the enclosing
blocks, `configure`, the environment (`SAFT_MODEL`, `SAFT_TEMPERATURE`, ...), `[tool.saft]` of the
nearest pyproject.toml, the user's own file, `defaults` of the calling module, and the defaults in
`Settings`.
An installed package ignores the working directory's project file unless the user trusts its folder.
A project file alone cannot choose where prompts and keys are sent: see `files.check_word`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, get_args, get_type_hints

from runtime_support._core.messages import Provider, Structured
from runtime_support._core.positions.frames import Place, place_of_call
from runtime_support._schema import check
from runtime_support._values.context import current_context
from runtime_support._values.kinds import brief, is_object, plain, quote
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError, ConfigError

# The names of providers. `_SENDING` has those that send to a server; None means the default one.
PROVIDERS = ("openai", "openrouter", "gemini", "anthropic", "local", "mock", "unset")
_SENDING = (None, "openai", "openrouter", "gemini", "anthropic")

# Project keys for the compiler.
_OF_THE_COMPILER = ("overlap", "pure", "root", "in-place")
# Project keys that a part of the runtime reads itself.
_OF_PARTS = ("mcp",)

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "stop", "extra_body")

# Names of options in other tools.
OPTIONS_ELSEWHERE = {"max_completion_tokens": "max_tokens"}


# The API to use with a server that offers several.
WireName: TypeAlias = Literal["chat", "responses", "messages"]
# How much a model reasons before it answers; each model supports some of these words.
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Price(TypedDict):
    """Prices of a million tokens in US dollars.

    Without `cached_input`, tokens read from the cache cost as much as `input`.
    """

    input: float
    output: float
    cached_input: NotRequired[float]
    cache_write: NotRequired[float]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. None leaves the choice to the provider, or sets no limit.

    - Who answers: `provider`, `model`, `fallback` (the models to try in turn if `model` does not
      answer), `base_url` (the address of a compatible server), `api_key_env` (the environment
      variable that holds the key), `api` ("chat", "responses" or "messages").
    - How the model answers: `temperature`, `top_p`, `max_tokens` (of a reply), `reasoning_effort`,
      `seed`, `stop`, `system`, and `extra_body` (other keys of the request, sent unchanged).
    - Typed replies: `max_repairs` (how often a reply that does not fit is sent back),
      `enforce_schema` (whether the server enforces the schema: "auto", "on" or "off"),
      `on_truncated` ("accept" accepts a text that the token limit has cut).
    - Tools: `max_tool_rounds` and `max_tool_calls` of one prompt; `approver` (a function that
      decides about the calls of tools that need approval).
    - The exchange: `timeout` (seconds for one request), `silence` (seconds in which the server may
      send nothing), `max_retries` (after a failed request), `max_wait` (seconds to wait for an
      overloaded server), `max_reply_bytes`.
    - Rates: `requests_per_minute`, `tokens_per_minute`, `max_in_flight` (concurrent requests).
    - Budgets of the run: `budget_requests`, `budget_tokens`, and `budget_cost` in US dollars. The
      cost is computed from `prices` (of a million tokens, by model).
    """

    provider: str | Provider | None = None
    model: str | None = None
    fallback: list[str] | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api: WireName | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: Effort | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    system: str | None = None
    timeout: float = 120.0
    silence: float | None = None
    max_retries: int = 2
    max_wait: float = 300.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_reply_bytes: int = 32_000_000
    max_repairs: int = 1
    max_tool_rounds: int = 8
    max_tool_calls: int = 32
    max_in_flight: int = 16
    budget_requests: int | None = None
    budget_tokens: int | None = None
    budget_cost: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    enforce_schema: Structured = "auto"
    on_truncated: Literal["error", "accept"] = "error"
    approver: Any = None
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def sampling(self) -> dict[str, Any]:
        """Returns the sampling options that are set, by name."""
        options = {name: getattr(self, name) for name in SAMPLING}
        return {name: value for name, value in options.items() if value not in (None, {})}


def _set_type(hint: Any) -> Any:
    """Returns a setting's type without None."""
    if not isinstance(hint, UnionType):
        return hint
    return reduce(lambda a, b: a | b, (one for one in get_args(hint) if one is not NoneType))


# `checked_option` handles provider objects separately.
SETTING_TYPES = {name: _set_type(hint) for name, hint in get_type_hints(Settings).items()}
SETTING_TYPES["provider"] = str
_NAMES = frozenset(SETTING_TYPES)

_NO_LIMIT = float("inf")
_LIMITS: dict[str, tuple[float, float]] = {
    "temperature": (0, _NO_LIMIT),
    "top_p": (0, 1),
    "max_tokens": (1, _NO_LIMIT),
    "timeout": (0.001, _NO_LIMIT),
    "silence": (0.001, _NO_LIMIT),
    "max_retries": (0, _NO_LIMIT),
    "max_wait": (0, _NO_LIMIT),
    "requests_per_minute": (0.001, _NO_LIMIT),
    "tokens_per_minute": (0.001, _NO_LIMIT),
    "max_reply_bytes": (1, _NO_LIMIT),
    "max_repairs": (0, _NO_LIMIT),
    "max_tool_rounds": (0, _NO_LIMIT),
    "max_tool_calls": (0, _NO_LIMIT),
    "max_in_flight": (1, _NO_LIMIT),
    "budget_requests": (0, _NO_LIMIT),
    "budget_tokens": (0, _NO_LIMIT),
    "budget_cost": (0, _NO_LIMIT),
}

# Parsers for settings of the environment that are not texts.
_FROM_TEXT: dict[Any, Any] = {float: float, int: int}
_NO_TEXT = ("fallback", "stop", "extra_body", "prices", "approver")
VARIABLES = {f"SAFT_{name.upper()}": name for name in SETTING_TYPES if name not in _NO_TEXT}
# Other variables that the runtime or the command reads.
_OTHER_VARIABLES = (
    "SAFT_CACHE_DIR",
    "SAFT_CHROME",
    "SAFT_ON_INTERRUPTED_CALL",
    "SAFT_JOURNAL",
    "SAFT_LIVE",
    "SAFT_LOCAL_MODEL",
    "SAFT_LOG",
    "SAFT_NOW",
    "SAFT_NO_CACHE",
    "SAFT_PROJECT",
    "SAFT_RECORD",
    "SAFT_REPLAY",
    "SAFT_SERVE_TOKEN",
    "SAFT_TIMELINE",
    "SAFT_VERBOSE",
    "SAFT_USAGE",
)
_lock = threading.Lock()
_configured: dict[str, Any] = {}
# The inputs of the last merge, and the merged settings.
_last: tuple[Settings, dict[str, Any], Mapping[str, Any], tuple[dict[str, Any], ...], Settings]
_last = (Settings(), {}, {}, (), Settings())


def replace_configured(change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Replaces the settings of the process by `change(settings)`.

    Returns the settings from before.
    """
    global _configured
    with _lock:
        before = _configured
        _configured = set_ones(change(before))
    return before


class ModuleDefaults:
    """A module's settings for its own prompts."""

    __slots__ = ("settings",)

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings


# The name of a module's own defaults.
DEFAULTS = "__saft_defaults__"


def settings_for(options: Mapping[str, Any] | None = None, place: Place | None = None) -> Settings:
    """Returns the settings in force for sending a prompt with these options.

    `place` is the code that sends the prompt, by default the caller. Raises a ConfigError if only
    an untrusted project file chooses where prompts and keys go.
    """
    settings, found = _in_force(options, place)
    if found.chosen_by_project and settings.provider in _SENDING:
        said = settings_in_force(options).keys() | current_context().settings_around.keys()
        chosen = next((name for name in found.chosen_by_project if name not in said), None)
        if chosen is not None:
            from runtime_support._core.settings.files import check_word

            where = settings.base_url, settings.api_key_env
            check_word(found.path, chosen, *where, user_file())
    return settings


def settings_to_show(options: Mapping[str, Any] | None = None) -> Settings:
    """Returns the settings of a prompt that is shown and not sent.

    The project file may then choose a server, even if the user does not trust the file.
    """
    return _in_force(options, None)[0]


def _in_force(
    options: Mapping[str, Any] | None, place: Place | None
) -> tuple[Settings, _AmbientSettings]:
    options = plain(options)
    if options is not None and not is_object(options):
        raise ConfigError(f"the options of a prompt are an object, got {brief(options)}")
    # Looking up missing variables takes longer than listing the existing ones.
    there = set(os.environ)
    variables = tuple(os.environ.get(one) if one in there else None for one in VARIABLES)
    place = place or place_of_call()
    own = None if place is None else place.names.get(DEFAULTS)
    is_foreign = place is not None and _is_installed(place.code.co_filename)
    is_foreign = is_foreign and "SAFT_PROJECT" not in there
    files = _stamped(_project_file(working_directory())), _stamped(user_file())
    names = frozenset(one for one in there if one.startswith("SAFT_"))
    found = _read_ambient(variables, names, files, own, is_foreign)
    settings = _with_configured(found.settings)
    if options:
        checked = {n: checked_option(n, plain(one), "option") for n, one in options.items()}
        settings = replace(settings, **set_ones(checked))
    return settings, found


def set_ones(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that are set, which are those with a value other than None."""
    return {name: value for name, value in settings.items() if value is not None}


def settings_in_force(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the settings that the program makes by `configure`, by blocks and by `options`."""
    return _merged(_configured, *current_context().settings, plain(options) or {})


def _merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Merges settings. Later parts override earlier parts, and None removes a setting."""
    merged: dict[str, Any] = {}
    for part in parts:
        merged.update(part)
    return set_ones(merged)


def ambient_names(options: Mapping[str, Any] | None) -> frozenset[str]:
    """Returns the names of the settings that the program itself does not set."""
    return _NAMES.difference(settings_in_force(options))


def _with_configured(settings: Settings) -> Settings:
    """Returns the settings, overridden by those of `configure` and of the enclosing blocks.

    The last result is cached.
    """
    global _last
    context = current_context()
    parts = settings, _configured, context.settings_around, context.settings
    *last, merged = _last
    if any(one is not other for one, other in zip(parts, last, strict=True)):
        _, process, around, of_blocks = parts
        changes = _merged(process, around, *of_blocks)
        merged = replace(settings, **changes) if changes else settings
        _last = *parts, merged
    return merged


def checked_option(name: str, value: Any, origin: str) -> Any:
    """Returns the checked value of an option, or None if the option is to be unset.

    Raises ConfigError if the option is unknown or the value does not fit.
    """
    type_ = _type_of(name, origin)
    if value is None:
        return None
    if name == "provider" and isinstance(value, Provider) and not isinstance(value, type):
        return value
    if name == "approver":
        return _checked_approver(value, origin)
    # The names of variables and command options already contain the setting's name.
    place = origin if origin.startswith(("SAFT_", "--")) else f"{origin} {name}"
    try:
        # Most are texts and numbers, which do not need the checker.
        is_plain = type(value) is type_
        checked: Any = value if is_plain else check(value, type_, path=place)
    except CheckError as error:
        hint = _new_value(name, value)
        raise ConfigError(error.message, setting=name, hint=hint) from None
    if name in _LIMITS and not _LIMITS[name][0] <= checked <= _LIMITS[name][1]:
        least, most = _LIMITS[name]
        wanted = f"{most} or less" if checked > most else f"{least} or more"
        message = f"{place}: expected {wanted}, got {brief(checked)}"
        raise ConfigError(message, setting=name)
    if name == "prices" and any(cost < 0 for one in checked.values() for cost in one.values()):
        raise ConfigError(f"{origin} prices: a price is 0 or more", setting=name)
    if name == "fallback":
        if not checked:
            raise ConfigError(f"{place}: the list names no model", setting=name)
        twice = [one for one in checked if checked.count(one) > 1]
        if twice:
            raise ConfigError(f"{place}: {quote(twice[0])} is named twice", setting=name)
    if name == "provider":
        check_provider_name(str(checked), origin)
    return checked


def _type_of(name: str, origin: str) -> Any:
    if name in SETTING_TYPES:
        return SETTING_TYPES[name]
    known = f"the options are {listed(SETTING_TYPES, limit=20)}"
    near = did_you_mean(OPTIONS_ELSEWHERE.get(name, name), SETTING_TYPES)
    hint = _new_name(name) or near or known
    raise ConfigError(f"{origin}: no option `{name}`", setting=name, hint=hint)


def _new_name(name: str) -> str | None:
    """Returns a hint with the new name if a setting was once called `name`."""
    from runtime_support._values.renamed import SETTINGS, renamed

    return renamed(name, SETTINGS[name]) if name in SETTINGS else None


def _new_value(setting: str, value: object) -> str | None:
    """Returns a hint with the new name if a value of the setting was once called `value`."""
    from runtime_support._values.renamed import VALUES, renamed

    new = VALUES.get(setting, {}).get(value) if isinstance(value, str) else None
    return renamed(str(value), new) if new else None


def _checked_approver(value: Any, origin: str) -> Any:
    """Returns the checked approver. Only Python code may set it, not a script or a file."""
    if origin not in ("configure", "setting"):
        hint = "set it in Python: configure(approver=ask_the_desk)"
        raise ConfigError(f"{origin}: no option `approver`", setting="approver", hint=hint)
    if not callable(value) or isinstance(value, type):
        message = f"{origin} approver: expected a function, got {brief(value)}"
        raise ConfigError(message, setting="approver")
    return value


def check_provider_name(name: str, origin: str) -> None:
    """Raises ConfigError if no provider has this name."""
    if name not in PROVIDERS:
        near = _new_value("provider", name) or did_you_mean(name, PROVIDERS)
        hint = near or f"the providers are {listed(PROVIDERS)}"
        if name == "scripted":
            hint = "make one in Python: configure(provider=Scripted([...]))"
        raise ConfigError(f"{origin}: no provider `{name}`", setting="provider", hint=hint)


def working_directory() -> str:
    """Returns the directory where the search for a project file starts."""
    try:
        return os.environ.get("SAFT_PROJECT") or os.getcwd()
    except FileNotFoundError:
        return os.sep  # the directory was removed


@dataclass(frozen=True, slots=True)
class _AmbientSettings:
    """The settings of the environment, the project file, the user's file and the module.

    The project file is at `path`. `chosen_by_project` contains `base_url` or `api_key_env` if the
    project file sets it and the environment does not.
    """

    settings: Settings
    path: str
    chosen_by_project: tuple[str, ...]


@lru_cache(maxsize=256)
def _is_installed(file: str) -> bool:
    """Whether a file is part of an installed package.

    The package saftc does not count, since it works on the user's project.
    """
    parts = file.replace(os.sep, "/").split("/")
    found = [i for i, part in enumerate(parts) if part in ("site-packages", "dist-packages")]
    return bool(found) and parts[found[-1] + 1] != "saftc"


# A file and its modification time; None if there is no file.
_Stamped: TypeAlias = tuple[str, int] | None


def _stamped(path: str | None) -> _Stamped:
    try:
        return None if path is None else (path, os.stat(path).st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=32)
def _read_ambient(
    variables: tuple[str | None, ...],
    names: frozenset[str],
    files: tuple[_Stamped, _Stamped],
    own: ModuleDefaults | None,
    is_foreign: bool,
) -> _AmbientSettings:
    """Reads the settings of the environment, the project file and the user's file.

    `names` are all SAFT_ variables that are set, known or not. `own` are the module's defaults. If
    the module `is_foreign`, which means part of an installed package, the project file counts only
    if the user trusts its folder.
    """
    unknown = names.difference(VARIABLES, _OTHER_VARIABLES)
    path, own_path = (file and file[0] for file in files)
    project: dict[str, Any] = {}
    user: dict[str, Any] = {}
    if unknown or path or own_path:
        from runtime_support._core.settings import files as of_files

        known = (*VARIABLES, *_OTHER_VARIABLES)
        of_files.warn_of_unknown_variables(unknown, known, _NO_TEXT)
        if path and is_foreign and not of_files.is_trusted(os.path.dirname(path), user_file()):
            path = None
        if path:
            others, where = (*_OF_THE_COMPILER, *_OF_PARTS), f"{path} [tool.saft]"
            said = of_files.read_section(path).items()
            project = {n: checked_option(n, one, where) for n, one in said if n not in others}
        if own_path:
            said = of_files.read_user(own_path, SETTING_TYPES).items()
            user = {name: checked_option(name, one, own_path) for name, one in said}
    of_variables = {
        name: checked_option(name, setting_from_text(name, text, variable), variable)
        for (variable, name), text in zip(VARIABLES.items(), variables, strict=True)
        if text
    }
    chosen = tuple(n for n in ("base_url", "api_key_env") if n in project and n not in of_variables)
    of_module = {} if own is None else own.settings
    settings = Settings(**{**of_module, **user, **project, **of_variables})
    return _AmbientSettings(settings, path or "", chosen)


def setting_from_text(name: str, text: str, origin: str) -> Any:
    """Parses a setting's text. Raises ConfigError if a number is expected and not found."""
    read = _FROM_TEXT.get(SETTING_TYPES[name])
    if read is None:
        return text
    try:
        return read(text)
    except ValueError:
        wanted = f"{'an int' if read is int else 'a number'} of {_LIMITS[name][0]} or more"
        raise ConfigError(f"{origin}: expected {wanted}, got {brief(text)}", setting=name) from None


def _project_file(directory: str) -> str | None:
    """Returns the path of the nearest pyproject.toml in this directory or above, if any."""
    while True:
        path = os.path.join(directory, "pyproject.toml")
        if os.path.isfile(path):
            return path
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def user_file() -> str:
    """Returns the path of the file with the user's settings and trusted folders.

    The file need not exist.
    """
    if sys.platform == "linux" and "ANDROID_ROOT" not in os.environ:
        # The path of platformdirs, without its slow import.
        base = os.environ.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")
        return os.path.join(base, "saft", "config.toml")
    from platformdirs import user_config_path

    return str(user_config_path("saft", appauthor=False) / "config.toml")
