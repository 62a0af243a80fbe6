"""The lock file `mcp.lock.json`: records which tools of each server the project has accepted.

    locked(folder, "docs").tools["search"]      the tool `search` of `docs`, as a LockedTool
    write_lock(folder, servers)

The compiler reads the types of tools from this file, and a session compares it with the server. The
file is sorted, so that commits show only changes. Inside a schema, keys are in the order in which
the server sent them, which is the order of the parameters. A tool's digest covers everything that a
model or a script sees of the tool.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime_support._language.files import replace_file
from runtime_support._values.json_text import parse_unambiguous
from runtime_support._values.kinds import is_object
from runtime_support._values.names import did_you_mean, listed
from runtime_support.errors import CheckError, ConfigError
from runtime_support.mcp._config import LOCK_FILE

FORM = 1


@dataclass(frozen=True, slots=True)
class LockedTool:
    """A tool as its server describes it; `output` is the schema of its result, or None."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    output: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def digest(self) -> str:
        """A hash of the tool's name, description and schemas, independent of the order of keys."""
        said = [self.name, self.description, self.parameters, self.output]
        text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"

    @property
    def is_wrapped(self) -> bool:
        """True if the result is no object, so that the protocol wraps it in the field `result`."""
        output = self.output or {}
        return list(output.get("properties") or ()) == output.get("required") == ["result"]

    def entry(self) -> dict[str, Any]:
        """The entry of the tool in the lock file."""
        return {
            "description": self.description,
            "inputSchema": self.parameters,
            **({"outputSchema": self.output} if self.output is not None else {}),
            **({"annotations": self.annotations} if self.annotations else {}),
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class LockedServer:
    """The tools of a server by name; `title` is the server's name for itself, with its version.

    `left_out` maps the names of unusable tools to the reasons. These tools are not written to the
    lock file.
    """

    title: str
    tools: Mapping[str, LockedTool]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


def lock_path(folder: str) -> str:
    """The path of the project's lock file."""
    return os.path.join(folder, LOCK_FILE)


def read_lock(folder: str) -> dict[str, LockedServer]:
    """Maps the names of servers to their locked tools. The mapping is empty without a lock file.

    Raises ConfigError if the file cannot be read, or if a digest does not match.
    """
    path = lock_path(folder)
    try:
        with open(path, encoding="utf-8") as file:
            data = parse_unambiguous(file.read())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, CheckError) as error:
        raise _damaged(path, str(error)) from None
    if not is_object(data) or data.get("version") != FORM or not is_object(data.get("servers")):
        raise _damaged(path, f"it is not a lock of version {FORM}")
    return {name: _server(path, name, one) for name, one in data["servers"].items()}


def locked(folder: str, server: str) -> LockedServer:
    """The locked tools of a server; raises ConfigError if the server is not in the lock file."""
    servers = read_lock(folder)
    if server not in servers:
        close = did_you_mean(server, servers)
        raise ConfigError(
            f"the MCP server `{server}` is not in {lock_path(folder)}",
            setting="mcp",
            hint=close or f"run `saftc mcp lock {server}`, which asks the server for its tools",
        )
    return servers[server]


def locked_tool(folder: str, server: str, tool: str) -> LockedTool:
    """A locked tool; raises ConfigError if no locked tool of the server has this name."""
    tools = locked(folder, server).tools
    if tool not in tools:
        raise ConfigError(
            f"the MCP server `{server}` has no tool `{tool}` in {lock_path(folder)}",
            setting="mcp",
            hint=did_you_mean(tool, tools) or f"its tools are {listed(tools)}",
        )
    return tools[tool]


def lock_text(servers: Mapping[str, LockedServer]) -> str:
    """The text of a lock file for these servers."""
    data = {
        "version": FORM,
        "servers": {
            name: {
                "server": servers[name].title,
                "tools": {one: tool.entry() for one, tool in sorted(servers[name].tools.items())},
            }
            for name in sorted(servers)
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def write_lock(folder: str, servers: Mapping[str, LockedServer]) -> None:
    """Replaces the lock file in one step, so that it is never incomplete."""
    data = lock_text(servers).encode(errors="backslashreplace")
    try:
        replace_file(os.path.realpath(lock_path(folder)), data, permissions=0o644)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"cannot write {lock_path(folder)}: {reason}") from None


def _server(path: str, name: str, data: Any) -> LockedServer:
    tools = data.get("tools") if is_object(data) else None
    if not is_object(tools) or not isinstance(data.get("server"), str):
        raise _damaged(path, f"`{name}` has no tools")
    return LockedServer(
        data["server"], {one: _tool(path, one, tool) for one, tool in tools.items()}
    )


def _tool(path: str, name: str, data: Any) -> LockedTool:
    if is_object(data) and isinstance(data.get("description"), str):
        parameters, output = data.get("inputSchema"), data.get("outputSchema")
        annotations = data.get("annotations", {})
        if is_object(parameters) and is_object(annotations):
            tool = LockedTool(name, data["description"], parameters, output, annotations)
            if data.get("digest") == tool.digest:
                return tool
    raise _damaged(path, f"the digest of `{name}` is not that of its entry")


def _damaged(path: str, reason: str) -> ConfigError:
    return ConfigError(
        f"cannot read {path}: {reason}",
        setting="mcp",
        hint="run `saftc mcp lock`, which writes it again",
    )
