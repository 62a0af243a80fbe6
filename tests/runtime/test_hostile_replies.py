"""Replies of servers that mean no good: each ends in time, in bounds, with an error that says why.

A row of the table is the bytes of a response, as a wire would have it or nearly so, and what a
prompt comes to: a text, or a ProviderError whose words name the cause.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from runtime_support import ContractError, ProviderError, configure, prompt
from tests.runtime.conftest import KEY, RequestClock
from tests.support.fake_server import event
from tests.support.wires import WIRES, Say, Spoken

Make: TypeAlias = Callable[[Spoken], bytes]
MOST = 400_000
# What systems take of a sender before the other side has read anything.
IN_BUFFERS = 12_000_000


@dataclass(frozen=True)
class Kind:
    """A kind of reply: its bytes, and those that follow again and again until the client leaves.

    One that `is_late` has taken longer than the request may when they begin to follow.
    """

    name: str
    says: str
    make: Make
    more: bytes = b""
    is_late: bool = False
    is_streamed: bool = False


class Raw:
    """A server that sends the bytes of a kind, and counts them."""

    def __init__(self, clock: RequestClock) -> None:
        self.clock = clock
        self.kind: Kind | None = None
        self.content = b""
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._closed = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        self._closed.set()
        self._socket.close()

    def _serve(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # until the client has had enough
            self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += _received(connection)
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
        while len(body) < length:
            body += _received(connection)
        kind, rest = self.kind, self.content
        assert kind is not None
        while rest:
            sent = connection.send(rest[:65_536])
            self.sent, rest = self.sent + sent, rest[sent:]
        if kind.is_late:
            self.clock.skip(61)
        while kind.more:
            self.sent += connection.send(kind.more)
            if len(kind.more) < 1000:
                time.sleep(0.002)


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise ConnectionError
    return data


def head(*lines: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"content-type: {kind}", *lines, "", ""]).encode()


def sized(
    body: bytes, *lines: str, status: str = "200 OK", kind: str = "application/json"
) -> bytes:
    return head(f"content-length: {len(body)}", *lines, status=status, kind=kind) + body


def document(wire: Spoken, text: str = "42") -> dict[str, Any]:
    return wire.document(Say(text), 0)


def body_of(wire: Spoken, text: str = "42") -> bytes:
    return json.dumps(document(wire, text)).encode()


def parts_of(wire: Spoken) -> list[bytes]:
    return list(wire.streamed(document(wire)).parts or ())


def stream(parts: list[bytes], *lines: str) -> bytes:
    return head("connection: close", *lines, kind="text/event-stream") + b"".join(parts)


def items(wire: Spoken) -> str:
    return {"chat": "choices", "responses": "output", "messages": "content"}[wire.NAME]


KINDS: list[Kind] = []
UNREADABLE = "cannot be read: .|is not JSON: .|did not return a .*: "
ENDS_EARLY = "cannot be read: (.*without|.*closed|.*incomplete|.*no end)"
LATE = r"did not answer within 60 s"
TOO_MUCH = f"more than {MOST} bytes"


def kind(name: str, says: str, make: Make | bytes, **more: Any) -> None:
    KINDS.append(Kind(name, says, (lambda _: make) if isinstance(make, bytes) else make, **more))


# Heads

kind("nothing", UNREADABLE, b"")
kind("not HTTP", UNREADABLE, b"this is not HTTP\r\n\r\n")
kind("a body alone", UNREADABLE, body_of)
kind("half of a head", UNREADABLE, b"HTTP/1.1 200 OK\r\nconte")
kind("a null in a name", UNREADABLE, b"HTTP/1.1 200 OK\r\nX\0Y: 1\r\ncontent-length: 2\r\n\r\n{}")
kind("no status", UNREADABLE, b"HTTP/1.1\r\n\r\n")
kind("a status of words", UNREADABLE, b"HTTP/1.1 good\r\n\r\n")
kind("a head without end", UNREADABLE, b"HTTP/1.1 200 OK\r\n", more=b"X: y\r\n" * 5000)
kind("a line without end", UNREADABLE, b"HTTP/1.1 200 OK\r\nX: ", more=b"y" * 65_536)
kind("silence", LATE, b"", more=b"H", is_late=True)
kind("a head that drips", LATE, b"HTTP/1.1 200 OK\r\n", more=b"x", is_late=True)
kind("hints that drip", LATE, b"", more=b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", is_late=True)
kind("hints and then all", "^42$", lambda w: b"HTTP/1.1 103 X\r\n\r\n" * 50 + sized(body_of(w)))
for said in ("-1", "x", "1, 2", "1e3"):
    kind(f"a length of {said}", UNREADABLE, head(f"content-length: {said}") + b"{}")
kind("two lengths", UNREADABLE, head("content-length: 2", "content-length: 3") + b"{}")
kind("HTTP/1.0", "^42$", lambda w: b"HTTP/1.0 200 OK\r\n\r\n" + body_of(w))
for code in ("400 X", "401 X", "403 X", "404 X", "408 X", "409 X", "413 X", "422 X", "429 X",
             "500 X", "502 X", "503 X", "529 X", "599 X"):  # fmt: skip
    number = code[:3]
    kind(f"{number} in HTML", f"answered {number}: <html>", sized(b"<html>no", status=code))
    kind(f"{number} of nothing", f"answered {number}: no expl", sized(b"", status=code))
for code in ("300 X", "304 X", "204 No"):
    kind(code, "cannot be read|answered|redirected", head(status=code))
for where in ("http://169.254.169.254/latest", "file:///etc/passwd", "/elsewhere", "http://[::1"):
    moved = sized(b"", f"location: {where}", status="307 T")
    kind(f"moved to {where}", r"redirected \(307\) to", moved)
for wait in ("inf", "nan", "-5", "0", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT", "soon"):
    busy = sized(b"{}", f"retry-after: {wait}", status="429 T")
    kind(f"to wait {wait[:9]}", "answered 429", busy)
for odd in (
    [1, 2],
    5,
    None,
    {"message": {"a": 1}, "type": 5, "code": [1]},
    {"message": None},
    "no",
):
    told = json.dumps({"error": odd}).encode()
    kind(f"an error that is {odd}", "answered 400: .", sized(told, status="400 X"))
kind("an error nested deep", "answered 400: .", sized(b'{"error":' * 50_000, status="400 X"))
terminal = json.dumps({"error": {"message": "\x1b[2J\u202eevil\r\n" * 5000}}).encode()
kind("an error for terminals", r"^[^\x1b\u202e\r]*$", sized(terminal, status="400 X"))
told = json.dumps({"error": {"message": f"no {KEY}"}}).encode()
kind("an error with the key", r"answered 400: no \[redacted\]", sized(told, status="400 X"))
kind("an error of 5 MB", "answered 500: x", head(status="500 X"), more=b"x" * 65_536)
kind("an error that drips", LATE, head(status="500 X"), more=b" ", is_late=True)

# Bodies

kind("cut off", ENDS_EARLY, lambda w: sized(body_of(w))[:-5])
kind("shorter than it is", UNREADABLE, lambda w: head("content-length: 9") + body_of(w))
kind("a body that drips", LATE, head("content-length: 99999"), more=b" ", is_late=True)
kind("blanks without end", TOO_MUCH, head(), more=b" " * 65_536)
kind("a huge length", TOO_MUCH, head("content-length: 99999999999999"), more=b" " * 65_536)
kind("a long text", TOO_MUCH, lambda w: sized(body_of(w, "x" * 500_000)))
CHUNKED = head("transfer-encoding: chunked")
kind(
    "whole in chunks",
    "^42$",
    lambda w: CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body_of(w)), body_of(w)),
)
kind("a chunk of no size", UNREADABLE, CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n")
kind("a chunk of less than no size", UNREADABLE, CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n")
kind("a chunk that is cut", ENDS_EARLY, CHUNKED + b"5\r\n{")
kind("no last chunk", ENDS_EARLY, CHUNKED + b"2\r\n{}\r\n")
kind("a chunk without end", TOO_MUCH, CHUNKED + b"fffffffffff\r\n", more=b" " * 65_536)
kind("chunks without end", TOO_MUCH, CHUNKED, more=b"1000\r\n" + b" " * 0x1000 + b"\r\n")
kind("chunks that drip", LATE, CHUNKED, more=b"1\r\n \r\n", is_late=True)
kind("an extension without end", UNREADABLE, CHUNKED + b"2;", more=b"x" * 65_536)

# Encodings


def packed(content: bytes, encoding: str, **more: Any) -> bytes:
    return sized(content, f"content-encoding: {encoding}", **more)


bomb = gzip.compress(b" " * 60_000_000)
kind("packed", "^42$", lambda w: packed(gzip.compress(body_of(w)), "gzip"))
kind("packed and cut", UNREADABLE, lambda w: packed(gzip.compress(body_of(w))[:40], "gzip"))
kind("not packed", UNREADABLE, lambda w: packed(body_of(w), "gzip"))
kind("not deflated", UNREADABLE, lambda w: packed(body_of(w), "deflate"))
kind("packed in no known way", "^42$", lambda w: packed(body_of(w), "rot13"))
kind("a bomb", TOO_MUCH, packed(bomb, "gzip"))
kind("a bomb that is deflated", TOO_MUCH, packed(zlib.compress(b" " * 60_000_000), "deflate"))
for times in (2, 3, 60):
    kind(
        f"a bomb {times} times", "packed more than once", packed(bomb, ", ".join(["gzip"] * times))
    )
    kind(
        f"an error {times} times",
        "answered 500",
        packed(bomb, ", ".join(["gzip"] * times), status="500 X"),
    )
kind("an error that is a bomb", "answered 500", packed(bomb, "gzip", status="500 X"))
kind(
    "nothing without end",
    TOO_MUCH,
    head("content-encoding: gzip") + gzip.compress(b""),
    more=b"x" * 65_536,
)

# JSON

DATA = {"empty": b"", "null": b"null", "a list": b"[]", "a text": b'"x"', "a number": b"1",
        "NaN": b"NaN", "too large": b"1e999999", "long": b"1" * 100_000, "deep": b"[" * 100_000,
        "deep objects": b'{"a":' * 50_000, "UTF-16": '{"a": 1}'.encode("utf-16"),
        "with a mark": b"\xef\xbb\xbf{}", "no UTF-8": b'{"a": "\xff\xfe"}', "{}": b"{}",
        "two": b"{}{}", "with a comma": b'{"a": 1,}', "HTML": b"<html></html>",
        "YAML": b"choices: []", "only blanks": b"  \n "}  # fmt: skip
for name, data in DATA.items():
    kind(f"JSON, {name}", UNREADABLE, sized(data))
for odd in (None, {"a": 1}, "xyz", 5, True, [], [None], [5], ["x"], [[]], [{}], [{"type": []}]):
    kind(
        f"items that are {odd}",
        "the answer of|the server reports|has no|empty|did not return a .*: ",
        lambda w, odd=odd: sized(json.dumps({**document(w), items(w): odd}).encode()),
    )
for odd in ("boo", {"message": "boo"}, {"message": "boo", "code": 5}, {"boo": [1]}):
    told = json.dumps({"error": odd}).encode()
    kind(f"a reply that is the error {odd}", "the server reports: .*boo", sized(told))

# Events

S = {"is_streamed": True}
kind("events", "^42$", lambda w: stream(parts_of(w)), **S)
kind("events in JSON's clothes", "^42$", lambda w: sized(b"".join(parts_of(w))), **S)
kind("JSON instead of events", "^42$", lambda w: sized(body_of(w)), **S)
kind("events with CR", "^42$", lambda w: stream([b"".join(parts_of(w)).replace(b"\n", b"\r")]), **S)
kind(
    "events with CRLF",
    "^42$",
    lambda w: stream([b"".join(parts_of(w)).replace(b"\n", b"\r\n")]),
    **S,
)
kind("what follows the end", "^42$", lambda w: stream([*parts_of(w), *parts_of(w)]), **S)
kind("an end that stays open", "^42$", lambda w: stream(parts_of(w)), more=b": x\n\n" * 3000, **S)
kind(
    "packed events",
    "^42$",
    lambda w: (
        head("content-encoding: gzip", "connection: close", kind="text/event-stream")
        + gzip.compress(b"".join(parts_of(w)))
    ),
    **S,
)
kind("no events", UNREADABLE, stream([]), **S)
kind("half of the events", "no end|" + UNREADABLE, lambda w: stream(parts_of(w)[:2]), **S)
kind("half of an event", UNREADABLE, lambda w: stream([parts_of(w)[0][:-20]]), **S)
kind("comments that drip", LATE, stream([]), more=b": ping\n\n", is_late=True, **S)
kind("comments without end", TOO_MUCH, stream([]), more=b": ping\n\n" * 5000, **S)
kind("blanks for events", TOO_MUCH, head(kind="x/y"), more=b" " * 65_536, **S)
kind("a line of an event without end", TOO_MUCH, stream([b"data: "]), more=b"x" * 65_536, **S)
kind("lines of an event without end", LATE, stream([]), more=b"data: x\n" * 50, is_late=True, **S)
kind("an event that drips", LATE, stream([b"data: "]), more=b"x", is_late=True, **S)
kind(
    "events packed twice",
    "packed more than once",
    head("content-encoding: gzip, gzip", kind="text/event-stream") + bomb,
    **S,
)
for name, data in DATA.items():
    named = b"event: message_start\n"
    if name not in ("empty", "only blanks", "{}", "with a mark", "UTF-16", "no UTF-8"):
        kind(
            f"an event, {name}",
            "the server reports|" + UNREADABLE,
            stream([named + b"data: " + data + b"\n\n"]),
            **S,
        )
for odd in ("boo", {"message": "boo"}, {"type": "overloaded_error", "message": "boo"}):
    told = event({"type": "error", "error": odd})
    kind(f"an event of the error {odd}", "boo", stream([b"event: error\n" + told]), **S)


@pytest.fixture
def raw(request_clock: RequestClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Raw]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server = Raw(request_clock)
    configure(provider="openai", model="fake")
    configure(max_retries=0, max_wait=0, timeout=60, max_reply_bytes=MOST)
    yield server
    server.close()


def outcome(is_streamed: bool, in_loop: bool) -> str:
    """The text, or the words of the error that comes instead."""

    async def main() -> str:
        return (await prompt.aio("?", stream=is_streamed)).value

    try:
        return asyncio.run(main()) if in_loop else prompt("?", stream=is_streamed).value
    except (ProviderError, ContractError) as error:  # an empty reply is one that does not fit
        return error.message


def test_there_are_many_kinds() -> None:
    assert len({one.name for one in KINDS}) == len(KINDS) >= 150


@pytest.mark.heavy  # several hundred exchanges for each wire
@pytest.mark.parametrize("in_loop", [False, True], ids=["threads", "loop"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.NAME)
def test_each_ends_in_bounds_with_its_cause(wire: Spoken, in_loop: bool, raw: Raw) -> None:
    configure(api=wire.NAME)
    wrong: dict[str, str] = {}
    for number, one in enumerate(KINDS):
        # What one says, such as how long to wait, holds for its address.
        configure(base_url=f"{raw.url}/{number}/v1")
        raw.kind, raw.content, raw.sent = one, one.make(wire), 0
        began = time.perf_counter()
        came = outcome(one.is_streamed, in_loop)
        if not re.search(one.says, came):
            wrong[one.name] = came[:300]
        if time.perf_counter() - began > 20:
            wrong[one.name] = "it took 20 s"
        if raw.sent > len(raw.content) + IN_BUFFERS:
            wrong[one.name] = f"{raw.sent} bytes were read"
    assert not wrong, json.dumps(wrong, indent=1)


@pytest.mark.parametrize("in_loop", [False, True], ids=["threads", "loop"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.NAME)
@pytest.mark.parametrize("field", [b"data: ", b"", b": "])
def test_a_line_that_grows_for_ever_is_bounded_in_memory(
    wire: Spoken, in_loop: bool, field: bytes, raw: Raw
) -> None:
    most = 4_000_000
    configure(api=wire.NAME, base_url=f"{raw.url}/v1", max_reply_bytes=most)
    raw.kind = Kind("a line", "", lambda _: b"", more=b"x" * 65_536, is_streamed=True)
    raw.content = stream([field])
    outcome(True, in_loop)  # what is loaded at the first request
    tracemalloc.start()
    try:
        came = outcome(True, in_loop)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert f"more than {most} bytes" in came
    assert peak < 2 * most
