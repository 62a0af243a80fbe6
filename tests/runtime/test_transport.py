"""What a server may do to a request: take its time, send too much, or send it elsewhere."""

from __future__ import annotations

import asyncio
import gzip
import socket
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from runtime_support import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    configure,
    prompt,
)
from runtime_support.providers import _clients
from tests.runtime.conftest import Ask, RequestClock
from tests.support.fake_server import (
    LEFT,
    Answer,
    FakeServer,
    chunk,
    completion,
    cut,
    raw,
    status,
    streamed,
)

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
JSON = {"content-type": "application/json"}
ENDLESS = HEAD + b"transfer-encoding: chunked\r\n\r\n"


@pytest.fixture
def elsewhere() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=ENDLESS, drip=b"1\r\n \r\n"),
        Answer(body=HEAD, drip=b"x"),
        Answer(body=b"", drip=b"HTTP/1.1 102 Processing\r\n\r\n"),
    ],
    ids=["body", "head", "interim replies"],
)
def test_the_time_out_is_one_for_the_whole_request(
    server: FakeServer, ask: Ask, request_clock: RequestClock, answer: Answer
) -> None:
    def answer_too_late(_: dict[str, Any]) -> Answer:
        request_clock.skip(61)
        return answer

    server.responder = answer_too_late
    with pytest.raises(ProviderTimeout, match=r"did not answer within 60 s"):
        ask("?", options={"timeout": 60, "max_retries": 1})
    assert len(server.requests) == 2


@pytest.mark.parametrize("is_streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("begins", [False, True], ids=["nothing", "a beginning"])
def test_a_server_that_is_silent_is_left_before_the_time_out(
    server: FakeServer, ask: Ask, request_clock: RequestClock, begins: bool, is_streamed: bool
) -> None:
    part = chunk({"content": "one"}) if is_streamed else b'{"choices": ['
    kind = "text/event-stream" if is_streamed else "application/json"
    server.answers = [Answer(parts=[*[part] * begins, LEFT], headers={"content-type": kind})]
    with pytest.raises(ProviderTimeout, match=r"sent nothing for 0\.02 s") as caught:
        options = {"timeout": 60, "silence": 0.02, "max_retries": 0}
        assert not ask("?", stream=is_streamed, options=options).value
    assert "raise `silence`" in (caught.value.hint or "")
    assert server.was_left.wait(20)
    assert request_clock.skipped == 0


def test_a_server_is_not_silent_before_it_is_reached(
    server: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_connection = asyncio.open_connection

    async def open_late(*given: Any, **named: Any) -> Any:
        await asyncio.sleep(0.3)
        return await open_connection(*given, **named)

    monkeypatch.setattr(asyncio, "open_connection", open_late)
    server.answers = [completion("here")]
    options = {"timeout": 60, "silence": 0.2, "max_retries": 0}
    assert ask("?", options=options).value == "here"


@pytest.mark.parametrize("is_streamed", [False, True], ids=["plain", "streamed"])
def test_a_server_that_goes_on_sending_is_not_silent(
    server: FakeServer, ask: Ask, request_clock: RequestClock, is_streamed: bool
) -> None:
    whole = streamed("a", "b", "c", "d") if is_streamed else completion("abcd")
    parts = list(whole.parts or (whole.body[:50], whole.body[50:90], whole.body[90:]))

    def late() -> Iterator[bytes]:
        for part in parts:
            request_clock.skip(20)
            yield part

    server.answers = [Answer(parts=late(), headers=whole.headers)]
    reply = ask("?", stream=is_streamed, options={"timeout": 600, "silence": 300})
    assert reply.value == "abcd"
    assert request_clock.skipped >= 60


def test_the_time_out_ends_what_is_silent_for_longer(
    server: FakeServer, ask: Ask, request_clock: RequestClock
) -> None:
    def never(_: dict[str, Any]) -> Answer:
        request_clock.skip(61)
        return Answer(body=ENDLESS, drip=b"1\r\n \r\n")

    server.responder = never
    with pytest.raises(ProviderTimeout, match=r"did not answer within 60 s"):
        ask("?", options={"timeout": 60, "silence": 90, "max_retries": 0})


def test_a_slow_reply_within_the_time_is_read(server: FakeServer, ask: Ask) -> None:
    server.answers = [completion("late", delay=0.05)]
    assert ask("?", options={"timeout": 60.0}).value == "late"
    assert ask("?", options={"timeout": float("inf")}).value == "late"


def test_replies_are_read_up_to_a_limit(server: FakeServer, ask: Ask) -> None:
    server.answers = [completion("x" * 5000)]
    with pytest.raises(ProviderError, match=r"more than 4000 bytes; raise `max_reply_bytes`"):
        ask("?", options={"max_reply_bytes": 4000})
    assert len(server.requests) == 1, "another try would cost as much"
    assert ask("?", options={"max_reply_bytes": 6000}).value == "x" * 5000


def test_an_endless_reply_is_not_read(server: FakeServer, ask: Ask) -> None:
    server.answers = [Answer(body=ENDLESS, drip=b"10000\r\n" + b" " * 0x10000 + b"\r\n", pause=0)]
    with pytest.raises(ProviderError, match="more than 1000000 bytes"):
        ask("?", options={"max_reply_bytes": 1_000_000})


def test_the_limit_counts_what_is_unpacked(server: FakeServer, ask: Ask) -> None:
    packed = gzip.compress(b" " * 40_000_000)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    server.answers = [Answer(body=packed, headers=headers)]
    assert len(packed) < 100_000
    with pytest.raises(ProviderError, match="more than 32000000 bytes"):
        ask("?")
    server.answers = [Answer(body=gzip.compress(completion("ok").body), headers=headers)]
    assert ask("?").value == "ok"


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("code", [200, 500])
def test_what_is_packed_more_than_once_is_not_read(
    server: FakeServer, ask: Ask, times: int, code: int
) -> None:
    packed = b" " * 4_000_000
    for _ in range(times):
        packed = gzip.compress(packed)
    encodings = ", ".join(["gzip"] * times)
    server.answers = [Answer(code, packed, {**JSON, "content-encoding": encodings})]
    said = "answered 500" if code == 500 else f"the reply is packed more than once: {encodings}"
    with pytest.raises(ProviderError, match=said) as caught:
        ask("?", options={"max_retries": 0})
    assert caught.value.status == (500 if code == 500 else None)
    packed = gzip.compress(completion("ok").body)
    server.answers = [Answer(body=packed, headers={**JSON, "content-encoding": "identity, gzip"})]
    assert ask("?").value == "ok"


def endless(code: int, *, packed: bool) -> Answer:
    """An answer of blanks without end."""
    blanks, encoding = b" " * 100_000, b""
    first, more = blanks, blanks
    if packed:
        packing = zlib.compressobj(wbits=31)
        first, more = (packing.compress(blanks) + packing.flush(zlib.Z_SYNC_FLUSH) for _ in "ab")
        encoding = b"content-encoding: gzip\r\n"
    head = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\n%s" % (code, encoding)
    return Answer(body=b"%s\r\n%s" % (head, first), drip=more, pause=0)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("code", [200, 400])
def test_blanks_without_end(server: FakeServer, ask: Ask, code: int, packed: bool) -> None:
    server.answers = [endless(code, packed=packed)]
    said = "answered 400" if code == 400 else "more than 1000000 bytes"
    with pytest.raises(ProviderError, match=said):
        ask("?", options={"max_reply_bytes": 1_000_000, "timeout": float("inf")})


@pytest.mark.parametrize("code", [200, 400])
def test_bytes_that_are_unpacked_to_nothing_count(server: FakeServer, ask: Ask, code: int) -> None:
    head = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\n" % code
    body = head + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"")
    server.answers = [Answer(body=body, drip=b"x" * 10_000, pause=0)]
    said = "answered 400" if code == 400 else "more than 1000000 bytes"
    with pytest.raises(ProviderError, match=said):
        ask("?", options={"max_reply_bytes": 1_000_000, "timeout": float("inf")})


class Ticking(RequestClock):
    """A second goes by with each look at it."""

    def monotonic(self) -> float:
        self.skip(1)
        return super().monotonic()


def test_the_time_to_unpack_counts(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Ticking()
    monkeypatch.setattr(_clients, "time", clock)
    # It is unpacked a megabyte at a time.
    packed = gzip.compress(b" " * 31_000_000)
    server.answers = [Answer(body=packed, headers={**JSON, "content-encoding": "gzip"})]
    with pytest.raises(ProviderTimeout):
        prompt("?", options={"timeout": 25.0, "max_retries": 0})


def test_of_a_long_error_the_beginning_is_read(server: FakeServer, ask: Ask) -> None:
    server.answers = [raw(b"first words " + b"x" * 5_000_000, status=400)]
    with pytest.raises(ProviderError, match="answered 400: first words x") as caught:
        ask("?")
    assert len(str(caught.value)) < 500
    server.answers = [completion("ok")]
    assert ask("?").value == "ok"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_place_is_an_error(
    server: FakeServer, ask: Ask, elsewhere: FakeServer, code: int
) -> None:
    server.answers = [Answer(code, headers={"location": f"{elsewhere.url}/chat"})]
    with pytest.raises(ProviderError, match=rf"redirected \({code}\) to {elsewhere.url}") as caught:
        ask("?")
    assert caught.value.status == code
    assert "set `base_url`" in str(caught.value)
    assert (len(server.requests), elsewhere.requests) == (1, [])


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_on_the_same_server_names_the_new_address(
    server: FakeServer, ask: Ask, code: int
) -> None:
    server.answers = [Answer(code, headers={"location": "/elsewhere?key=sk-1"})]
    said = rf"redirected \({code}\) to http://.*/elsewhere"
    with pytest.raises(ProviderError, match=said) as told:
        ask("?")
    assert "sk-1" not in str(told.value) and len(server.requests) == 1


def test_a_redirect_to_no_address(server: FakeServer, ask: Ask) -> None:
    server.answers = [Answer(307, headers={"location": "http://[::1"})]
    with pytest.raises(ProviderError, match=r"redirected \(307\) to an address that is not valid"):
        ask("?")


NOT_HTTP = Answer(body=b"", drip=b"this is not HTTP\r\n\r\n")


@pytest.mark.parametrize("answer", [cut(), cut(0), NOT_HTTP], ids=["body", "head", "not HTTP"])
def test_a_reply_that_cannot_be_read_is_asked_for_again(
    server: FakeServer, ask: Ask, answer: Answer
) -> None:
    server.answers = [answer, completion("whole")]
    assert ask("?").value == "whole"
    server.answers = [answer]
    with pytest.raises(ProviderError, match=r"the answer of .* cannot be read"):
        ask("?", options={"max_retries": 1})
    assert len(server.requests) == 4


def test_a_reply_without_a_length_that_is_cut_is_asked_for_again(
    server: FakeServer, ask: Ask
) -> None:
    server.answers = [raw(completion("this never arrives").body[:60]), completion("whole")]
    assert ask("?").value == "whole"
    server.answers = [raw(b"<html>log in first</html>")]
    with pytest.raises(ProviderError, match=r"is not JSON: <html>log in first"):
        ask("?", options={"max_retries": 1})
    assert len(server.requests) == 4


@pytest.mark.parametrize("damage", [{"cut_after": 20}, {"headers": {"content-encoding": "gzip"}}])
def test_an_error_that_cannot_be_read_is_known_by_its_status(
    server: FakeServer, ask: Ask, damage: dict[str, Any]
) -> None:
    server.answers = [replace(status(401, "no such key"), **damage)]
    with pytest.raises(AuthenticationFailed, match="answered 401"):
        ask("?")
    busy = status(429, "slow down", retry_after_ms=5)
    headers = {**busy.headers, **damage.get("headers", {})}
    server.answers = [replace(busy, **{**damage, "headers": headers}), completion("ok")]
    assert ask("?").value == "ok"
    assert len(server.requests) == 3


def test_a_server_that_hangs_up_is_asked_again(server: FakeServer, ask: Ask) -> None:
    def hang_up(_: dict[str, Any]) -> Answer:
        raise ConnectionAbortedError

    server.responder = hang_up
    with pytest.raises(ProviderError, match="disconnected"):
        ask("?", options={"max_retries": 1})
    assert len(server.requests) == 2


def test_nobody_at_the_address(server: FakeServer, ask: Ask) -> None:
    configure(base_url="http://127.0.0.1:1/v1", max_retries=0)
    with pytest.raises(ProviderError, match=r"cannot reach http://127.0.0.1:1/v1/: .*onnect"):
        ask("?")


def test_a_connection_that_takes_too_long_is_no_try(
    server: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: Any, **__: Any) -> None:
        raise TimeoutError

    async def connect_async(*_: Any, **__: Any) -> None:
        raise TimeoutError

    options = {"timeout": 60, "max_retries": 3, "budget_requests": 1}
    with monkeypatch.context() as patch:
        patch.setattr(socket, "create_connection", connect)
        patch.setattr(asyncio, "open_connection", connect_async)
        with pytest.raises(ProviderTimeout, match=r"cannot reach .* within 60 s"):
            ask("?", options=options)
    assert ask("?", options=options).value == "ok"
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [429, 503])
def test_a_wait_longer_than_patience_is_an_error_at_once(
    server: FakeServer, ask: Ask, code: int
) -> None:
    server.answers = [status(code, "busy", retry_after="90")]
    with pytest.raises(ProviderError, match=r"busy; it asks to wait 90 s; .* `max_wait`, .* 30 s"):
        ask("?", options={"max_wait": 30.0})
    assert len(server.requests) == 1


def test_a_wait_until_a_date(server: FakeServer, ask: Ask) -> None:
    server.answers = [status(429, retry_after="Wed, 21 Oct 2115 07:28:00 GMT")]
    with pytest.raises(RateLimited, match="it asks to wait") as caught:
        ask("?")
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 1e9
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}',
        b'{"error": {"message": "no", "type": "insufficient_quota"}}',
    ],
)
def test_an_account_that_is_used_up_is_not_asked_again(
    server: FakeServer, ask: Ask, body: bytes
) -> None:
    server.answers = [raw(body, status=429)]
    with pytest.raises(RateLimited) as caught:
        ask("?")
    assert len(server.requests) == 1
    assert "retries" not in str(caught.value)
    assert "nothing left" in str(caught.value)


def test_a_proxy_of_the_environment_is_used(
    server: FakeServer, ask: Ask, elsewhere: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = elsewhere.url.removesuffix("/v1").replace("://", "://user:proxypassword1@")
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    configure(base_url="http://model.invalid/v1")
    elsewhere.answers = [status(400, "no entry for proxypassword1")]
    with pytest.raises(ProviderError, match=r"no entry for \[redacted\]"):
        ask("?")
    (request,) = elsewhere.requests
    assert request.path == "http://model.invalid/v1/chat/completions"
    assert request.headers["proxy-authorization"].startswith("Basic ")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    configure(base_url=server.url)
    assert ask("?").value == "ok"
    assert len(elsewhere.requests) == 1


def test_a_server_that_needs_no_proxy_may_be_named_with_its_port(
    server: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("no_proxy", server.url.removeprefix("http://").removesuffix("/v1"))
    assert ask("?").value == "ok"


def test_a_proxy_of_socks_needs_a_package(
    server: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    monkeypatch.setitem(sys.modules, "socksio", None)
    configure(base_url="http://model.invalid/v1")
    with pytest.raises(ConfigError, match="a SOCKS proxy needs the package socksio"):
        ask("?")


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:99999", "http://[::1", "127.0.0.1:0"])
def test_a_proxy_that_cannot_be_is_refused(
    server: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    configure(base_url="http://model.invalid/v1")
    with pytest.raises(ConfigError, match="the proxy URL in the environment is not valid"):
        ask("?")
