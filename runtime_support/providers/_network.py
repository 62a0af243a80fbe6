"""The network of httpcore2's pools, in which one time-out bounds all of a request.

    httpcore2.ConnectionPool(network_backend=Backend())
    bounds = Bounds(60.0, silence=10.0, most=1_000_000)     a request has it as its time-out

In httpcore2 a time-out is one for each wait: a server that sends a byte now and then, or a header,
would hold a thread for ever, and nothing outside of the thread could end it. So each wait for the
network looks at what is left.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2

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
