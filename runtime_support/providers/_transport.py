"""Requests over HTTP that end: in time, with a reply of bounded size, at the server named.

    httpx2.Client(transport=transport_to(httpx2.URL("https://api.openai.com/v1")))

The time-out of a request bounds all of it, from waiting for a connection to the last byte of the
reply, and not the pause between two bytes as it does in httpx2. A reply is read up to
`max_reply_bytes`, counted after decompression; of the body of an error its beginning is enough.
A redirect to another place is an error: the prompt was not meant for it.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from runtime_support._redaction import remember_secrets, shown
from runtime_support.errors import ConfigError, ProviderError

MOST_ERROR_BYTES = 65_536

_MOST_CONNECTIONS = 1000
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 5.0
_WRITTEN_AT_ONCE = 65_536

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
_most_reply_bytes: ContextVar[int] = ContextVar("most_reply_bytes")
_deadline: ContextVar[float] = ContextVar("deadline")


@contextmanager
def bounded_replies(most_bytes: int) -> Generator[None]:
    """Requests of the block refuse replies of more bytes."""
    token = _most_reply_bytes.set(most_bytes)
    try:
        yield
    finally:
        _most_reply_bytes.reset(token)


def transport_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.BaseTransport:
    """The transport to this address, through the proxy that the environment names for it.

    An embedded server is reached directly.
    """
    proxy = None if is_embedded else _proxy_to(address)
    pool = httpcore2.ConnectionPool(
        ssl_context=_certificates() if address.scheme == "https" else None,
        proxy=proxy,
        max_connections=_MOST_CONNECTIONS,
        max_keepalive_connections=_MOST_IDLE_CONNECTIONS,
        keepalive_expiry=_IDLE_SECONDS,
        network_backend=_TimedBackend(),
    )
    return _Transport(pool)


class _Transport(httpx2.BaseTransport):
    """Connections to one server."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The whole response; an error of httpx2, or a ProviderError that no try would mend."""
        # Kept with the request, so that a redirect gets no time of its own.
        end = time.monotonic() + request.extensions["timeout"]["read"]
        token = _deadline.set(request.extensions.setdefault("end", end))
        try:
            return self._answer(request)
        except _FAILURES as error:
            kind: Callable[..., Exception] = getattr(httpx2, type(error).__name__)
            raise kind(str(error), request=request) from error
        finally:
            _deadline.reset(token)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        answer = self._pool.handle_request(asked)
        try:
            headers = httpx2.Headers(answer.headers)
            _refuse_redirect(request.url, answer.status, headers)
            body = _body(answer.status, headers, answer.iter_stream())
        finally:
            answer.close()
        for name in _OF_THE_WAY:
            headers.pop(name, None)
        return httpx2.Response(answer.status, headers=headers, content=body)

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


def _body(status: int, headers: httpx2.Headers, parts: Iterable[bytes]) -> bytes:
    """The body, decompressed; ProviderError when that is too large."""
    if "content-encoding" in headers:
        parts = httpx2.Response(status, headers=headers, content=parts).iter_bytes()
    most = MOST_ERROR_BYTES if status >= 400 else _most_reply_bytes.get()
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > most:
            if status >= 400:
                break
            raise ProviderError(
                f"the reply has more than {most} bytes",
                request_id=headers.get("x-request-id"),
                hint="raise `max_reply_bytes`, or ask for less",
            )
    return bytes(body[:most])


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
    except (httpx2.InvalidURL, ValueError):
        raise ConfigError(
            "the environment names a proxy that has no address",
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
        raise httpcore2.ReadTimeout("the time of the request is over")
    return left
