"""httpx2's clients for requests that end: in time, with a reply of bounded size, where they began.

    openai.OpenAI(http_client=client_to(httpx2.URL("https://api.openai.com/v1")), ...)
    openai.AsyncOpenAI(http_client=async_client_to(httpx2.URL("https://api.openai.com/v1")), ...)
    content = yield from Body(response, most_bytes).read()

The time-out of a request bounds all of it, from waiting for a connection to the last byte of the
reply (`_transport`). A client leaves the body of a response to be read by a `Body`, up to a number
of bytes, packed and unpacked; of the body of an error it has read the beginning. A redirect is an
error: the prompt was not meant for another place.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import cache, cached_property, lru_cache, partial
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2

from runtime_support._effects import (
    Effect,
    Effects,
    close_after,
    finish,
    finish_async,
    iterate,
    iterate_async,
)
from runtime_support._redaction import remember_secrets, shown
from runtime_support.errors import ConfigError, ProviderError
from runtime_support.providers._transport import TOO_LATE, AsyncTransport, Deadline, Transport
from runtime_support.providers._wires import request_id_of

LAST_PORT = 65_535

_MOST_ERROR_BYTES = 65_536
# With the blanks before an error, by which some servers keep a connection alive.
_MOST_BYTES_OF_ERROR = 1_000_000
_MOST_CONNECTIONS = 1000
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 5.0

_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")

# What events begin with, and no JSON.
_OF_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_FIELD = max(map(len, _OF_EVENTS))
# The last of the events; how long, and for how many bytes, the end of the body is waited for.
_DONE = b"[DONE]"
_LONGEST_END = 64
_DRAIN_SECONDS = 0.1
_DRAIN_BYTES = 65_536


def client_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.Client:
    """A client for threads, through the proxy that the environment names for this address.

    An embedded server is reached directly.
    """
    return client_over(Transport(**_reached(address, is_embedded)), address)


def client_over(transport: httpx2.BaseTransport, address: httpx2.URL) -> httpx2.Client:
    """A client for threads that sends by this transport."""
    return _Client(transport=transport, auth=_auth(address))


def async_client_to(address: httpx2.URL, *, is_embedded: bool = False) -> httpx2.AsyncClient:
    """The same for an event loop."""
    return _AsyncClient(
        transport=AsyncTransport(**_reached(address, is_embedded)), auth=_auth(address)
    )


def _reached(address: httpx2.URL, is_embedded: bool) -> dict[str, Any]:
    """How an address is reached: by how many connections, through which proxy, trusting whom."""
    return {
        "limits": _limits(is_embedded),
        "proxy": None if is_embedded else _proxy_to(address),
        # They are a megabyte.
        "certificates": _certificates() if address.scheme == "https" else None,
    }


def _limits(is_embedded: bool) -> httpx2.Limits:
    # llama.cpp's server closes an idle connection, maybe just as it is used again; a new one on
    # this machine costs nothing beside a reply.
    return httpx2.Limits(
        max_connections=_MOST_CONNECTIONS,
        max_keepalive_connections=0 if is_embedded else _MOST_IDLE_CONNECTIONS,
        keepalive_expiry=0 if is_embedded else _IDLE_SECONDS,
    )


def _auth(address: httpx2.URL) -> tuple[str, str] | None:
    """A name and password beside the address, so that no log of the address has them."""
    return (address.username, address.password) if address.userinfo else None


class _Lightly:
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


class _Client(_Lightly, httpx2.Client):
    """For threads."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The response, of which the body is still to be read."""
        return finish(_sent(request, partial(super().send, **options | _OPEN)))


class _AsyncClient(_Lightly, httpx2.AsyncClient):
    """For an event loop."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The response, of which the body is still to be read."""
        return await finish_async(_sent(request, partial(super().send, **options | _OPEN)))


_OPEN: dict[str, Any] = {"stream": True, "follow_redirects": False}


def _sent(request: httpx2.Request, send: Callable[..., Any]) -> Effects[httpx2.Response]:
    """The response to a request; ProviderError when its server has it asked elsewhere."""
    times = request.extensions["timeout"]
    silence = times["read"] if times["read"] < times["connect"] else None
    deadline = Deadline(times["connect"], silence)
    for_each = dict.fromkeys(("connect", "read", "write", "pool"), deadline)
    request.extensions = {**request.extensions, "timeout": for_each}
    ask = partial(send, request)
    response: httpx2.Response = yield Effect(ask, partial(deadline.awaited, ask))
    response.extensions["deadline"] = deadline
    if response.status_code >= 400:
        return (yield from _error(response))
    if response.has_redirect_location:
        yield Body(response).closing
        raise _redirected(response)
    return response


def _error(response: httpx2.Response) -> Effects[httpx2.Response]:
    """The response with the beginning of its body."""
    body = Body(response, _MOST_BYTES_OF_ERROR, is_cut=True)
    content = yield from body.read_beginning(_MOST_ERROR_BYTES)
    headers = response.headers.copy()
    for name in _OF_THE_WAY:
        headers.pop(name, None)
    status = response.status_code
    return httpx2.Response(status, headers=headers, content=content, request=response.request)


_NO_ENCODING = ("", "identity")


class _TooMuch(Exception):
    """A body has more bytes than are read."""


class _Packed(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """The compressed bytes of a response; `count` is told of each part of them."""

    def __init__(self, parts: Any, count: Callable[[bytes], None]) -> None:
        self._parts = parts
        self._count = count

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self._count(part)
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            self._count(part)
            yield part

    def close(self) -> None:
        self._parts.close()

    async def aclose(self) -> None:
        await self._parts.aclose()


class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """What a response has, still to be read: decoded, in time, and up to `most` bytes.

    These are counted as they are sent and as they are decoded. When there are more, it is an error;
    one that `is_cut` ends there.
    """

    def __init__(
        self, response: httpx2.Response, most: int | None = None, *, is_cut: bool = False
    ) -> None:
        self._response = response
        self._most = most
        self._is_cut = is_cut
        self._deadline: Deadline = response.extensions["deadline"]
        encodings = response.headers.get("content-encoding", "").lower().split(",")
        self._encodings = [one.strip() for one in encodings if one.strip(" ") not in _NO_ENCODING]
        if self._encodings:
            response.stream = _Packed(response.stream, self._count_packed)
        self._here = response.iter_bytes()
        self._there = response.aiter_bytes()
        self._ahead: list[bytes] = []
        self._end = b""
        self._length = self._packed = 0
        # Whether all that is wanted has come.
        self.has_ended = False

    @property
    def is_done(self) -> bool:
        """Whether what has come ends with `[DONE]`, the last of the events."""
        return self._end.rstrip().endswith(_DONE)

    def read(self) -> Effects[bytes]:
        """All of it."""
        return (yield from close_after(self._all(), self.closing))

    def read_beginning(self, most: int) -> Effects[bytes]:
        """As many bytes of it, or all."""
        return (yield from close_after(self._beginning(most), self.closing))[:most]

    def has_events(self) -> Effects[bool]:
        """Whether it is one of server-sent events, which not every server says."""
        said = self._response.headers.get("content-type", "").partition(";")[0]
        if said.strip().lower() == "text/event-stream":
            return True
        first = yield from self._beginning(_LONGEST_FIELD)
        self._ahead.append(first)
        return first.lstrip().startswith(_OF_EVENTS)

    def events(self) -> httpx2.Response:
        """A response from which its events can be read as they come."""
        return httpx2.Response(
            self._response.status_code, stream=self, request=self._response.request
        )

    @property
    def closing(self) -> Effect:
        """Ends the exchange, also when the server has more to say."""
        return Effect(self._response.close, partial(_to_its_end, self._response.aclose))

    def __iter__(self) -> Iterator[bytes]:
        return iterate(self._parts())

    def __aiter__(self) -> AsyncIterator[bytes]:
        return iterate_async(self._parts())

    def close(self) -> None:
        """Ends the exchange; the connection serves again when all was read."""
        finish(close_after(self._drained(), self.closing))

    async def aclose(self) -> None:
        """The same, awaited."""
        await finish_async(close_after(self._drained(), self.closing))

    def resting(self) -> AbstractContextManager[None]:
        """Does not count the time of the block, in which a script works with a piece."""
        return self._deadline.resting()

    def _parts(self) -> Effects[None]:
        while part := (yield from self._next()):
            yield part

    def _all(self) -> Effects[bytes]:
        parts: list[bytes] = []
        while part := (yield from self._next()):
            parts.append(part)
        return b"".join(parts)

    def _beginning(self, least: int) -> Effects[bytes]:
        """As many bytes or more, without the blanks before them."""
        content = b""
        while len(content) < least and (part := (yield from self._next())):
            content = content + part if content else part.lstrip()
        return content

    def _drained(self) -> Effects[None]:
        if not (self.is_done or self.has_ended):
            return
        # What ends the body is on its way, and with it read the connection serves again.
        self._deadline.end = time.monotonic() + _DRAIN_SECONDS
        self._most = self._length + _DRAIN_BYTES
        with suppress(httpx2.TransportError, ProviderError):
            while (yield from self._next()):
                pass

    def _next(self) -> Effects[bytes]:
        """The next part; nothing at the end. ProviderError when all together are too large."""
        if self._ahead:
            return self._ahead.pop()
        if len(self._encodings) > 1:  # a few bytes would be gigabytes, and none of them is seen
            if self._is_cut:
                return b""
            raise ProviderError(
                f"the reply is packed more than once: {', '.join(self._encodings)}",
                request_id=request_id_of(self._response),
                hint="look at the proxy between here and the server",
            )
        part: bytes | None = b""
        try:
            while part == b"":
                part = yield Effect(partial(next, self._here, None), self._awaited)
            part = part or b""
            self._end = (self._end + part[-_LONGEST_END:])[-_LONGEST_END:]
            self._length += len(part)
            self._check(self._length)
        except _TooMuch:
            if self._is_cut:
                return b""
            raise ProviderError(
                f"the reply has more than {self._most} bytes",
                request_id=request_id_of(self._response),
                hint="raise `max_reply_bytes`, or ask for less",
            ) from None
        return part

    def _count_packed(self, data: bytes) -> None:
        self._packed += len(data)
        self._check(self._packed)

    def _check(self, length: int) -> None:
        """_TooMuch or a time-out of httpx2 when it is too long, or has taken too long to read."""
        if self._most is not None and length > self._most:
            raise _TooMuch
        if self._deadline.left < 0:  # where nothing is waited for, nobody else looks
            raise httpx2.ReadTimeout(TOO_LATE)

    async def _awaited(self) -> bytes | None:
        return await self._deadline.awaited(partial(anext, self._there, None))


async def _to_its_end(close: Callable[[], Awaitable[None]]) -> None:
    """Closes something, also when the task is cancelled meanwhile: its pool would not forget it."""
    import asyncio

    closing = asyncio.ensure_future(close())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await asyncio.wait((closing,))
        raise


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


def _proxy_to(address: httpx2.URL) -> httpx2.Proxy | None:
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
    if proxy.url.scheme == "https":
        proxy.ssl_context = _certificates()
    return proxy


@cache
def _certificates() -> ssl.SSLContext:
    """Those that the environment trusts: a megabyte, and the same for every address."""
    return httpx2.create_ssl_context()
