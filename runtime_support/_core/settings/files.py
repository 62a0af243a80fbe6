"""Reads the project file's `[tool.saft]` and the user's own file with its trusted folders.

    read_section(path)               the table `[tool.saft]` of a pyproject.toml
    is_trusted(folder, user_file())  whether the user trusts the folder

    read_user(path, known)           the settings in the user's own file
    check_word(...)                  raises if only the project file chooses where prompts go

This module is loaded only if one of these files exists, or if there is an unknown SAFT_ variable.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from runtime_support._core.notes import note
from runtime_support._schema import check
from runtime_support._values.kinds import brief, is_object, quote
from runtime_support._values.names import did_you_mean, near
from runtime_support._values.renamed import SETTINGS, VARIABLES, renamed
from runtime_support.errors import CheckError, ConfigError

_KEYS = ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY")

# The key of the trusted folders in the user's own file.
TRUSTED = "trusted"
# The variables that were reported to the user.
_told: set[str] = set()


def read_section(path: str) -> dict[str, Any]:
    """Returns the table `[tool.saft]` of a project file.

    Raises ConfigError if the file is unreadable or `[tool.saft]` is not a table.
    """
    tool = read_toml(path).get("tool", {})
    section: Any = tool.get("saft", {}) if is_object(tool) else {}
    if not is_object(section):
        raise ConfigError(f"{path} [tool.saft]: expected a table, got {brief(section)}")
    return section


def is_of_this_machine(address: str) -> bool:
    """Whether an address points to this machine."""
    import ipaddress
    from urllib.parse import urlsplit

    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_trusted(folder: str, trusting: str) -> bool:
    """Whether the user's own file, at the path `trusting`, names the folder or a parent of it."""
    if not os.path.isfile(trusting):
        return False
    named = read_toml(trusting).get(TRUSTED, [])
    try:
        folders = check(named, list[str], path=f"{trusting} {TRUSTED}")
    except CheckError as error:
        raise ConfigError(error.message) from None
    inside = os.path.join(os.path.realpath(folder), "")
    places = (os.path.realpath(os.path.expanduser(place)) for place in folders)
    return any(inside.startswith(os.path.join(place, "")) for place in places)


def read_toml(path: str) -> dict[str, Any]:
    """Returns the content of a TOML file. Raises ConfigError if it cannot be read."""
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None


def read_user(path: str, known: Collection[str]) -> dict[str, Any]:
    """Returns the settings in the user's own file whose names are `known` or renamed.

    Reports any other name on standard error without failing: another version may know the name.
    """
    found = {name: one for name, one in read_toml(path).items() if name != TRUSTED}
    for name in sorted(found.keys() - known - SETTINGS.keys()):
        hint = did_you_mean(name, (*known, TRUSTED)) or "docs/configuration.md lists them"
        note(f"{path} sets `{name}`, which is not a setting; {hint}")
        del found[name]
    return found


def check_word(
    path: str, name: str, base_url: str | None, api_key_env: str | None, trusting: str
) -> None:
    """Raises ConfigError if an untrusted project file alone sets the server address or key.

    A user who runs a program in a folder from elsewhere may not have read its project file. The
    check allows a server on this machine if there is no key to send. It also allows replays.
    """
    is_replaying = bool(os.environ.get("SAFT_REPLAY")) and not os.environ.get("SAFT_RECORD")
    has_key = api_key_env is not None or any(map(os.environ.get, _KEYS))
    is_harmless = not has_key and is_of_this_machine(base_url or "")
    folder = os.path.dirname(path)
    if is_replaying or is_harmless or is_trusted(folder, trusting):
        return
    raise ConfigError(
        f"{path} [tool.saft] sets `{name}`: confirm it before prompts and keys are sent there",
        setting=name,
        hint=f"set SAFT_{name.upper()}, or write `trusted = [{quote(folder)}]` into {trusting}",
    )


def warn_of_unknown_variables(
    names: frozenset[str], known: Collection[str], in_code: Collection[str]
) -> None:
    """Reports unknown SAFT_ variables on standard error, once each.

    Unknown variables are no errors, because they may belong to another tool. `in_code` lists the
    settings without a variable. Raises a ConfigError with the new name if a variable was renamed.
    """
    for name in sorted(names.difference(_told)):
        setting = name.removeprefix("SAFT_")
        said = f"the environment sets {name}, which is not a setting"
        if name in VARIABLES:
            hint = renamed(name, VARIABLES[name])
            raise ConfigError(said, setting=setting.lower(), hint=hint)
        _told.add(name)
        close = near(setting, [one.removeprefix("SAFT_") for one in known], 1)
        if setting.lower() in in_code:
            hint = f"`{setting.lower()}` is set in code, or under [tool.saft] in pyproject.toml"
        elif close:
            hint = f"did you mean SAFT_{close[0]}?"
        else:
            hint = "docs/configuration.md lists the settings"
        note(f"{said}; {hint}")
