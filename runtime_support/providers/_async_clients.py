"""HTTP clients and network streams for event loops, as in `_clients` for threads.

    client = await client_of_loop(server)
    httpcore2.AsyncConnectionPool(network_backend=AsyncBackend())

The module is loaded when an event loop sends its first request.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import httpcore2
import httpx2

from runtime_support._core.tasks.loops import finish_async
from runtime_support.providers._clients import (
    WRITTEN_AT_ONCE,
    FastRequestBuilder,
    auth_of,
    pool_options,
    respond,
    wait_within,
)

if TYPE_CHECKING:
    from runtime_support.providers._server import Server

T = TypeVar("T")

# Requests per pool. A pool scans all of its connections for each request: with a thousand requests
# at once, a single pool takes nearly twice the time.
_CONNECTIONS_OF_POOL = 32


async def client_of_loop(server: Server) -> Any:
    """Returns the server's client for the current event loop; creates it at the first use.

    The client is closed with its loop, as another loop cannot use its connections.
    """
    loop, clients = asyncio.get_running_loop(), server.loop_clients
    if loop not in clients:
        for other in tuple(clients):
            if other.is_closed():
                clients.pop(other, None)
        transport = _AsyncTransport(pool_options(server.url, server.is_embedded))
        connections = _AsyncClient(transport=transport, auth=auth_of(server.url))
        client = server.package.AsyncClient(http_client=connections, **server.client_options())
        clients[loop] = client, _closed_with_loop(client)
        await anext(clients[loop][1])
    return clients[loop][0]


async def _closed_with_loop(client: Any) -> AsyncGenerator[None]:
    """Closes the client when the loop ends: a loop closes the async generators begun in it."""
    try:
        yield
    finally:
        await client.close()


class _AsyncClient(FastRequestBuilder, httpx2.AsyncClient):
    """A client for event loops."""


class _AsyncTransport(httpx2.AsyncBaseTransport):
    """Connections to one server for an event loop, in several pools."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._pools: list[_AsyncPool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends the request through the first pool with room, to reuse its idle connections."""
        free = (one for one in self._pools if one.requests < _CONNECTIONS_OF_POOL)
        pool = next(free, None)
        if pool is None:
            pool = _AsyncPool(network_backend=AsyncBackend(), **self._options)
            self._pools.append(pool)
        pool.requests += 1
        return await finish_async(respond(request, pool, pool.leave))

    async def aclose(self) -> None:
        """Closes all connections."""
        for pool in self._pools:
            await pool.aclose()


class _AsyncPool(httpcore2.AsyncConnectionPool):
    """A small pool of connections of an event loop; `requests` counts its unfinished requests."""

    requests = 0

    def leave(self) -> None:
        """Records that a request of this pool has ended."""
        self.requests -= 1


async def _awaited(
    timeout: float | None,
    ask: Callable[..., Awaitable[T]],
    *arguments: Any,
    late: type[Exception] = httpcore2.ReadTimeout,
    failed: type[Exception] = httpcore2.ReadError,
) -> T:
    """Awaits `ask(*arguments)` within the time-out.

    Raises `late` when the time is over. Raises `failed` in place of an OSError.
    """
    try:
        with wait_within(timeout, late) as left:
            async with asyncio.timeout(left):
                return await ask(*arguments)
    except OSError as error:  # certificate errors are OSErrors, too
        raise failed(str(error)) from error


class AsyncBackend(httpcore2.AsyncNetworkBackend):
    """Opens asyncio connections for httpcore2."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Opens a connection within the time-out."""
        return _AsyncStream(*await _awaited(timeout, asyncio.open_connection, host, port, **_NEW))


_NEW: dict[str, Any] = {"late": httpcore2.ConnectTimeout, "failed": httpcore2.ConnectError}


class _AsyncStream(httpcore2.AsyncNetworkStream):
    """An asyncio connection that buffers small writes, like `_clients._Stream`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._kept = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            await self._send(timeout, httpcore2.ReadError)
        return await _awaited(timeout, self._reader.read, max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._kept += buffer
        if len(self._kept) > WRITTEN_AT_ONCE:
            await self._send(timeout, httpcore2.WriteError)

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        async def start() -> None:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)

        await _awaited(timeout, start, **_NEW)
        return self

    def get_extra_info(self, info: str) -> Any:
        if info != "is_readable":
            return self._writer.get_extra_info(info)
        # httpcore2 asks this of an idle connection; true if the server has closed the connection.
        if self._reader.at_eof() or self._writer.is_closing() or not hasattr(select, "poll"):
            return self._reader.at_eof() or self._writer.is_closing()
        looking = select.poll()
        looking.register(self._writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(looking.poll(0))

    async def _send(self, timeout: float | None, failed: type[Exception]) -> None:
        kept, self._kept = self._kept, b""
        self._writer.write(kept)
        await _awaited(timeout, self._writer.drain, failed=failed)
