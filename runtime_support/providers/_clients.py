"""HTTP clients (httpx2) with a time limit per request, bounded replies, and no redirects.

    openai.OpenAI(http_client=client_to(httpx2.URL("https://api.openai.com/v1")), ...)
    content = yield from Body(response, most_bytes).read()

The connections come from httpcore2's pools. A request's time-out covers all of the request, from
waiting for a connection to the last byte of the reply. A `Body` reads the body of a response up to
a limit in bytes, which applies both to the compressed and to the decoded body. If the response is
an error, only the beginning of its body is read.

httpcore2 applies a time-out to each single wait: a server that sends a byte now and then could
block a thread for ever, and no other thread could stop it. So each wait here is limited to the
remaining time of the request.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, lru_cache, partial
from importlib.util import find_spec
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from runtime_support._core.redaction import remember_secrets, shown
from runtime_support._core.tasks.waits import Steps, Wait, close_after, finish
from runtime_support.errors import ConfigError, ProviderError
from runtime_support.providers._wires import request_id_of

LAST_PORT = 65_535

TOO_LATE = "the time of the request is over"
SILENT = "the server has sent nothing for a while"
# httpcore2's errors of the network and of the HTTP protocol.
NETWORK_ERRORS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)
_DAMAGED = (httpcore2.NetworkError, httpcore2.ProtocolError, httpx2.DecodingError)
# The errors of a response that breaks off or cannot be read.
BROKEN = (*NETWORK_ERRORS, httpx2.DecodingError, ValueError, ProviderError)

WRITTEN_AT_ONCE = 65_536

_MOST_ERROR_BYTES = 65_536
# Counts also the blanks that some servers send before an error, to keep the connection alive.
_MOST_BYTES_OF_ERROR = 1_000_000
_MOST_CONNECTIONS = 1000
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 5.0
_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
_NO_ENCODING = ("", "identity")


def client_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.Client:
    """Returns a client for threads, which uses the environment's proxy for this address.

    An embedded server is reached without a proxy.
    """
    return client_over(_Transport(pool_options(address, is_embedded)), address)


def client_over(transport: httpx2.BaseTransport, address: httpx2.URL) -> httpx2.Client:
    """Returns a client for threads with this transport."""
    return _Client(transport=transport, auth=auth_of(address))


def pool_options(address: httpx2.URL, is_embedded: bool) -> dict[str, Any]:
    """Returns the options of a connection pool: limits, proxy and trusted certificates."""
    # llama.cpp's server closes idle connections, perhaps just when a client reuses one. Opening a
    # new local connection takes no time compared to a reply.
    return {
        "max_connections": _MOST_CONNECTIONS,
        "max_keepalive_connections": 0 if is_embedded else _MOST_IDLE_CONNECTIONS,
        "keepalive_expiry": 0 if is_embedded else _IDLE_SECONDS,
        "proxy": None if is_embedded else _proxy_to(address),
        "ssl_context": _certificates() if address.scheme == "https" else None,
    }


def auth_of(address: httpx2.URL) -> tuple[str, str] | None:
    """Returns the user name and the password in an address, or None.

    They are sent in a header, not in the URL.
    """
    return (address.username, address.password) if address.userinfo else None


class FastRequestBuilder:
    """Builds simple requests fast: it caches parsed URLs and skips httpx2's general code.

    That code would take a tenth of the time of a prompt.
    """

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """Returns the request; the parameters are those of `httpx2.Client.build_request`."""
        client: Any = self
        content, headers, timeout = map(parts.pop, ("content", "headers", "timeout"))
        if any(parts.values()) or client.cookies:
            of_httpx2: Any = super()
            parts |= {"content": content, "headers": headers, "timeout": timeout}
            return of_httpx2.build_request(method, url, **parts)
        if isinstance(headers, httpx2.Headers):  # one of the two packages passes these
            headers = headers.multi_items()
        return httpx2.Request(
            method,
            _parsed(url),
            headers=[*self._always, *headers],
            content=content,
            extensions={"timeout": httpx2.Timeout(timeout).as_dict()},
        )

    @cached_property
    def _always(self) -> list[tuple[str, str]]:
        own: Any = self
        return [(name, own.headers[name]) for name in ("Accept-Encoding", "Connection")]


@lru_cache(64)
def _parsed(url: httpx2.URL | str) -> httpx2.URL:
    return httpx2.URL(url)


class _Client(FastRequestBuilder, httpx2.Client):
    """A client for threads."""


class _Transport(httpx2.BaseTransport):
    """A transport for threads: a pool of connections to one server."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._pool = httpcore2.ConnectionPool(network_backend=Backend(), **options)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Returns the response with an unread body."""
        return finish(respond(request, self._pool, lambda: None))

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


def respond(
    request: httpx2.Request, pool: Any, leave: Callable[[], None]
) -> Steps[httpx2.Response]:
    """Sends a request through a pool and returns its response, with the body unread.

    If the response is an error, the beginning of its body has been read. `leave` is called when
    sending fails. If sending succeeds, `leave` is called when an event loop closes the response.
    Raises ProviderError for a redirect.
    """
    times = request.extensions["timeout"]
    silence = times["read"] if times["read"] < times["connect"] else float("inf")
    bounds = BodyLimits(times["connect"], silence)
    url = request.url
    asked = httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), bounds)},
    )
    try:
        found: Any = yield Wait(
            lambda: pool.handle_request(asked), lambda: pool.handle_async_request(asked)
        )
    except BaseException:
        leave()
        raise
    response = httpx2.Response(
        found.status,
        headers=found.headers,
        stream=_Parts(found, bounds, leave),
        request=request,
        extensions={**found.extensions, "bounds": bounds},
    )
    if response.status_code < 400 and not response.has_redirect_location:
        return response
    body = Body(response, _MOST_BYTES_OF_ERROR, is_cut=True)
    content = yield from close_after(body.read_beginning(_MOST_ERROR_BYTES), body.closing)
    if response.has_redirect_location:
        raise _redirected(response)
    headers = response.headers.copy()
    for name in _OF_THE_WAY:
        headers.pop(name, None)
    return httpx2.Response(found.status, headers=headers, content=content[:_MOST_ERROR_BYTES])


class _Parts(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """The raw body of a response. Its bytes are counted against the limit while they are read."""

    def __init__(self, found: Any, bounds: BodyLimits, leave: Callable[[], None]) -> None:
        self._found = found
        self.bounds = bounds
        self._leave = leave

    def __iter__(self) -> Iterator[bytes]:
        for part in self._found.iter_stream():
            self.bounds.receive(part)
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._found.aiter_stream():
            self.bounds.receive(part)
            yield part

    def close(self) -> None:
        self._found.close()

    async def aclose(self) -> None:
        self._leave()
        await self._found.aclose()


class Body:
    """Reads the decoded body of a response, within the time limit and up to `most` bytes.

    `most` limits the compressed and the decoded bytes. A longer body raises ProviderError. If
    `is_cut` is true, a longer body ends at the limit instead, and a broken one where it breaks.
    """

    def __init__(
        self, response: httpx2.Response, most: float = float("inf"), *, is_cut: bool = False
    ) -> None:
        self._response = response
        self.request_id = request_id_of(response)
        self.bounds: BodyLimits = response.extensions["bounds"]
        self.bounds.most = most
        self._is_cut = is_cut
        said = response.headers.get("content-type", "").partition(";")[0]
        self.content_type = said.strip().lower()
        encodings = response.headers.get("content-encoding", "").lower().split(",")
        self._encodings = [one.strip() for one in encodings if one.strip(" ") not in _NO_ENCODING]
        self._here = response.iter_bytes()
        self._there = response.aiter_bytes()
        self.length = 0
        # Ends the exchange, even if the server would send more. In an event loop, closing never
        # waits: so no cancellation can interrupt it and leave the connection in its pool.
        self.closing = Wait(response.close, response.aclose)

    def read(self, begun: bytes = b"") -> Steps[bytes]:
        """Returns the whole body, or what follows after `begun`, the part that was read before."""
        parts = [begun]
        while part := (yield from self.next_part()):
            parts.append(part)
        return b"".join(parts)

    def read_beginning(self, least: int) -> Steps[bytes]:
        """Returns at least `least` bytes without leading blanks, or all of a shorter body."""
        content = b""
        while len(content) < least and (part := (yield from self.next_part())):
            content = content + part if content else part.lstrip()
        return content

    def next_part(self) -> Steps[bytes]:
        """Returns the next part of the body, or b"" at its end.

        Raises ProviderError if the body is too large or compressed more than once.
        """
        if len(self._encodings) > 1:  # may be a zip bomb: gigabytes from a few bytes
            if self._is_cut:
                return b""
            raise ProviderError(
                f"the reply is packed more than once: {', '.join(self._encodings)}",
                request_id=self.request_id,
                hint="look at the proxy between here and the server",
            )
        part: bytes | None = b""
        try:
            while part == b"":
                part = yield Wait(
                    partial(next, self._here, None), partial(anext, self._there, None)
                )
            part = part or b""
            self.length += len(part)
            self.bounds.check(self.length)
        except (BodyTooLarge, *_DAMAGED) as error:
            if self._is_cut:  # the status of an error says enough
                return b""
            if not isinstance(error, BodyTooLarge):
                raise
            raise ProviderError(
                f"the reply has more than {self.bounds.most} bytes",
                request_id=self.request_id,
                hint="raise `max_reply_bytes`, or ask for less",
            ) from None
        return part


def _redirected(response: httpx2.Response) -> ProviderError:
    """Returns the error for a redirect; the message names the new address without secrets."""
    try:
        target = response.request.url.join(response.headers["location"])
        place = str(target.copy_with(userinfo=b"", query=None, fragment=None))
    except (httpx2.InvalidURL, ValueError):
        place = "an address that is not valid"
    return ProviderError(
        f"the server redirected ({response.status_code}) to {shown(place)}",
        status=response.status_code,
        request_id=request_id_of(response),
        hint="set `base_url` to the address that answers",
    )


def _proxy_to(address: httpx2.URL) -> httpcore2.Proxy | None:
    found = getproxies()
    named = found.get(address.scheme) or found.get("all")
    if not named or any(map(proxy_bypass, (address.host, address.netloc.decode()))):
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
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigError("a SOCKS proxy needs the package socksio", hint="pip install socksio")
    if proxy.auth is not None:
        remember_secrets(proxy.auth[1], user=proxy.auth[0])
    trusted = _certificates() if proxy.url.scheme == "https" else None
    return httpcore2.Proxy(str(proxy.url), auth=proxy.raw_auth, ssl_context=trusted)


@cache
def _certificates() -> ssl.SSLContext:
    """Returns the certificates that the environment trusts.

    They are loaded once, as they take a megabyte.
    """
    return httpx2.create_ssl_context()


# The network backend of the pools


class BodyTooLarge(Exception):
    """Raised when a body exceeds its limit."""


class BodyLimits(float):
    """The time-out of a request in seconds, and the limit of its response's body in bytes.

    The time is counted from the creation of the object. `silence` is the longest time in seconds
    that the server may send nothing.
    """

    end: float
    silence: float
    most: float
    received = 0

    def __new__(cls, seconds: float, silence: float) -> BodyLimits:
        made = super().__new__(cls, seconds)
        made.end, made.silence, made.most = time.monotonic() + seconds, silence, float("inf")
        return made

    @property
    def left(self) -> float:
        """The remaining seconds; negative after the time-out."""
        return self.end - time.monotonic()

    def receive(self, part: bytes) -> None:
        """Counts bytes of the raw body, and calls `check` with their number."""
        self.received += len(part)
        self.check(self.received)

    def check(self, length: int) -> None:
        """Raises BodyTooLarge if `length` exceeds the limit, or ReadTimeout if the time is over."""
        if length > self.most:
            raise BodyTooLarge
        if self.left < 0:  # data that is already there causes no wait, and so no time-out
            raise httpcore2.ReadTimeout(TOO_LATE)


@contextmanager
def wait_within(
    timeout: float | None, late: type[Exception] = httpcore2.ReadTimeout
) -> Generator[float]:
    """Yields the seconds that the wait in the block may take.

    Raises `late`, with the reason, if the wait takes longer.
    """
    assert isinstance(timeout, BodyLimits)
    left, silence = timeout.left, timeout.silence
    if late is httpcore2.ConnectTimeout:  # a server that is not connected yet is not silent
        silence = float("inf")
    try:
        if left <= 0:
            raise TimeoutError
        yield min(left, silence)
    except (TimeoutError, httpcore2.TimeoutException):
        raise late(TOO_LATE if left <= silence else SILENT) from None


class Backend(httpcore2.SyncBackend):
    """A network backend that opens connections for threads."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Opens a connection within the time-out."""
        with wait_within(timeout, httpcore2.ConnectTimeout) as left:
            return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    """A connection for threads that buffers small writes.

    The headers of a request are thus sent together with its body, and the server wakes up once.
    """

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._kept = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._kept:
            # As in httpcore2: a server may answer before it has read the whole request.
            with suppress(httpcore2.WriteError):
                self._send(timeout)
        with wait_within(timeout) as left:
            return self._stream.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._kept += buffer
        if len(self._kept) > WRITTEN_AT_ONCE:
            self._send(timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        with wait_within(timeout, httpcore2.ConnectTimeout) as left:
            return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _send(self, timeout: float | None) -> None:
        kept, self._kept = self._kept, b""
        for begin in range(0, len(kept), WRITTEN_AT_ONCE):
            with wait_within(timeout) as left:
                self._stream.write(kept[begin : begin + WRITTEN_AT_ONCE], left)
