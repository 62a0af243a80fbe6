"""Too much for a server: what is asked again, for how long, and how much goes out at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import (
    AuthenticationFailed,
    ProviderError,
    RateLimited,
    Reply,
    Settings,
    configure,
    prompt,
)
from runtime_support.providers import _pace
from runtime_support.providers._pace import Pace, Reason, Unanswered, Waited, patiently
from tests.support.fake_server import Answer, FakeServer, calling, completion, raw, status


class Bucket:
    """Takes so many requests a second, and refuses the others."""

    def __init__(self, a_second: float, refusal: Answer) -> None:
        self.a_second = a_second
        self.refusal = refusal
        self.refused = 0
        self.tokens = 5.0
        self.filled = time.monotonic()
        self.lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self.lock:
            now = time.monotonic()
            self.tokens = min(5.0, self.tokens + (now - self.filled) * self.a_second)
            self.filled = now
            if self.tokens < 1:
                self.refused += 1
                return self.refusal
            self.tokens -= 1
        return completion(body["messages"][0]["content"], delay=0.01)


def ask_all(count: int, threads: int) -> list[str]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda n: prompt("{0}", n).value, range(count)))


@pytest.mark.parametrize("told", [{}, {"retry_after_ms": 200}])
def test_none_of_many_fails(server: FakeServer, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pace, "FIRST_WAIT", 0.1)
    bucket = server.responder = Bucket(100, status(429, "slow down", **told))
    assert ask_all(150, 40) == [str(n) for n in range(150)]
    assert 0 < bucket.refused < 150  # without a pace, each thread runs into it again and again


def test_all_tries_of_a_prompt_together_wait_no_longer_than_patience(server: FakeServer) -> None:
    def square(x: int) -> int:
        return x * x

    turns = iter([status(503, retry_after_ms=150), calling(("square", {"x": 2}))] * 10)
    server.responder = lambda _: next(turns)
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"raise `patience`, which is 0\.5 s"):
        prompt("{square}", square=square, options={"patience": 0.5})
    # Each round waits 0.15 to 0.19 s: the third or fourth wait is one too many.
    assert time.monotonic() - started < 2
    assert 5 <= len(server.requests) <= 7


def test_who_waits_for_room_has_patience_too(server: FakeServer) -> None:
    server.answers = [status(429, "full")]
    configure(patience=0.3)
    started = time.monotonic()
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(prompt, "{0}", n) for n in range(12)]
        errors = [one.exception() for one in asked]
    assert time.monotonic() - started < 3
    assert all(isinstance(error, RateLimited) for error in errors)
    assert all("full" in str(error) and "`patience`" in str(error) for error in errors)
    assert len({id(error) for error in errors}) == 12


def test_no_patience(server: FakeServer) -> None:
    server.answers = [status(503, "full")]
    with pytest.raises(ProviderError, match="full"):
        prompt("?", options={"patience": 0})
    assert len(server.requests) == 1


def test_a_server_that_asks_for_next_to_nothing_is_not_pestered(server: FakeServer) -> None:
    server.answers = [status(429, retry_after="0")]
    with pytest.raises(RateLimited):
        prompt("?", options={"patience": 0.2})
    assert len(server.requests) < 20


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        (status(400, "no"), ProviderError, ""),
        (status(401, "no"), AuthenticationFailed, "check the key"),
        (status(403, "no"), AuthenticationFailed, "check the key"),
        (status(404, "no"), ProviderError, "check `model`"),
        (
            raw(b'{"error": {"code": "insufficient_quota"}}', status=429),
            RateLimited,
            "nothing left",
        ),
        (Answer(500, b"no", {"x-should-retry": "false"}), ProviderError, ""),
    ],
)
def test_what_no_wait_mends_fails_at_once(
    server: FakeServer, answer: Answer, kind: type[ProviderError], hint: str
) -> None:
    server.answers = [answer]
    with pytest.raises(kind) as caught:
        prompt("?")
    assert len(server.requests) == 1
    assert hint in str(caught.value) and "patience" not in str(caught.value)


def answering(failures: list[Reason]) -> Callable[[int], Reply]:
    left = iter(failures)

    def send(number: int) -> Reply:
        reason = next(left, None)
        if reason is not None:
            raise Unanswered(ProviderError(f"{reason} {number}"), reason)
        return Reply("ok")

    return send


def test_a_server_that_has_answered_and_is_gone_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_pace, "FIRST_WAIT", 0.001)
    pace, settings = Pace(), Settings(retries=1, patience=5)
    with pytest.raises(ProviderError, match="away 1"):
        patiently(pace, settings, Waited(), answering(["away"] * 6), 0)
    assert patiently(pace, settings, Waited(), answering([]), 0).text == "ok"
    assert patiently(pace, settings, Waited(), answering(["away"] * 6), 0).text == "ok"
    with pytest.raises(ProviderError, match="broken 1"):
        patiently(pace, settings, Waited(), answering(["broken"] * 6), 0)


def test_what_is_refused_is_asked_less_at_once(server: FakeServer) -> None:
    lock, at_once = threading.Lock(), [0, 0]

    def respond(body: dict[str, Any]) -> Answer:
        with lock:
            at_once[0] += 1
            count = at_once[0]
            at_once[1] = max(at_once[1], count) if len(server.requests) > 60 else 0
        time.sleep(0.01)
        with lock:
            at_once[0] -= 1
        return status(429, retry_after_ms=10) if count > 4 else completion("ok")

    server.responder = respond
    assert ask_all(150, 30) == ["ok"] * 150
    assert at_once[1] < 15


def test_a_long_wait_is_told_at_a_terminal(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_pace, "TOLD_SECONDS", 0.02)
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    assert capsys.readouterr().err == ""  # not in a pipe
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    told = capsys.readouterr().err
    assert "answered 429: slow down; it asks to wait 0.05 s; trying again in 0 s" in told
    assert told.count("\n") == 1
    monkeypatch.setattr(_pace, "TOLD_SECONDS", 2)
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    assert capsys.readouterr().err == ""


def arrivals(server: FakeServer) -> list[float]:
    times: list[float] = []

    def respond(_: dict[str, Any]) -> Answer:
        times.append(time.monotonic())
        return completion("ok")

    server.responder = respond
    return times


def test_known_requests_a_minute_are_kept_from_the_beginning(server: FakeServer) -> None:
    configure(requests_per_minute=1200)
    prompt("connect")
    times = arrivals(server)
    ask_all(8, 8)
    assert times[-1] - times[0] >= 7 * 0.05 - 0.03


def test_known_tokens_a_minute_are_kept(server: FakeServer) -> None:
    configure(tokens_per_minute=18 * 60 * 20)  # a reply says 18: 20 a second
    prompt("connect")
    times = arrivals(server)
    ask_all(8, 1)
    assert times[-1] - times[0] >= 7 * 0.05 - 0.03


def test_rates_do_not_use_up_patience(server: FakeServer) -> None:
    configure(requests_per_minute=600, patience=0.01)
    assert ask_all(4, 4) == ["ok"] * 4
