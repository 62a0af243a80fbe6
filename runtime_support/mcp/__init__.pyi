"""The public names of MCP, for checkers and editors."""

from runtime_support.mcp._calls import ToolServer as ToolServer
from runtime_support.mcp._calls import server as server
