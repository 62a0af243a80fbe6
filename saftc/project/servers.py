"""The lock of MCP servers, `mcp.lock.json`, for the compiler.

    locked_server("mcp(docs)", folder)      the server's tools, or the problem with the lock
    state_of("mcp(docs)", folder)           a text that changes with the server's entry

The lock has the declarations of the servers' tools, so that the compiler need not start a server.
It lies in the nearest folder with a project file, from the script's own folder upwards. Only `saftc
mcp lock` writes it.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from saftc.project.cache import digest

if TYPE_CHECKING:
    from saftc.check.imports import Loaded

LOCK_FILE = "mcp.lock.json"
_ROOT_FILES = ("pyproject.toml", ".mcp.json", LOCK_FILE)
_FORM = 1


def is_server(name: str) -> bool:
    """Whether an imported name refers to the tools of an MCP server, such as `mcp(docs)`."""
    return name.startswith("mcp(")


def lock_path(folder: Path) -> Path:
    """The path of the lock for scripts in this folder."""
    here = folder.absolute()
    for place in (here, *here.parents):
        if any((place / name).is_file() for name in _ROOT_FILES):
            return place / LOCK_FILE
    return here / LOCK_FILE


def locked_server(name: str, folder: Path) -> "Loaded":
    """The tools of the MCP server that an import calls `name`, or the problem with the lock."""
    # Imported here, so that running a cached script does not load the compiler.
    from saftc.check.imports import BrokenModule, MissingModule, ServerModule

    path = lock_path(folder)
    match _read(name, path):
        case None:
            return MissingModule((str(path),))
        case str(reason):
            return BrokenModule(
                f"cannot read `{path}`: {reason}", "run `saftc mcp lock`, which writes it again"
            )
        case tools:
            return ServerModule(tools)


def state_of(name: str, folder: Path) -> str:
    """A digest of a server's entry in the lock.

    Scripts are compiled again when the digest changes.
    """
    known = _read(name, lock_path(folder))
    return digest(json.dumps(known).encode())


def _read(name: str, path: Path) -> dict[str, Any] | str | None:
    """The tools of a server in the lock at `path`, as a mapping from their names.

    The result is None if the lock has no entry for the server, and an error message if the lock
    cannot be read.
    """
    try:
        data: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        return str(error)
    if not _is_table(data) or data.get("version") != _FORM or not _is_table(data.get("servers")):
        return f"it is not a lock of version {_FORM}"
    server = data["servers"].get(name[len("mcp(") : -1])
    if server is None:
        return None
    tools = server.get("tools") if _is_table(server) else None
    if not _is_table(tools) or not all(map(_is_tool, tools.values())):
        return f"its entry of `{name}` is not valid"
    return tools


def _is_tool(data: object) -> bool:
    return (
        _is_table(data)
        and isinstance(data.get("description"), str)
        and _is_table(data.get("inputSchema"))
    )


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
