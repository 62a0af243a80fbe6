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
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from runtime_support._core.positions.frames import Place, place_of_call
from runtime_support._core.settings.fields import (
    OF_THE_COMPILER,
    PROVIDERS,
    SETTING_TYPES,
    Effort,
    Price,
    Settings,
    WireName,
)
from runtime_support._values.context import current_context
from runtime_support._values.predicates import plain
from runtime_support.errors import ConfigError

__all__ = ["PROVIDERS", "SETTING_TYPES", "Effort", "Price", "Settings", "WireName"]

# The providers that send to a server; None means the default one.
_SENDING = (None, "openai", "openrouter", "gemini", "anthropic")

# Project keys that a part of the runtime reads itself.
_OF_PARTS = ("mcp",)

# Settings of which any text is a value.
_TEXTS = {name for name, type_ in SETTING_TYPES.items() if type_ is str} - {"provider"}
_NAMES = frozenset(SETTING_TYPES)

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
    if options is not None and options != {}:
        from runtime_support._core.settings.checks import checked_options

        settings = replace(settings, **checked_options(options))
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


def working_directory() -> str:
    """Returns the directory where the search for a project file starts.

    Raises ConfigError if SAFT_PROJECT names a directory that does not exist.
    """
    project = os.environ.get("SAFT_PROJECT")
    if project:
        if not os.path.isdir(project):
            raise ConfigError(f"SAFT_PROJECT: there is no folder {project}")
        return project
    try:
        return os.getcwd()
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
        from runtime_support._core.settings.checks import checked_option

        known = (*VARIABLES, *_OTHER_VARIABLES)
        of_files.warn_of_unknown_variables(unknown, known, _NO_TEXT)
        if path and is_foreign and not of_files.is_trusted(os.path.dirname(path), user_file()):
            path = None
        if path:
            others, where = (*OF_THE_COMPILER, *_OF_PARTS), f"{path} [tool.saft]"
            said = of_files.read_section(path).items()
            project = {n: checked_option(n, one, where) for n, one in said if n not in others}
        if own_path:
            said = of_files.read_user(own_path, SETTING_TYPES).items()
            user = {name: checked_option(name, one, own_path) for name, one in said}
    of_variables: dict[str, Any] = {
        name: text if name in _TEXTS else _checked_variable(name, text, variable)
        for (variable, name), text in zip(VARIABLES.items(), variables, strict=True)
        if text
    }
    chosen = tuple(n for n in ("base_url", "api_key_env") if n in project and n not in of_variables)
    of_module = {} if own is None else own.settings
    settings = Settings(**{**of_module, **user, **project, **of_variables})
    return _AmbientSettings(settings, path or "", chosen)


def _checked_variable(name: str, text: str, variable: str) -> Any:
    from runtime_support._core.settings.checks import checked_option, setting_from_text

    return checked_option(name, setting_from_text(name, text, variable), variable)


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
