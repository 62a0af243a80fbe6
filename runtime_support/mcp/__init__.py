"""MCP: calls tools of servers as functions, and serves functions as tools.

    docs = server("docs")
    docs.call("search", query="pipes", returns=list[Hit])

A project names its servers in `.mcp.json`, and records the tools that it has accepted in
`mcp.lock.json`. The package `mcp` implements the protocol; the first call imports it.
"""

from __future__ import annotations

from runtime_support._values.lazy import load_lazily

_HOMES = {"mcp._calls": "ToolServer server"}
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)
