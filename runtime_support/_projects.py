"""What files of a project and of its user say: `[tool.saft]`, and which folders are trusted.

    read_section(path)               the table `[tool.saft]` of a pyproject.toml
    is_trusted(folder, user_file())  whether the user has named the folder

Loaded only where there is such a file.
"""

from __future__ import annotations

import os
from typing import Any

from runtime_support._schema import check
from runtime_support._values import brief, is_object
from runtime_support.errors import CheckError, ConfigError

# What names the folders in the user's own file.
TRUSTED = "trusted"


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
