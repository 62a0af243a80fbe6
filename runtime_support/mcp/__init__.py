"""Tools of MCP servers as functions, and functions as the tools of a server.

    docs = server("docs")
    docs.call("search", query="pipes", returns=list[Hit])

A project names its servers in `.mcp.json`, and keeps the tools it has accepted in `mcp.lock.json`.
The package `mcp` speaks the protocol; the first call imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_support._values.lazy import load_lazily

if TYPE_CHECKING:
    from runtime_support.mcp._calls import ToolServer, server
else:
    __getattr__, __dir__ = load_lazily(__name__, __name__, {"_calls": "ToolServer server"})

__all__ = ["ToolServer", "server"]
