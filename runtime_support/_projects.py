"""What files of a project and of its user say: `[tool.saft]`, and which folders are trusted.

    read_section(path)               the table `[tool.saft]` of a pyproject.toml
    is_trusted(folder, user_file())  whether the user has named the folder

    settings_of_project(path)        its settings, and those of the user's own file
    check_word(...)                  whether a project file may say where prompts and keys go

Loaded only where there is such a file, or a variable that nothing reads.
"""

from __future__ import annotations

import os
from typing import Any

from runtime_support._names import did_you_mean, near
from runtime_support._notes import note
from runtime_support._schema import check
from runtime_support._settings import (
    KEYS,
    NO_TEXT,
    SENDING,
    TYPES,
    Settings,
    checked_option,
    new_name,
    user_file,
)
from runtime_support._values import brief, is_object, quote
from runtime_support.errors import CheckError, ConfigError

# What a project says to the compiler.
OF_THE_COMPILER = ("overlap", "pure", "root", "in-place")
# What a part of the runtime reads for itself.
OF_PARTS = ("mcp",)

# What names the folders in the user's own file.
TRUSTED = "trusted"
# The variables that were reported to the user.
_told: set[str] = set()



def read_section(path: str) -> dict[str, Any]:
    """The table `[tool.saft]` of a project file; ConfigError when it is none, or cannot be read."""
    tool = read_toml(path).get("tool", {})
    section: Any = tool.get("saft", {}) if is_object(tool) else {}
    if not is_object(section):
        raise ConfigError(f"{path} [tool.saft]: expected a table, got {brief(section)}")
    return section


def is_of_this_machine(address: str) -> bool:
    """Whether an address is of this machine itself."""
    import ipaddress
    from urllib.parse import urlsplit

    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_trusted(folder: str, trusting: str) -> bool:
    """Whether the user's own file names the folder, or one that it is in."""
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
    """What a file says; ConfigError when it cannot be read."""
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None


def settings_of_user(path: str) -> dict[str, Any]:
    """What the user's own file says; a name that is not a setting may be one of another version."""
    found: dict[str, Any] = {}
    for name, value in read_toml(path).items():
        if name in TYPES or new_name(name):
            found[name] = checked_option(name, value, path)
        elif name != TRUSTED:
            hint = did_you_mean(name, (*TYPES, TRUSTED)) or "docs/configuration.md lists them"
            note(f"{path} sets `{name}`, which is not a setting; {hint}")
    return found


def settings_of_project(path: str) -> dict[str, Any]:
    return {
        name: checked_option(name, value, f"{path} [tool.saft]")
        for name, value in read_section(path).items()
        if name not in (*OF_THE_COMPILER, *OF_PARTS)
    }


def check_word(path: str, chosen: tuple[str, ...], settings: Settings, said: set[str]) -> None:
    """ConfigError when a project file alone decides where prompts and keys go.

    Whoever runs a program in a folder that came from elsewhere has not read its project file. A
    server on this machine that no key would be sent to is let through.
    """
    open_ = [name for name in chosen if name not in said]
    is_sending = settings.provider in SENDING
    is_replaying = bool(os.environ.get("SAFT_REPLAY")) and not os.environ.get("SAFT_RECORD")
    if not open_ or not is_sending or is_replaying:
        return
    has_key = settings.api_key_env is not None or any(map(os.environ.get, KEYS))
    if not has_key and is_of_this_machine(settings.base_url or ""):
        return
    folder, trusting = os.path.dirname(path), user_file()
    if is_trusted(folder, trusting):
        return
    name = open_[0]
    raise ConfigError(
        f"{path} [tool.saft] sets `{name}`: confirm it before prompts and keys "
        "are sent there",
        setting=name,
        hint=f"set SAFT_{name.upper()}, or write `trusted = [{quote(folder)}]` into {trusting}",
    )


def tell_unknown_variables(names: frozenset[str], known: tuple[str, ...]) -> None:
    """Notes on standard error, once each, which SAFT_ variables nothing reads.

    That is not an error, as they may belong to another tool. Raises a ConfigError that says the new
    name of one that was renamed.
    """
    for name in sorted(names.difference(_told)):
        _refuse_old_variable(name)
        _told.add(name)
        setting = name.removeprefix("SAFT_")
        close = near(setting, [one.removeprefix("SAFT_") for one in known], 1)
        if setting.lower() in NO_TEXT:
            hint = f"`{setting.lower()}` is set in code, or under [tool.saft] in pyproject.toml"
        elif close:
            hint = f"did you mean SAFT_{close[0]}?"
        else:
            hint = "docs/configuration.md lists those that are read"
        note(f"the environment sets {name}, which nothing reads; {hint}")


def _refuse_old_variable(name: str) -> None:
    from runtime_support._renamed import VARIABLES as new_names
    from runtime_support._renamed import renamed

    if name in new_names:
        message = f"the environment sets {name}, which nothing reads"
        hint = renamed(name, new_names[name])
        raise ConfigError(message, setting=name.removeprefix("SAFT_").lower(), hint=hint)
