"""HTTP for threads, in which the time-out of a request is one for all of it.

    httpx2.Client(transport=TimedTransport(limits=..., proxy=None, certificates=None))
    deadline = Deadline(60.0)         a request has it as its time-out

In httpx2 a time-out is one for each wait: a server that sends a byte now and then, or a header,
would hold a thread for ever, and nothing outside of the thread could end it. So each wait for the
network looks at what is left of the deadline. In an event loop `asyncio.timeout` does that.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore2
import httpx2

TOO_LATE = "the time of the request is over"

_WRITTEN_AT_ONCE = 65_536


class Deadline(float):
    """A time-out that began when it was made; as a plain number, its seconds."""

    end: float

    def __new__(cls, seconds: float) -> Deadline:
        made = super().__new__(cls, seconds)
        made.end = time.monotonic() + seconds
        return made

    @property
    def left(self) -> float:
        """The seconds that are left; less than none when it is over."""
        return self.end - time.monotonic()


class TimedTransport(httpx2.HTTPTransport):
    """Connections to one server: httpx2's own transport, over a pool with this network.

    It takes none from outside, so that the pool is set here, where it keeps its own.
    """

    def __init__(
        self,
        limits: httpx2.Limits,
        proxy: httpx2.Proxy | None,
        certificates: ssl.SSLContext | None,
    ) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=certificates,
            proxy=None if proxy is None else _of_httpcore(proxy),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_TimedBackend(),
        )


def _of_httpcore(proxy: httpx2.Proxy) -> httpcore2.Proxy:
    url = httpcore2.URL(
        scheme=proxy.url.raw_scheme,
        host=proxy.url.raw_host,
        port=proxy.url.port,
        target=proxy.url.raw_path,
    )
    return httpcore2.Proxy(url, auth=proxy.raw_auth, ssl_context=proxy.ssl_context)


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
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _send(self, timeout: float | None) -> None:
        rest, self._kept = memoryview(self._kept), b""
        while rest:
            self._stream.write(rest[:_WRITTEN_AT_ONCE].tobytes(), _left(timeout))
            rest = rest[_WRITTEN_AT_ONCE:]


def _left(timeout: float | None) -> float | None:
    """The time-out of one wait; httpcore2's ReadTimeout when the deadline is over."""
    if not isinstance(timeout, Deadline):
        return timeout
    left = timeout.left
    if left <= 0:
        raise httpcore2.ReadTimeout(TOO_LATE)
    return left
