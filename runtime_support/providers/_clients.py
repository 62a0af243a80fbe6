"""httpx2's clients for requests that end: in time, with a reply of bounded size, where they began.

    openai.OpenAI(http_client=client_to(httpx2.URL("https://api.openai.com/v1")), ...)
    content = yield from Body(response, most_bytes).read()

The connections are those of httpcore2's pool. The time-out of a request bounds all of it, from
waiting for a connection to the last byte of the reply. The body of a response is left
to be read by a `Body`, up to a number of bytes, packed and unpacked; of the body of an error the
beginning has been read.

In httpcore2 a time-out is one for each wait: a server that sends a byte now and then, or a header,
would hold a thread for ever, and nothing outside of the thread could end it. So each wait for the
network looks at what is left.
"""

from __future__ import annotations

import re
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, lru_cache, partial
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from runtime_support._core.redaction import remember_secrets, shown
from runtime_support._core.tasks.effects import Effect, Effects, close_after, finish
from runtime_support.errors import ConfigError, ProviderError
from runtime_support.providers._wires import request_id_of

LAST_PORT = 65_535

TOO_LATE = "the time of the request is over"
SILENT = "the server has sent nothing for a while"
# What goes wrong with the network, beside the time.
NETWORK_ERRORS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)

WRITTEN_AT_ONCE = 65_536

_MOST_ERROR_BYTES = 65_536
# With the blanks before an error, by which some servers keep a connection alive.
_MOST_BYTES_OF_ERROR = 1_000_000
_MOST_CONNECTIONS = 1000
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 5.0
_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
_NO_ENCODING = ("", "identity")

# What events begin with, and no JSON.
_OF_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_FIELD = max(map(len, _OF_EVENTS))
_LINE_END = re.compile(rb"\r\n|\n|\r")
# How long, and for how many bytes, the end of a body is waited for behind its last event.
_DRAIN_SECONDS = 0.1
_DRAIN_BYTES = 65_536


def client_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.Client:
    """A client for threads, through the proxy that the environment names for this address.

    An embedded server is reached directly.
    """
    return client_over(_Transport(pool_options(address, is_embedded)), address)


def client_over(transport: httpx2.BaseTransport, address: httpx2.URL) -> httpx2.Client:
    """A client for threads that sends by this transport."""
    return _Client(transport=transport, auth=auth_of(address))


def pool_options(address: httpx2.URL, is_embedded: bool) -> dict[str, Any]:
    """How an address is reached: by how many connections, through which proxy, trusting whom."""
    # llama.cpp's server closes an idle connection, maybe just as it is used again; a new one on
    # this machine costs nothing beside a reply.
    return {
        "max_connections": _MOST_CONNECTIONS,
        "max_keepalive_connections": 0 if is_embedded else _MOST_IDLE_CONNECTIONS,
        "keepalive_expiry": 0 if is_embedded else _IDLE_SECONDS,
        "proxy": None if is_embedded else _proxy_to(address),
        "ssl_context": _certificates() if address.scheme == "https" else None,
    }


def auth_of(address: httpx2.URL) -> tuple[str, str] | None:
    """A name and password beside the address, so that no log of the address has them."""
    return (address.username, address.password) if address.userinfo else None


class LightRequests:
    """Builds requests of the one form that is sent here, with an address that is parsed once.

    What httpx2 does for requests of all forms is a tenth of the time of a prompt.
    """

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """The request; see `httpx2.Client`."""
        client: Any = self
        content, headers, timeout = map(parts.pop, ("content", "headers", "timeout"))
        if any(parts.values()) or client.cookies:
            of_httpx2: Any = super()
            parts |= {"content": content, "headers": headers, "timeout": timeout}
            return of_httpx2.build_request(method, url, **parts)
        if isinstance(headers, httpx2.Headers):  # the packages differ
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


class _Client(LightRequests, httpx2.Client):
    """For threads."""


class _Transport(httpx2.BaseTransport):
    """Connections to one server, for threads."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._pool = httpcore2.ConnectionPool(network_backend=Backend(), **options)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, of which the body is still to be read."""
        return finish(respond(request, self._pool, lambda: None))

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


def respond(
    request: httpx2.Request, pool: Any, leave: Callable[[], None]
) -> Effects[httpx2.Response]:
    """The response of a pool, which is left when it is closed; of an error, with its beginning."""
    times = request.extensions["timeout"]
    silence = times["read"] if times["read"] < times["connect"] else float("inf")
    bounds = Bounds(times["connect"], silence)
    url = request.url
    asked = httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), bounds)},
    )
    try:
        found: Any = yield Effect(
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
    """The body of a response as it is sent, its bytes counted."""

    def __init__(self, found: Any, bounds: Bounds, leave: Callable[[], None]) -> None:
        self._found = found
        self._bounds = bounds
        self._leave = leave

    def __iter__(self) -> Iterator[bytes]:
        for part in self._found.iter_stream():
            self._bounds.receive(part)
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._found.aiter_stream():
            self._bounds.receive(part)
            yield part

    def close(self) -> None:
        self._found.close()

    async def aclose(self) -> None:
        self._leave()
        await self._found.aclose()


class Body:
    """What a response has, still to be read: decoded, in time, and up to `most` bytes.

    These are counted as they are sent and as they are decoded. When there are more, it is an error;
    one that `is_cut` ends there.
    """

    def __init__(
        self, response: httpx2.Response, most: float = float("inf"), *, is_cut: bool = False
    ) -> None:
        self._response = response
        self.request_id = request_id_of(response)
        self._bounds: Bounds = response.extensions["bounds"]
        self._bounds.most = most
        self._is_cut = is_cut
        encodings = response.headers.get("content-encoding", "").lower().split(",")
        self._encodings = [one.strip() for one in encodings if one.strip(" ") not in _NO_ENCODING]
        self._here = response.iter_bytes()
        self._there = response.aiter_bytes()
        self._length = 0
        # The lines that have come, the pieces of the one that has not ended, and what ended last.
        self._lines: deque[bytes] = deque()
        self._pieces: list[bytes] = []
        self._before = b""
        # Ends the exchange, also when the server has more to say. In a loop nothing of it waits, so
        # that a task cannot be cancelled in the middle, and its pool would not forget it.
        self.closing = Effect(response.close, response.aclose)
        self.resting = self._bounds.resting

    def read(self) -> Effects[bytes]:
        """All of it."""
        parts: list[bytes] = self._pieces
        while part := (yield from self._next()):
            parts.append(part)
        return b"".join(parts)

    def read_beginning(self, least: int) -> Effects[bytes]:
        """As many bytes or more, without the blanks before them."""
        content = b""
        while len(content) < least and (part := (yield from self._next())):
            content = content + part if content else part.lstrip()
        return content

    def has_events(self) -> Effects[bool]:
        """Whether it is one of server-sent events, which not every server says."""
        said = self._response.headers.get("content-type", "").partition(";")[0]
        if said.strip().lower() == "text/event-stream":
            return True
        first = yield from self.read_beginning(_LONGEST_FIELD)
        are_events = first.startswith(_OF_EVENTS)
        self._add(first) if are_events else self._pieces.append(first)
        return are_events

    def next_event(self) -> Effects[bytes | None]:
        """The data of the next event that has some; None at the end."""
        data: list[bytes] = []
        while (line := (yield from self._next_line())) is not None:
            if not line and any(data):
                break
            name, _, value = line.partition(b":")
            if name == b"data":
                data.append(value.removeprefix(b" "))
        return b"\n".join(data) or None

    def _next_line(self) -> Effects[bytes | None]:
        while not self._lines:
            part = yield from self._next()
            if not part:
                rest, self._pieces = b"".join(self._pieces), []
                return rest or None
            self._add(part)
        return self._lines.popleft()

    def drain(self) -> Effects[None]:
        """Reads on to the end, which is on its way: then the connection serves again."""
        self._bounds.end = time.monotonic() + _DRAIN_SECONDS
        self._bounds.most = max(self._length, self._bounds.received) + _DRAIN_BYTES
        with suppress(*NETWORK_ERRORS, ProviderError):
            while (yield from self._next()):
                pass

    def _add(self, part: bytes) -> None:
        """Cuts a part into lines, in time that is proportional to its length."""
        if self._before.endswith(b"\r"):
            part = part.removeprefix(b"\n")
        self._before = part or self._before
        first, *others = _LINE_END.split(part)
        self._pieces.append(first)
        if others:
            self._lines.append(b"".join(self._pieces))
            self._lines += others[:-1]
            self._pieces = others[-1:]

    def _next(self) -> Effects[bytes]:
        """The next part; nothing at the end. ProviderError when all together are too large."""
        if len(self._encodings) > 1:  # a few bytes would be gigabytes, and none of them is seen
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
                part = yield Effect(
                    partial(next, self._here, None), partial(anext, self._there, None)
                )
            part = part or b""
            self._length += len(part)
            self._bounds.check(self._length)
        except TooMuch:
            if self._is_cut:
                return b""
            raise ProviderError(
                f"the reply has more than {self._bounds.most} bytes",
                request_id=self.request_id,
                hint="raise `max_reply_bytes`, or ask for less",
            ) from None
        return part


def _redirected(response: httpx2.Response) -> ProviderError:
    """The error for a redirect: it names the new address, without what may be secret of it."""
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
    if proxy.auth is not None:
        remember_secrets(proxy.auth[1], user=proxy.auth[0])
    trusted = _certificates() if proxy.url.scheme == "https" else None
    return httpcore2.Proxy(str(proxy.url), auth=proxy.raw_auth, ssl_context=trusted)


@cache
def _certificates() -> ssl.SSLContext:
    """Those that the environment trusts: a megabyte, and the same for every address."""
    return httpx2.create_ssl_context()


# The network of the pools


class TooMuch(Exception):
    """A body has more bytes than are read."""


class Bounds(float):
    """A time-out that began when it was made, and the most bytes of a body; a number of seconds.

    `silence` is for how many seconds the server may send nothing.
    """

    end: float
    silence: float
    most: float
    received = 0

    def __new__(cls, seconds: float, silence: float) -> Bounds:
        made = super().__new__(cls, seconds)
        made.end, made.silence, made.most = time.monotonic() + seconds, silence, float("inf")
        return made

    @property
    def left(self) -> float:
        """The seconds that are left; less than none when it is over."""
        return self.end - time.monotonic()

    def receive(self, part: bytes) -> None:
        """Counts bytes as they are sent."""
        self.received += len(part)
        self.check(self.received)

    def check(self, length: int) -> None:
        """TooMuch or a time-out of httpcore2 when a body is too long, or takes too long to read."""
        if length > self.most:
            raise TooMuch
        if self.left < 0:  # where nothing is waited for, nobody else looks
            raise httpcore2.ReadTimeout(TOO_LATE)

    @contextmanager
    def resting(self) -> Generator[None]:
        """Does not count the time of the block, in which a script works."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.end += time.monotonic() - began


@contextmanager
def wait_within(
    timeout: float | None, late: type[Exception] = httpcore2.ReadTimeout
) -> Generator[float]:
    """The seconds that the wait in the block may take; an error that says which time was over."""
    assert isinstance(timeout, Bounds)
    left, silence = timeout.left, timeout.silence
    try:
        if left <= 0:
            raise TimeoutError
        yield min(left, silence)
    except (TimeoutError, httpcore2.TimeoutException):
        raise late(TOO_LATE if left <= silence else SILENT) from None


class Backend(httpcore2.SyncBackend):
    """Connections for threads."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A new connection."""
        with wait_within(timeout, httpcore2.ConnectTimeout) as left:
            return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    """A connection for threads.

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
