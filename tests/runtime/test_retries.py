"""Too much for a server: what is asked again, for how long, and how much goes out at once."""

from __future__ import annotations

import asyncio
import contextlib
import random
import selectors
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

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
from runtime_support._core import notes
from runtime_support._core.messages import ReceivedChunks, ReplyStream, Request, StreamingProvider
from runtime_support._core.settings import settings_for
from runtime_support._core.tasks.loops import finish_async
from runtime_support._core.tasks.waits import Wait, finish
from runtime_support.providers import _backoff, _retries
from runtime_support.providers._backoff import Backoff
from runtime_support.providers._retries import Rates
from runtime_support.providers._wires import Waited
from tests.runtime.conftest import Clock
from tests.support.fake_server import Answer, FakeServer, calling, completion, raw, status
from tests.support.maps import LineMap


class Crowded:
    """Answers so many requests at once, and refuses the others; the first ones come together."""

    def __init__(self, room: int, first: int, refusal: Answer) -> None:
        self.room = room
        self.refusal = refusal
        self.under_way = self.refused = 0
        self.left_of_first = first
        self.changed = threading.Condition()

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self.changed:
            self.under_way += 1
            is_refused = self.under_way > self.room
            self.refused += is_refused
            self.left_of_first -= 1
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.left_of_first <= 0, 60)
        time.sleep(0.005)
        with self.changed:
            self.under_way -= 1
        return self.refusal if is_refused else completion(body["messages"][0]["content"])


def ask_all(count: int, threads: int) -> list[str]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda n: prompt("{0}", n).value, range(count)))


@pytest.mark.parametrize("told", [{}, {"retry_after_ms": 20}])
def test_none_of_many_fails(server: FakeServer, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_backoff, "FIRST_WAIT", 0.02)
    configure(max_wait=3600)
    crowded = server.responder = Crowded(8, 30, status(429, "slow down", **told))
    assert ask_all(100, 30) == [str(n) for n in range(100)]
    assert 22 <= crowded.refused < 100  # without a pace, each thread runs into it again and again


def test_all_tries_of_a_prompt_together_wait_no_longer_than_patience(
    server: FakeServer, clock: Clock
) -> None:
    def square(x: int) -> int:
        return x * x

    turns = iter([status(503, retry_after_ms=150), calling(("square", {"x": 2}))] * 10)
    server.responder = lambda _: next(turns)
    with pytest.raises(ProviderError, match=r"raise `max_wait`, which is 0\.5 s"):
        prompt("{square}", square=square, options={"max_wait": 0.5})
    # Each round waits 0.15 to 0.19 s: the third or fourth wait is one too many.
    assert 0.3 <= clock.now <= 0.5
    assert len(server.requests) in (5, 7)


def test_who_waits_for_room_has_patience_too(server: FakeServer) -> None:
    server.answers = [status(429, "full")]
    configure(max_wait=0.3)
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(prompt, "{0}", n) for n in range(12)]
        errors = [one.exception() for one in asked]
    assert all(isinstance(error, RateLimited) for error in errors)
    assert all("full" in str(error) and "`max_wait`" in str(error) for error in errors)
    assert len({id(error) for error in errors}) == 12


def test_who_waits_in_vain_is_told_of_its_own_place(server: FakeServer) -> None:
    server.answers = [status(429, "full", retry_after="50")]
    with pytest.raises(RateLimited) as first:
        prompt("?", options={"max_wait": 1})
    with pytest.raises(RateLimited) as second:
        prompt("?", options={"max_wait": 0.01})
    line = test_who_waits_in_vain_is_told_of_its_own_place.__code__.co_firstlineno
    places = [f"retries.saft:{line + n}:8" for n in (3, 5)]
    assert [first.value.saft_position, second.value.saft_position] == places
    assert len(server.requests) == 1


__saft_source_map__ = LineMap("retries.saft")


def test_no_patience(server: FakeServer) -> None:
    server.answers = [status(503, "full")]
    with pytest.raises(ProviderError, match="full"):
        prompt("?", options={"max_wait": 0})
    assert len(server.requests) == 1


def test_a_server_that_asks_for_next_to_nothing_is_not_pestered(
    server: FakeServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_backoff, "FIRST_WAIT", 0.5)
    server.answers = [status(429, retry_after="0")]
    with pytest.raises(RateLimited):
        prompt("?", options={"max_wait": 3})
    assert clock.now == pytest.approx(3)
    assert len(server.requests) <= 9


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


def failed(reason: Literal["busy", "away", "broken"], error: ProviderError) -> ProviderError:
    error.another_try = reason
    return error


def answering(failures: list[Literal["away", "broken"]]) -> Callable[[int], ReplyStream]:
    left = iter(failures)

    def send(number: int) -> ReplyStream:
        reason = next(left, None)
        if reason is not None:
            raise failed(reason, ProviderError(f"{reason} {number}"))
        yield from ()
        return Reply("ok")

    return send


def test_a_server_that_has_answered_and_is_gone_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_backoff, "FIRST_WAIT", 0.001)
    backoff, settings = Backoff(), Settings(max_retries=1, max_wait=5)
    with pytest.raises(ProviderError, match="away 1"):
        finish(backoff.ask(settings, Waited(), answering(["away"] * 6), 0))
    assert finish(backoff.ask(settings, Waited(), answering([]), 0)).text == "ok"
    assert finish(backoff.ask(settings, Waited(), answering(["away"] * 6), 0)).text == "ok"
    with pytest.raises(ProviderError, match="broken 1"):
        finish(backoff.ask(settings, Waited(), answering(["broken"] * 6), 0))


class Skipping(selectors.DefaultSelector):
    """Waits for nothing: the time is then at once what it was waited for."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None:
            self._clock.now += max(0.0, timeout)
        return super().select(timeout if timeout is None else 0)


def run_all(clock: Clock, work: list[Coroutine[Any, Any, Any]]) -> list[Any]:
    """What comes of all of it in an event loop in which nobody really waits."""
    loop = asyncio.SelectorEventLoop(Skipping(clock))
    loop.time = clock.monotonic  # type: ignore[method-assign]

    async def main() -> list[Any]:
        return await asyncio.gather(*work, return_exceptions=True)

    with contextlib.closing(loop):
        return loop.run_until_complete(main())


class Refusing(StreamingProvider):
    """A server that refuses what `refuses` says; each of its replies takes `seconds`."""

    def __init__(self, refuses: Callable[[], bool], seconds: float = 0.02) -> None:
        self.refuses, self.seconds = refuses, seconds
        self.backoff = Backoff()
        self.waited: list[float] = []
        self.sent: list[str] = []
        self.refused = self.answered = 0

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        waited, text = Waited(), request.messages[-1]["content"]

        def send(_: int) -> ReplyStream:
            self.sent.append(text)
            is_refused = self.refuses()
            yield Wait(lambda: None, partial(asyncio.sleep, self.seconds))
            if is_refused:
                self.refused += 1
                raise failed("busy", RateLimited("answered 429"))
            self.answered += 1
            return Reply(text)

        try:
            return (yield from self.backoff.ask(settings_for(), waited, send, 0))
        finally:
            self.waited.append(waited.seconds)


def of(n: int) -> Request:
    return Request(model="m", messages=({"role": "user", "content": str(n)},))


def asked(count: int, provider: Refusing, clock: Clock) -> list[Any]:
    return run_all(clock, [finish_async(provider.stream_reply(of(n), None)) for n in range(count)])


def of_rate(clock: Clock, rate: float) -> Callable[[], bool]:
    """Refuses what is more than so much a second."""
    room, at = rate, clock.now

    def refuses() -> bool:
        nonlocal room, at
        room, at = min(rate, room + (clock.now - at) * rate), clock.now
        is_refused = room < 1
        room -= not is_refused
        return is_refused

    return refuses


def half(seed: int) -> Callable[[], bool]:
    """Refuses half of all at random."""
    chance = random.Random(seed)
    return lambda: chance.random() < 0.5


@pytest.mark.heavy
def test_a_storm_is_answered_at_the_rate_of_the_server(clock: Clock) -> None:
    server = Refusing(of_rate(clock, 100))
    replies = asked(1000, server, clock)
    assert {type(reply) for reply in replies} == {Reply}
    assert clock.now < 20, "at 100 a second they take 9 s"
    assert server.refused < 2500


@pytest.mark.heavy
def test_half_of_all_is_refused(clock: Clock) -> None:
    configure(max_wait=120)
    server = Refusing(half(1))
    replies = asked(2000, server, clock)
    assert {type(reply) for reply in replies} == {Reply}
    assert max(server.waited) < 60


def test_a_few_at_once_of_which_half_is_refused(clock: Clock) -> None:
    server = Refusing(half(2))
    room = asyncio.Semaphore(16)

    async def ask(n: int) -> Reply:
        async with room:
            return await finish_async(server.stream_reply(of(n), None))

    replies = run_all(clock, [ask(n) for n in range(500)])
    assert {type(reply) for reply in replies} == {Reply}
    assert max(server.waited) < 30 and clock.now < 500 / 4


def test_what_is_refused_is_not_overtaken(clock: Clock) -> None:
    numbers = [str(n) for n in range(50)]
    # All of the first wave are refused, and of the second the first once more.
    turns = iter([True] * 51 + [False] * 100)
    server = Refusing(lambda: next(turns))
    asked(50, server, clock)
    assert server.sent == [*numbers, *numbers[:4], "0", *numbers[4:]]


def test_a_server_that_answers_nothing_is_asked_by_one(clock: Clock) -> None:
    configure(max_wait=100)
    server = Refusing(lambda: True)
    errors = asked(20, server, clock)
    assert {type(error) for error in errors} == {RateLimited}
    assert all(99 < seconds <= 100.1 for seconds in server.waited)
    assert 20 < server.refused < 60


@pytest.mark.heavy
def test_a_budget_is_spent_to_its_last_request_while_half_is_refused(clock: Clock) -> None:
    server = Refusing(half(3))
    configure(provider=server, budget_requests=1500)
    replies = run_all(clock, [prompt.aio("{0}", n) for n in range(2000)])
    kinds = Counter(type(reply).__name__ for reply in replies)
    assert kinds["BudgetSpent"] == 500 and kinds["RateLimited"] == 0
    assert server.answered == 1500 == len(set(server.sent))


def test_a_long_wait_is_told_at_a_terminal(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_retries, "TOLD_SECONDS", 0.02)
    monkeypatch.setattr(notes, "_noted", set[str]())
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    assert capsys.readouterr().err == ""  # not in a pipe
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    told = capsys.readouterr().err
    assert "answered 429: slow down; it asks to wait 0.05 s; trying again in 0 s" in told
    assert told.count("\n") == 1
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    assert capsys.readouterr().err == ""  # once for each status
    monkeypatch.setattr(_retries, "TOLD_SECONDS", 2)
    server.answers = [status(429, "slow down", retry_after_ms=50), completion("ok")]
    prompt("?")
    assert capsys.readouterr().err == ""


def arrivals(server: FakeServer, clock: Clock) -> list[float]:
    times: list[float] = []

    def respond(_: dict[str, Any]) -> Answer:
        times.append(round(clock.now, 6))
        return completion("ok")

    server.responder = respond
    return times


def test_known_requests_a_minute_are_kept_from_the_beginning(
    server: FakeServer, clock: Clock
) -> None:
    configure(requests_per_minute=1200)
    times = arrivals(server, clock)
    ask_all(8, 1)
    assert times == [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]


def test_threads_that_begin_together_share_a_rate(
    server: FakeServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)

    def begin_together() -> Rates:
        both.wait(60)
        return Rates()

    monkeypatch.setattr(_retries, "Rates", begin_together)
    configure(requests_per_minute=1200)
    times = arrivals(server, clock)
    ask_all(2, 2)
    assert max(times) == 0.05


def test_known_tokens_a_minute_are_kept(server: FakeServer, clock: Clock) -> None:
    configure(tokens_per_minute=18 * 60 * 20)  # a reply says 18: 20 a second
    times = arrivals(server, clock)
    ask_all(8, 1)
    assert times == [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]


def test_threads_start_at_the_distances_of_a_rate(clock: Clock) -> None:
    rates, settings = Rates(), Settings(requests_per_minute=1200)
    assert [rates.reserve(settings, 5)[0] for _ in range(4)] == pytest.approx([0, 0.05, 0.1, 0.15])
    clock.now = 1.0
    assert rates.reserve(settings, 5)[0] == 0


def test_rates_do_not_use_up_patience(server: FakeServer) -> None:
    configure(requests_per_minute=600, max_wait=0.01)
    assert ask_all(4, 4) == ["ok"] * 4


def test_a_wait_without_end_does_not_hold_others_for_ever(server: FakeServer, clock: Clock) -> None:
    server.answers = [status(429, retry_after="inf"), completion("ok")]
    with pytest.raises(RateLimited):
        prompt("?", options={"max_wait": 10})
    assert prompt("?", options={"max_wait": 100}).value == "ok"
    assert 30 < clock.now <= 61
