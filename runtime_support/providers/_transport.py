"""HTTP in which one time-out bounds all of a request, in threads and in event loops.

    httpx2.Client(transport=Transport(limits, proxy=None, certificates=None))
    httpx2.AsyncClient(transport=AsyncTransport(limits, proxy=None, certificates=None))
    deadline = Deadline(60.0, silence=10.0)         a request has it as its time-out

In httpx2 a time-out is one for each wait: a server that sends a byte now and then, or a header,
would hold a thread for ever, and nothing outside of the thread could end it. So each wait for the
network looks at what is left of the deadline. The connections are those of httpcore2's pool.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import httpcore2
import httpx2

T = TypeVar("T")

TOO_LATE = "the time of the request is over"
SILENT = "the server has sent nothing for a while"

_WRITTEN_AT_ONCE = 65_536
# With a thousand requests at once, one pool, which looks at all of its own for each, takes nearly
# twice the time.
_CONNECTIONS_OF_POOL = 32


class Deadline(float):
    """A time-out that began when it was made; as a plain number, its seconds.

    `silence` is for how many seconds the server may send nothing.
    """

    end: float
    silence: float | None

    def __new__(cls, seconds: float, silence: float | None = None) -> Deadline:
        made = super().__new__(cls, seconds)
        made.end, made.silence = time.monotonic() + seconds, silence
        return made

    @property
    def left(self) -> float:
        """The seconds that are left; less than none when it is over."""
        return self.end - time.monotonic()

    @property
    def next_wait(self) -> float:
        """The seconds that the next wait may take; httpcore2's ReadTimeout when it is over."""
        left = self.left
        if left <= 0:
            raise httpcore2.ReadTimeout(TOO_LATE)
        return left if self.silence is None else min(left, self.silence)

    @property
    def reason(self) -> str:
        """Why a wait has ended that took as long as it might."""
        return TOO_LATE if self.silence is None or self.left <= 0 else SILENT

    @contextmanager
    def resting(self) -> Generator[None]:
        """Does not count the time of the block, in which a script works."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.end += time.monotonic() - began

    async def awaited(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What comes of it in time; else httpx2's ReadTimeout."""
        return await _within(self.left, ask, TOO_LATE)

    async def heard(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What comes of one wait for the server, which may be silent for a while."""
        return await (ask() if self.silence is None else _within(self.silence, ask, SILENT))


async def _within(seconds: float, ask: Callable[[], Awaitable[T]], reason: str) -> T:
    if seconds <= 0:
        raise httpx2.ReadTimeout(reason)
    try:
        async with asyncio.timeout(seconds):
            return await ask()
    except TimeoutError:
        raise httpx2.ReadTimeout(reason) from None


class Transport(httpx2.BaseTransport):
    """Connections to one server, for threads."""

    def __init__(
        self,
        limits: httpx2.Limits,
        proxy: httpx2.Proxy | None = None,
        certificates: ssl.SSLContext | None = None,
    ) -> None:
        backend = _TimedBackend()
        self._pool = httpcore2.ConnectionPool(
            network_backend=backend, **_of_pool(limits, proxy, certificates)
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, of which the body is still to be read."""
        with _as_of_httpx2():
            found = self._pool.handle_request(_of_httpcore(request))
        return _response(found, _Parts(found))

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """Connections to one server, for an event loop: in several pools."""

    def __init__(
        self,
        limits: httpx2.Limits,
        proxy: httpx2.Proxy | None = None,
        certificates: ssl.SSLContext | None = None,
    ) -> None:
        self._options = _of_pool(limits, proxy, certificates)
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response of the first pool with room, so that idle connections are found again."""
        free = (one for one in self._pools if one.requests < _CONNECTIONS_OF_POOL)
        pool = next(free, None)
        if pool is None:
            pool = _Pool(network_backend=_AsyncBackend(), **self._options)
            self._pools.append(pool)
        pool.requests += 1
        try:
            with _as_of_httpx2():
                found = await pool.handle_async_request(_of_httpcore(request))
        except BaseException:
            pool.requests -= 1
            raise
        return _response(found, _AsyncParts(found, pool))

    async def aclose(self) -> None:
        """Closes all connections."""
        for pool in self._pools:
            await pool.aclose()


class _Pool(httpcore2.AsyncConnectionPool):
    """Some connections of an event loop, and how many requests have or want one of them."""

    requests = 0


class _Parts(httpx2.SyncByteStream):
    """The body of a response, with the errors of httpx2."""

    def __init__(self, found: httpcore2.Response) -> None:
        self._found = found

    def __iter__(self) -> Iterator[bytes]:
        with _as_of_httpx2():
            yield from self._found.iter_stream()

    def close(self) -> None:
        with _as_of_httpx2():
            self._found.close()


class _AsyncParts(httpx2.AsyncByteStream):
    """The same in an event loop, with which a request leaves its pool."""

    def __init__(self, found: httpcore2.Response, pool: _Pool) -> None:
        self._found = found
        self._pool: _Pool | None = pool

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_of_httpx2():
            async for part in self._found.aiter_stream():
                yield part

    async def aclose(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.requests -= 1
        with _as_of_httpx2():
            await self._found.aclose()


def _of_pool(
    limits: httpx2.Limits, proxy: httpx2.Proxy | None, certificates: ssl.SSLContext | None
) -> dict[str, Any]:
    return {
        "ssl_context": certificates,
        "proxy": None if proxy is None else _proxy_of_httpcore(proxy),
        "max_connections": limits.max_connections,
        "max_keepalive_connections": limits.max_keepalive_connections,
        "keepalive_expiry": limits.keepalive_expiry,
    }


def _proxy_of_httpcore(proxy: httpx2.Proxy) -> httpcore2.Proxy:
    url = _url_of_httpcore(proxy.url)
    return httpcore2.Proxy(url, auth=proxy.raw_auth, ssl_context=proxy.ssl_context)


def _url_of_httpcore(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


def _of_httpcore(request: httpx2.Request) -> httpcore2.Request:
    return httpcore2.Request(
        method=request.method,
        url=_url_of_httpcore(request.url),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _response(found: httpcore2.Response, stream: Any) -> httpx2.Response:
    about: Any = found  # its extensions are a dict of nobody knows what
    return httpx2.Response(
        found.status, headers=found.headers, stream=stream, extensions=about.extensions
    )


@contextmanager
def _as_of_httpx2() -> Generator[None]:
    """Raises the errors of httpcore2 in the block as those of httpx2, which have the same names."""
    try:
        yield
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.ProxyError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from error


class _TimedBackend(httpcore2.SyncBackend):
    """Connections of which each wait is one for what is left of a deadline."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        with _told(timeout):
            return _TimedStream(
                super().connect_tcp(host, port, _left(timeout), local_address, socket_options)
            )


class _TimedStream(httpcore2.NetworkStream):
    """Such a connection.

    What is small waits for what comes after it: the head of a request goes out with its body, and
    the server wakes up once.
    """

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._kept = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            # As in httpcore2: a server may have answered before it has read all.
            with suppress(httpcore2.WriteError):
                self._send(timeout)
        with _told(timeout):
            return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._kept += buffer
        if len(self._kept) > _WRITTEN_AT_ONCE:
            self._send(timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        with _told(timeout):
            secured = self._stream.start_tls(ssl_context, server_hostname, _left(timeout))
        return _TimedStream(secured)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _send(self, timeout: float | None) -> None:
        rest, self._kept = memoryview(self._kept), b""
        with _told(timeout):
            while rest:
                self._stream.write(rest[:_WRITTEN_AT_ONCE].tobytes(), _left(timeout))
                rest = rest[_WRITTEN_AT_ONCE:]


def _left(timeout: float | None) -> float | None:
    """The time-out of one wait; httpcore2's ReadTimeout when the deadline is over."""
    return timeout.next_wait if isinstance(timeout, Deadline) else timeout


@contextmanager
def _told(timeout: float | None) -> Generator[None]:
    """Has a wait in the block that took too long say which of the two times it was."""
    try:
        yield
    except httpcore2.TimeoutException:
        if isinstance(timeout, Deadline):
            raise httpcore2.ReadTimeout(timeout.reason) from None
        raise


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    """Connections of asyncio. Whoever awaits them bounds all of it (`Deadline.awaited`)."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        connect = partial(asyncio.open_connection, host, port)
        try:
            return _AsyncStream(*await _heard(timeout, connect))
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error


async def _heard(timeout: float | None, ask: Callable[[], Awaitable[T]]) -> T:
    """What comes of one wait, which the silence of a deadline bounds."""
    return await (timeout.heard(ask) if isinstance(timeout, Deadline) else ask())


class _AsyncStream(httpcore2.AsyncNetworkStream):
    """Such a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._kept = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            if self._kept:
                await self._send()
            return await _heard(timeout, partial(self._reader.read, max_bytes))
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._kept += buffer
        if len(self._kept) > _WRITTEN_AT_ONCE:
            try:
                await self._send()
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from error

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except OSError as error:  # that of a certificate is one as well
            raise httpcore2.ConnectError(str(error)) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        if info != "is_readable":
            return self._writer.get_extra_info(info)
        # Of an idle connection: whether the server has closed it.
        if self._reader.at_eof() or self._writer.is_closing() or not hasattr(select, "poll"):
            return self._reader.at_eof() or self._writer.is_closing()
        looking = select.poll()
        looking.register(self._writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(looking.poll(0))

    async def _send(self) -> None:
        kept, self._kept = self._kept, b""
        self._writer.write(kept)
        await self._writer.drain()
