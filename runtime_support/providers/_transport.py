"""Requests over HTTP that end: in time, with a reply of bounded size, at the server named.

    httpx2.Client(transport=transport_to(httpx2.URL("https://api.openai.com/v1")))
    httpx2.AsyncClient(transport=async_transport_to(httpx2.URL("https://api.openai.com/v1")))

The time-out of a request bounds all of it, from waiting for a connection to the last byte of the
reply, and not the pause between two bytes as it does in httpx2. A reply is read up to
`max_reply_bytes`, counted after decompression; of the body of an error its beginning is enough.
Server-sent events that were asked for are read while they come, within the same bounds; the time
in which nobody asks for the next one does not count. A redirect to another place is an error: the
prompt was not meant for it.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from runtime_support._redaction import remember_secrets, shown
from runtime_support.errors import ConfigError, ProviderError

MOST_ERROR_BYTES = 65_536
LAST_PORT = 65_535

_MOST_CONNECTIONS = 1000
_MOST_IDLE_CONNECTIONS = 100
_CONNECTIONS_OF_POOL = 32
_IDLE_SECONDS = 5.0
# llama.cpp's server closes an idle connection after five seconds, maybe just as it is used again.
_IDLE_SECONDS_EMBEDDED = 1.0
_WRITTEN_AT_ONCE = 65_536
# What events begin with, and no JSON.
_OF_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_FIELD = max(map(len, _OF_EVENTS))
# The last of the events, and how long the end of the body behind it is waited for.
_DONE = b"[DONE]"
_DRAIN_SECONDS = 0.1
_TOO_LATE = "the time of the request is over"

# These ask for the same request again; after others a GET would follow, which asks nothing.
_REPEATING = (307, 308)
# What the body of a response has no more when it was read.
_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")

_FAILURES = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)

# The package between the provider and this module has no place for what is ours.
_bounds: ContextVar[tuple[int, bool]] = ContextVar("bounds")
_deadline: ContextVar[float] = ContextVar("deadline")


@contextmanager
def bounded_replies(most_bytes: int, *, takes_events: bool = False) -> Generator[None]:
    """Requests of the block refuse replies of more bytes; they may be events, read as they come."""
    token = _bounds.set((most_bytes, takes_events))
    try:
        yield
    finally:
        _bounds.reset(token)


def has_events(response: httpx2.Response) -> bool:
    """Whether the body is one of server-sent events, which are still to be read."""
    return not response.is_closed and not response.is_stream_consumed


def transport_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.BaseTransport:
    """The transport to this address, through the proxy that the environment names for it.

    An embedded server is reached directly.
    """
    options = _of_pool(address, is_embedded)
    return _Transport(httpcore2.ConnectionPool(network_backend=_TimedBackend(), **options))


def async_transport_to(
    address: httpx2.URL, *, is_embedded: bool = False
) -> httpx2.AsyncBaseTransport:
    """The same for an event loop."""
    return _AsyncTransport(_of_pool(address, is_embedded))


def _of_pool(address: httpx2.URL, is_embedded: bool) -> dict[str, Any]:
    return {
        "ssl_context": _certificates() if address.scheme == "https" else None,
        "proxy": None if is_embedded else _proxy_to(address),
        "max_connections": _MOST_CONNECTIONS,
        "max_keepalive_connections": _MOST_IDLE_CONNECTIONS,
        "keepalive_expiry": _IDLE_SECONDS_EMBEDDED if is_embedded else _IDLE_SECONDS,
    }


class _Transport(httpx2.BaseTransport):
    """Connections to one server."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response; an error of httpx2, or a ProviderError that no try would mend."""
        with _until(_end_of(request), request):
            return self._answer(request)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        answer = self._pool.handle_request(_asked(request, request.extensions))
        headers = httpx2.Headers(answer.headers)
        most, takes_events = _bounds.get()
        is_open = False
        try:
            _refuse_redirect(request.url, answer.status, headers)
            decoded = _decoded(answer.status, headers, answer.iter_stream())
            parts = _bounded(decoded, headers, most)
            body: bytes | _Events
            if answer.status >= 400:
                body = _beginning(decoded)
            elif takes_events and answer.status < 300:
                is_open, parts = _looked_into(headers, parts)
                body = _Events(request, answer, parts) if is_open else b"".join(parts)
            else:
                body = b"".join(parts)
        finally:
            if not is_open:
                answer.close()
        return _response(answer.status, headers, body)

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


class _Events(httpx2.SyncByteStream):
    """The body of a response, read as it comes."""

    def __init__(
        self, request: httpx2.Request, answer: httpcore2.Response, parts: Iterator[bytes]
    ) -> None:
        self._request = request
        self._answer = answer
        self._parts = parts
        self._end = request.extensions["end"]
        self._last = b""

    def __iter__(self) -> Iterator[bytes]:
        while part := self._next():
            given = time.monotonic()
            yield part
            self._end += time.monotonic() - given

    def close(self) -> None:
        """Ends the exchange, also when the server has more to say."""
        try:
            if self._last.rstrip().endswith(_DONE):
                # What ends the body is on its way, and with it read the connection serves again.
                self._end = time.monotonic() + _DRAIN_SECONDS
                with suppress(httpx2.TransportError):
                    while self._next():
                        pass
        finally:
            self._answer.close()

    def _next(self) -> bytes:
        with _until(self._end, self._request):
            self._last = next(self._parts, b"")
            return self._last


@dataclass(slots=True)
class _Pool:
    """Some connections of an event loop, and how many requests have or want one of them."""

    connections: httpcore2.AsyncConnectionPool
    requests: int = 0

    def leave(self) -> None:
        self.requests -= 1


class _AsyncTransport(httpx2.AsyncBaseTransport):
    """Connections to one server, in an event loop.

    They are in several pools: for each request, a pool looks at all of its connections.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options: dict[str, Any] = {**options, "max_connections": _CONNECTIONS_OF_POOL}
        self._pools: list[_Pool] = []

    def _pool(self) -> _Pool:
        """The first pool with room, so that idle connections are found again."""
        for pool in self._pools:
            if pool.requests < _CONNECTIONS_OF_POOL:
                return pool
        connections = len(self._pools) * _CONNECTIONS_OF_POOL
        if connections >= _MOST_CONNECTIONS:
            return min(self._pools, key=lambda pool: pool.requests)
        idle = max(0, _MOST_IDLE_CONNECTIONS - connections)
        options: dict[str, Any] = {**self._options, "max_keepalive_connections": idle}
        pool = _Pool(httpcore2.AsyncConnectionPool(**options))
        self._pools.append(pool)
        return pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `_Transport.handle_request`."""
        async with _until_async(_end_of(request), request), AsyncExitStack() as closing:
            pool = self._pool()
            pool.requests += 1
            closing.callback(pool.leave)
            # The time of all of it is bounded around this, and not that of each step.
            answer = await pool.connections.handle_async_request(_asked(request, {}))
            closing.push_async_callback(_to_its_end, answer.aclose)
            headers = httpx2.Headers(answer.headers)
            most, takes_events = _bounds.get()
            _refuse_redirect(request.url, answer.status, headers)
            parts = _decoded_async(answer.status, headers, answer.aiter_stream())
            if answer.status >= 400:
                return _response(answer.status, headers, await _beginning_async(parts))
            parts = _bounded_async(parts, headers, most)
            is_open = False
            if takes_events and answer.status < 300:
                is_open, parts = await _looked_into_async(headers, parts)
            body: bytes | _AsyncEvents
            if is_open:
                body = _AsyncEvents(request, parts, closing.pop_all())
            else:
                body = b"".join([part async for part in parts])
            return _response(answer.status, headers, body)

    async def aclose(self) -> None:
        """Closes all connections."""
        for pool in self._pools:
            await pool.connections.aclose()


class _AsyncEvents(httpx2.AsyncByteStream):
    """See `_Events`."""

    def __init__(
        self, request: httpx2.Request, parts: AsyncIterator[bytes], closing: AsyncExitStack
    ) -> None:
        self._request = request
        self._parts = parts
        self._closing = closing
        self._end = request.extensions["end"]
        self._last = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await self._next():
            given = time.monotonic()
            yield part
            self._end += time.monotonic() - given

    async def aclose(self) -> None:
        async with self._closing:
            if self._last.rstrip().endswith(_DONE):
                self._end = time.monotonic() + _DRAIN_SECONDS
                with suppress(httpx2.TransportError):
                    while await self._next():
                        pass

    async def _next(self) -> bytes:
        async with _until_async(self._end, self._request):
            self._last = await anext(self._parts, b"")
            return self._last


async def _to_its_end(close: Callable[[], Awaitable[None]]) -> None:
    """Closes something, also when the task is cancelled meanwhile: its pool would not forget it."""
    import asyncio

    closing = asyncio.ensure_future(close())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await asyncio.wait((closing,))
        raise


def _end_of(request: httpx2.Request) -> float:
    """When the time of a request is over; a redirect gets none of its own."""
    end = time.monotonic() + request.extensions["timeout"]["read"]
    return request.extensions.setdefault("end", end)


def _asked(request: httpx2.Request, extensions: dict[str, Any]) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        method=request.method,
        url=httpcore2.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=extensions,
    )


def _response(
    status: int, headers: httpx2.Headers, body: bytes | _Events | _AsyncEvents
) -> httpx2.Response:
    for name in _OF_THE_WAY:
        headers.pop(name, None)
    if isinstance(body, bytes):
        return httpx2.Response(status, headers=headers, content=body)
    return httpx2.Response(status, headers=headers, stream=body)


@contextmanager
def _until(end: float, request: httpx2.Request) -> Generator[None]:
    """Has the block wait no longer than this; its failures are httpx2's."""
    token = _deadline.set(end)
    try:
        yield
    except _FAILURES as error:
        raise _as_of_httpx2(error, request) from error
    finally:
        _deadline.reset(token)


@asynccontextmanager
async def _until_async(end: float, request: httpx2.Request) -> AsyncGenerator[None]:
    """The same for what the block awaits."""
    import asyncio

    try:
        async with asyncio.timeout(end - time.monotonic()):
            yield
    except TimeoutError:
        raise httpx2.ReadTimeout(_TOO_LATE, request=request) from None
    except _FAILURES as error:
        raise _as_of_httpx2(error, request) from error


def _as_of_httpx2(error: Exception, request: httpx2.Request) -> Exception:
    kind: Callable[..., Exception] = getattr(httpx2, type(error).__name__)
    return kind(str(error), request=request)


def _looked_into(headers: httpx2.Headers, parts: Iterator[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Whether a body is one of events, which not every server says; and its parts."""
    if _says_events(headers):
        return True, parts
    first = b""
    for part in parts:
        first += part
        if len(first.lstrip()) >= _LONGEST_FIELD:
            break
    return first.lstrip().startswith(_OF_EVENTS), chain((first,), parts)


async def _looked_into_async(
    headers: httpx2.Headers, parts: AsyncIterator[bytes]
) -> tuple[bool, AsyncIterator[bytes]]:
    if _says_events(headers):
        return True, parts
    first = b""
    async for part in parts:
        first += part
        if len(first.lstrip()) >= _LONGEST_FIELD:
            break

    async def all_of_them() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return first.lstrip().startswith(_OF_EVENTS), all_of_them()


def _says_events(headers: httpx2.Headers) -> bool:
    said = headers.get("content-type", "").partition(";")[0].strip().lower()
    return said == "text/event-stream"


def _decoded(status: int, headers: httpx2.Headers, parts: Iterable[bytes]) -> Iterable[bytes]:
    if "content-encoding" not in headers:
        return parts
    return httpx2.Response(status, headers=headers, content=parts).iter_bytes()


def _decoded_async(
    status: int, headers: httpx2.Headers, parts: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    if "content-encoding" not in headers:
        return parts
    return httpx2.Response(status, headers=headers, content=parts).aiter_bytes()


def _bounded(parts: Iterable[bytes], headers: httpx2.Headers, most: int) -> Iterator[bytes]:
    """The parts of a body; ProviderError when together they are too large."""
    left = most
    for part in parts:
        left -= len(part)
        if left < 0:
            raise _too_large(most, headers)
        if part:
            yield part


async def _bounded_async(
    parts: AsyncIterator[bytes], headers: httpx2.Headers, most: int
) -> AsyncIterator[bytes]:
    left = most
    async for part in parts:
        left -= len(part)
        if left < 0:
            raise _too_large(most, headers)
        if part:
            yield part


def _too_large(most: int, headers: httpx2.Headers) -> ProviderError:
    return ProviderError(
        f"the reply has more than {most} bytes",
        request_id=headers.get("x-request-id"),
        hint="raise `max_reply_bytes`, or ask for less",
    )


def _beginning(parts: Iterable[bytes]) -> bytes:
    """What is read of the body of an error."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) >= MOST_ERROR_BYTES:
            break
    return bytes(body[:MOST_ERROR_BYTES])


async def _beginning_async(parts: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) >= MOST_ERROR_BYTES:
            break
    return bytes(body[:MOST_ERROR_BYTES])


def _refuse_redirect(asked: httpx2.URL, status: int, headers: httpx2.Headers) -> None:
    location = headers.get("location")
    if location is None or not 300 <= status < 400:
        return
    try:
        target = asked.join(location)
        is_near = target.origin == asked.origin
        place = str(target.copy_with(userinfo=b"", query=None, fragment=None))
    except (httpx2.InvalidURL, ValueError):
        is_near, place = False, "no address"
    if is_near and status in _REPEATING:
        return
    said = f"the server answered {status}, which sends the prompt on to {shown(place)}"
    raise ProviderError(
        said if not is_near else f"{said} and forgets what it asks",
        status=status,
        request_id=headers.get("x-request-id"),
        hint="set `base_url` to the address that answers",
    )


def _proxy_to(address: httpx2.URL) -> httpcore2.Proxy | None:
    found = getproxies()
    named = found.get(address.scheme) or found.get("all")
    if not named or proxy_bypass(address.host):
        return None
    try:
        proxy = httpx2.Proxy(named if "://" in named else f"http://{named}")
        if proxy.url.port is not None and not 0 < proxy.url.port <= LAST_PORT:
            raise ValueError("there is no such port")
    except (httpx2.InvalidURL, ValueError):
        raise ConfigError(
            "the proxy URL in the environment is not valid",
            hint="look at HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
        ) from None
    url = proxy.url
    if proxy.raw_auth is not None:
        remember_secrets(proxy.raw_auth[1].decode(), user=proxy.raw_auth[0].decode())
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        ssl_context=_certificates() if url.scheme == "https" else None,
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Those that the environment trusts: a megabyte, and the same for every address."""
    return httpx2.create_ssl_context()


class _TimedBackend(httpcore2.SyncBackend):
    """Connections that end with the time of the request that uses them."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.NetworkStream:
        return _TimedStream(super().connect_tcp(host, port, _left(), local_address, socket_options))


class _TimedStream(httpcore2.NetworkStream):
    """A connection, of which each wait is one for what is left of the request's time."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        while rest:
            self._stream.write(rest[:_WRITTEN_AT_ONCE].tobytes(), _left())
            rest = rest[_WRITTEN_AT_ONCE:]

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left()))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left() -> float:
    """What is left of the request's time, in seconds."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout(_TOO_LATE)
    return left
