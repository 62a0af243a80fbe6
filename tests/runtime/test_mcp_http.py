"""MCP servers at an address: servers of the package on this machine, over HTTP."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer

from runtime_support import Failed, configure
from runtime_support.errors import ConfigError
from runtime_support.mcp import _config as mcp_config
from runtime_support.mcp import _sessions as sessions
from runtime_support.mcp import server
from runtime_support.mcp._lock import LockedServer, write_lock

TOKEN = "kV8wq2-Zr0p-7hd1"

docs = server("docs")
offered = MCPServer("docs", version="1.0")


@offered.tool()
def echo(text: str) -> str:
    """Gives the text."""
    return text


@offered.tool()
def big(size: int) -> str:
    """Gives so many letters."""
    return "x" * size


@offered.tool()
def whoami(context: Context) -> str:
    """Gives what it was told in confidence."""
    return str((context.headers or {})["authorization"])


# On newer Pythons uvicorn waits for connections that a client holds, also when it has to end.
pytestmark = pytest.mark.one_python


class Web:
    """The server of the package on this machine; `is_legacy`: it knows sessions alone."""

    def __init__(self, is_legacy: bool = False, is_json: bool = False) -> None:
        self._app = offered.streamable_http_app(json_response=is_json)
        self._is_legacy = is_legacy
        self.is_closed = False
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"
        self._server = uvicorn.Server(
            uvicorn.Config(self._serve, interface="asgi3", log_level="critical")
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {TOKEN}".encode():
            await _refuse(send, 401)
        elif self._is_legacy and headers.get(b"mcp-method") == b"server/discover":
            await _refuse(send, 404)
        else:
            await self._app(scope, receive, send)

    def expire(self) -> None:
        """Forgets all sessions, as a server does that was started anew."""
        offered.session_manager._server_instances.clear()

    def close(self) -> None:
        """Ends it."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()


async def _refuse(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": f"not for {TOKEN}".encode()})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that the user trusts."""
    trusting = tmp_path / "config.toml"
    trusting.write_text(f"trusted = [{json.dumps(str(tmp_path))}]\n")
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(trusting))
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sessions.close_sessions()


@pytest.fixture(params=["stateless", "legacy", "json"])
def web(project: Path, request: pytest.FixtureRequest) -> Iterator[Web]:
    """A server that is configured and locked, in each way that the package speaks."""
    made = Web(is_legacy=request.param != "stateless", is_json=request.param == "json")
    configure_server(project, made.address)
    try:
        found = sessions.list_servers(["docs"])["docs"]
        assert isinstance(found, LockedServer), found
        write_lock(str(project), {"docs": found})
        yield made
    finally:
        sessions.close_sessions()
        made.close()


def configure_server(folder: Path, address: str, token: str = "${DOCS_TOKEN}") -> None:
    """Has the project ask the server at this address from now on."""
    one = {"url": address, "headers": {"Authorization": f"Bearer {token}"}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": one}}))


def test_a_tool_is_called_and_what_it_was_told_in_confidence_stays_there(web: Web) -> None:
    assert docs.call("echo", text="pipes", returns=str) == "pipes"
    assert docs.call("whoami", returns=str) == "[redacted]"


def test_a_message_that_is_too_long_is_refused(web: Web) -> None:
    sessions.close_sessions()
    configure(max_reply_bytes=100_000)
    with pytest.raises(Failed, match=r"the MCP server `docs`.*100,?000") as told:
        docs.call("big", size=200_000, returns=str)
    assert TOKEN not in str(told.value)
    assert len(docs.call("big", size=20_000, returns=str)) == 20_000


def test_a_session_that_has_expired_is_opened_anew(web: Web) -> None:
    assert docs.call("echo", text="a", returns=str) == "a"
    web.expire()
    assert docs.call("echo", text="b", returns=str) == "b"


def test_a_server_that_has_gone_is_told(web: Web) -> None:
    assert docs.call("echo", text="a", returns=str) == "a"
    web.close()
    with pytest.raises(Failed, match="the MCP server `docs`") as told:
        docs.call("echo", text="b", returns=str)
    assert "may have taken effect" not in str(told.value)


def test_a_header_that_is_refused_is_told_without_it(project: Path, web: Web) -> None:
    sessions.close_sessions()
    configure_server(project, web.address, "wrong-Zr0p-7hd1-kV8")
    with pytest.raises(Failed, match="401") as told:
        docs.call("echo", text="a", returns=str)
    assert TOKEN not in str(told.value) and "wrong-Zr0p" not in str(told.value)


def test_headers_are_not_sent_before_the_user_agrees(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_server(project, "http://127.0.0.1:9/mcp")
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(project / "none.toml"))
    found = sessions.list_servers(["docs"])["docs"]
    assert isinstance(found, ConfigError) and "confirm it before it is asked" in str(found)
