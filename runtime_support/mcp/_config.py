"""Reads which MCP servers a project configures, and checks that the user trusts them.

    configured(folder)["docs"]        how to connect to the server `docs`
    check_trusted(one)                ConfigError if the user has not confirmed the server

Servers are defined in `.mcp.json`, in the format that all clients share, or under
`[tool.saft.mcp.NAME]` in pyproject.toml. Both files are read from the project's root only.
`${NAME}` and `${NAME:-default}` in a value are replaced by variables of the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime_support._core.redaction import remember_secrets, secret_values, with_texts
from runtime_support._core.settings import user_file, working_directory
from runtime_support._core.settings.files import is_of_this_machine, is_trusted, read_section
from runtime_support._schema import check
from runtime_support._values.json_text import parse_unambiguous
from runtime_support._values.kinds import brief, is_object, quote
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError, ConfigError

CONFIG_FILE = ".mcp.json"
LOCK_FILE = "mcp.lock.json"
_ROOT_FILES = ("pyproject.toml", CONFIG_FILE, LOCK_FILE)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
# The settings of a server. `.mcp.json` may have others, which are for other clients.
_KINDS: dict[str, Any] = {
    "command": str,
    "args": list[str],
    "env": dict[str, str],
    "cwd": str,
    "url": str,
    "headers": dict[str, str],
    "type": str,
}
_TYPES = {"stdio": "command", "http": "url", "streamable-http": "url", "sse": "url"}


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How to connect to a server: by a command that starts it, or at an address.

    `origin` is the file that defines the server, and `folder` the project's root; `secrets` are the
    secret values in its settings.
    """

    name: str
    origin: str
    folder: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_sse: bool = False
    secrets: tuple[str, ...] = ()


def project_folder(start: str | None = None) -> str:
    """The project's root: the nearest folder with a project file, from `start` upwards.

    Without a project file, the root is `start`, by default the working directory.
    """
    start = folder = os.path.abspath(start or working_directory())
    while not any(os.path.isfile(os.path.join(folder, name)) for name in _ROOT_FILES):
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent
    return folder


def configured(folder: str) -> dict[str, ServerConfig]:
    """Maps names to the servers that this project configures.

    Raises ConfigError if a file is invalid, or if a server is configured twice.
    """
    found: dict[str, ServerConfig] = {}
    for origin, servers in _written(folder):
        if not is_object(servers):
            raise ConfigError(f"{origin}: expected the servers by name, got {brief(servers)}")
        is_ours = origin.endswith("]")
        for name, one in servers.items():
            if name in found:
                raise ConfigError(
                    f"the MCP server `{name}` is configured twice: in {found[name].origin} "
                    f"and in {origin}",
                    setting="mcp",
                    hint="remove one of the two",
                )
            found[name] = _server(name, one, origin, folder, is_ours)
    return found


def config_of(name: str, folder: str) -> ServerConfig:
    """The configuration of a server; raises ConfigError if the project does not define it."""
    servers = configured(folder)
    if name in servers:
        return servers[name]
    known = f"the servers are {listed(servers)}" if servers else f"write it into {CONFIG_FILE}"
    raise ConfigError(
        f"no MCP server `{name}` is configured in {folder}",
        setting="mcp",
        hint=did_you_mean(name, servers) or known,
    )


def check_trusted(server: ServerConfig) -> None:
    """Raises ConfigError unless the user's settings file trusts the project of the server.

    A user who runs a program in a downloaded folder has not read the project's files, which decide
    which servers are started or contacted. A server is always allowed if its address is on this
    machine and it gets no headers.
    """
    if not server.command and not server.headers and is_of_this_machine(server.url):
        return
    trusting = user_file()
    if is_trusted(server.folder, trusting):
        return
    what = f"starts `{server.command}`" if server.command else "has an address"
    raise ConfigError(
        f"{server.origin} {what} for the MCP server `{server.name}`: confirm it before it is "
        f"{'started' if server.command else 'asked'}",
        setting="mcp",
        hint=f"write `trusted = [{quote(server.folder)}]` into {trusting}",
    )


def _written(folder: str) -> list[tuple[str, Any]]:
    """The name of each file that configures servers, with the file's servers by name."""
    found: list[tuple[str, Any]] = []
    path = os.path.join(folder, CONFIG_FILE)
    if os.path.isfile(path):
        data = _read_json(path)
        servers = data.get("mcpServers") if is_object(data) else None
        if servers is None:
            raise ConfigError(
                f'{path}: expected {{"mcpServers": {{...}}}}, got {brief(data)}', setting="mcp"
            )
        found.append((path, servers))
    path = os.path.join(folder, "pyproject.toml")
    section = read_section(path) if os.path.isfile(path) else {}
    if "mcp" in section:
        found.append((f"{path} [tool.saft.mcp]", section["mcp"]))
    return found


def _read_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return parse_unambiguous(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    except CheckError as error:
        raise ConfigError(f"{path} is not JSON: {error.message}") from None


def _server(name: str, data: Any, origin: str, folder: str, is_ours: bool) -> ServerConfig:
    where = f"{origin} {name}"
    if not is_object(data):
        raise ConfigError(f"{where}: expected a table, got {brief(data)}", setting="mcp")
    for key in data:
        if key not in _KINDS and is_ours:
            hint = did_you_mean(key, _KINDS) or f"a server has {listed(_KINDS)}"
            raise ConfigError(f"{where}: no setting `{key}`", setting="mcp", hint=hint)
    said = {key: _checked(where, key, data[key]) for key in _KINDS if key in data}
    said = with_texts(
        said, lambda text: _VARIABLE.sub(lambda match: _variable(match, where), text)
    )
    secrets = secret_values({**said.get("env", {}), **said.get("headers", {})})
    remember_secrets(*secrets)
    kind = said.pop("type", None)
    if kind is not None and kind not in _TYPES:
        raise ConfigError(f"{where} type: expected {listed(_TYPES)}, got {brief(kind)}")
    wanted = "command" if "command" in said else "url"
    if ("command" in said) == ("url" in said) or (kind and _TYPES[kind] != wanted):
        raise ConfigError(
            f"{where}: a server has either a `command` or a `url`", setting="mcp"
        )
    said["args"] = tuple(said.get("args", ()))
    is_sse = kind == "sse"
    return ServerConfig(name, origin, folder, **said, is_sse=is_sse, secrets=tuple(secrets))


def _checked(where: str, key: str, value: Any) -> Any:
    try:
        return check(value, _KINDS[key], path=f"{where} {key}")
    except CheckError as error:
        # The message must not quote the value, which may be a key from a variable.
        message = error.message.partition(", got ")[0] if key in ("env", "headers") else str(error)
        raise ConfigError(message, setting="mcp") from None


def _variable(match: re.Match[str], where: str) -> str:
    name: str = match[1]
    default: str | None = match[2]
    found = os.environ.get(name, default)
    if found is None:
        raise ConfigError(
            f"{where}: the environment has no variable {name}",
            setting="mcp",
            hint=f"set it, or write ${{{name}:-...}} with a value to use instead",
        )
    return found
