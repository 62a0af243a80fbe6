"""Budgets of tokens and money hold whatever is asked at once, and however that is done."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import (
    BudgetSpent,
    Reply,
    Request,
    TruncatedReply,
    add_observer,
    configure,
    overlap,
    program,
    prompt,
)
from runtime_support._budgets import FIRST_REPLY, current_usage
from runtime_support._core.spending import current_meter
from runtime_support.testing import Scripted
from tests.support.fake_server import Answer, FakeServer, chunk, ending, event, events, raw, status

INPUT, OUTPUT = 22, 1000
# As many requests go before there is a reply, with this budget: about 16 tokens make a request.
FIRST, BUDGET = 4, 4 * FIRST_REPLY + 1_000


def taking(
    output: int = OUTPUT, text: str = "ok", finish: str = "stop", **usage: Any
) -> Answer:
    """A reply that took so many tokens."""
    usage = {"prompt_tokens": INPUT, "completion_tokens": output, **usage}
    choice = {"finish_reason": finish, "message": {"role": "assistant", "content": text}}
    return raw(json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())


def bounded(body: dict[str, Any]) -> Answer:
    """A reply that takes all that it may, or 1,000 tokens."""
    most = body.get("max_completion_tokens") or body.get("max_tokens") or OUTPUT
    return taking(min(most, OUTPUT), finish="length" if most < OUTPUT else "stop")


class Gate:
    """Holds all requests until it is opened; counts how many are there at once."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer] = lambda body: taking()) -> None:
        self.answer = answer
        self.inside = self.most = self.count = 0
        self.changed = threading.Condition()
        self.is_open = False

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self.changed:
            self.inside += 1
            self.count += 1
            self.most = max(self.most, self.inside)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.is_open)
            self.inside -= 1
        return self.answer(body)

    def wait_for(self, inside: int) -> None:
        """Waits until so many are inside."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.inside >= inside, 60)

    def open(self) -> None:
        """Lets all go."""
        with self.changed:
            self.is_open = True
            self.changed.notify_all()


def ask(n: object) -> str:
    return prompt("n {n}", n=n).value


def waiting(count: int) -> None:
    """Returns when so many requests wait for others."""
    for _ in range(60_000):
        if len(current_meter().waiting) >= count:
            return
        time.sleep(0.001)
    raise AssertionError(f"only {len(current_meter().waiting)} of {count} wait")


def by_threads(count: int) -> None:
    with ThreadPoolExecutor(50) as pool:
        for one in [pool.submit(ask, n) for n in range(count)]:
            one.exception()


def by_overlap(count: int) -> None:
    with pytest.raises(BudgetSpent):
        for _ in overlap(ask, range(count)):
            pass


def by_loop(count: int) -> None:
    async def one(n: int) -> str:
        return (await prompt.aio("n {n}", n=n)).value

    async def all_() -> None:
        await asyncio.gather(*map(one, range(count)), return_exceptions=True)

    asyncio.run(all_())


def by_program(count: int) -> None:
    plan = {"$map": {"over": list(range(count)), "as": "n", "do": {"ask": {"n": {"$ref": "n"}}}}}
    given = json.dumps(plan)

    class Planning:
        def complete(self, request: Request) -> Reply:
            return Reply(given, input_tokens=INPUT, output_tokens=OUTPUT)

    options = {"provider": Planning()}
    with pytest.raises(BudgetSpent):
        program("{ask}", ask=ask, pure=[ask], options=options)


WAYS = pytest.mark.parametrize("way", [by_threads, by_overlap, by_loop, by_program])
PRICES = {"fake": {"input": 10, "output": 10}}


@WAYS
@pytest.mark.parametrize("bound", [5_000, 20_000])
def test_tokens_without_a_limit_of_replies(
    server: FakeServer, way: Callable[[int], None], bound: int
) -> None:
    server.responder = bounded
    configure(budget_tokens=bound)
    way(100)
    # The last reply is bound to what is left; about the input the requests are guessed.
    assert bound - 100 < current_usage().tokens <= bound + 20


@WAYS
def test_tokens_with_a_limit_of_replies(server: FakeServer, way: Callable[[int], None]) -> None:
    lengths = iter([1, 1000, 10, 999] * 1000)
    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> Answer:
        with lock:
            return taking(next(lengths))

    server.responder = answer
    configure(budget_tokens=20_000, max_tokens=1000)
    way(100)
    taken = current_usage().tokens
    assert 20_000 - 1.2 * (INPUT + OUTPUT) < taken <= 20_000


@WAYS
def test_cost(server: FakeServer, way: Callable[[int], None]) -> None:
    server.responder = bounded
    configure(budget_cost=0.2, prices=PRICES)
    way(100)
    assert 0.199 < current_usage().cost <= 0.2002


def test_the_first_four_go_alone(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=BUDGET)
    with ThreadPoolExecutor(50) as pool:
        asked = [pool.submit(ask, n) for n in range(50)]
        gate.wait_for(FIRST)
        waiting(50 - FIRST)
        assert gate.count == FIRST
        gate.open()
        assert [one.result() for one in asked] == ["ok"] * 50


def test_they_go_alone_in_a_loop_as_well(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=BUDGET)

    async def one(n: int) -> str:
        return (await prompt.aio("n {n}", n=n)).value

    async def all_() -> list[str]:
        asked = asyncio.gather(*map(one, range(100)))
        while len(current_meter().waiting) < 100 - FIRST or gate.inside < FIRST:
            await asyncio.sleep(0.001)
        assert gate.count == FIRST
        gate.open()
        return await asked

    assert asyncio.run(all_()) == ["ok"] * 100


def test_the_first_four_may_fail(server: FakeServer) -> None:
    server.responder = Gate(lambda body: status(400, "no"))
    configure(budget_tokens=BUDGET)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(ask, n) for n in range(20)]
        waiting(20 - FIRST)
        server.responder.open()
        assert all("no" in str(one.exception()) for one in asked)
    assert server.responder.most <= FIRST


def test_without_a_budget_nobody_waits(server: FakeServer) -> None:
    server.responder = gate = Gate()
    configure(budget_requests=1000)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(ask, n) for n in range(20)]
        gate.wait_for(20)
        gate.open()
        assert [one.result() for one in asked] == ["ok"] * 20


def test_with_a_limit_of_replies_all_go_that_fit(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=5_500, max_tokens=1000)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(ask, n) for n in range(20)]
        gate.wait_for(5)
        waiting(15)
        assert gate.count == 5
        gate.open()
        # Each took far less than it could, so that there is room for all.
        assert [one.result() for one in asked] == ["ok"] * 20
    assert current_usage().tokens == 20 * (INPUT + 10)


def test_the_largest_reply_so_far_is_reserved(server: FakeServer) -> None:
    lengths = iter([10, 2000, *[10] * 100])
    server.responder = lambda body: taking(next(lengths))
    configure(budget_tokens=6_000)
    assert [ask(0), ask(1)] == ["ok", "ok"]
    server.responder = gate = Gate(lambda body: taking(10))
    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(ask, n) for n in range(5)]
        gate.wait_for(1)
        waiting(4)
        assert gate.count == 1
        gate.open()
        assert [one.result() for one in asked] == ["ok"] * 5


# What is reserved for a reply, and what bounds it

APIS = pytest.mark.parametrize(
    ("api", "limit"),
    [("chat", "max_tokens"), ("responses", "max_output_tokens"), ("messages", "max_tokens")],
)


def replied(api: str, text: str, output: int, cut: bool = False) -> Answer:
    """A reply of this API that took so many tokens."""
    usage: dict[str, Any]
    told: dict[str, Any]
    body: dict[str, Any]
    match api:
        case "chat":
            return taking(output, text, "length" if cut else "stop")
        case "responses":
            usage = {"input_tokens": INPUT, "output_tokens": output}
            content = [{"type": "output_text", "text": text, "annotations": list[Any]()}]
            told = {"type": "message", "role": "assistant", "content": content}
            body = {"status": "incomplete" if cut else "completed", "output": [told]}
            body |= {"incomplete_details": {"reason": "max_output_tokens"}} if cut else {}
        case _:
            usage = {"input_tokens": INPUT, "output_tokens": output}
            body = {"type": "message", "content": [{"type": "text", "text": text}]}
            body["stop_reason"] = "max_tokens" if cut else "end_turn"
    return raw(json.dumps({"model": "m", **body, "usage": usage}).encode())


@APIS
def test_a_reply_may_take_what_is_left(server: FakeServer, api: Any, limit: str) -> None:
    """A prompt that works without a budget works under one, as long as there is enough."""
    server.responder = lambda body: replied(api, "ok", 90)
    configure(api=api, budget_tokens=1_000)
    while True:
        try:
            ask(1)
        except BudgetSpent:
            break
    sent = [body[limit] for body in server.bodies if body.get(limit) not in (None, 16_384)]
    # The first, as nobody knew how long replies are, and none whose reply was known to fit.
    assert 950 < sent[0] < 1_000 and len(sent) < 3 and len(server.requests) > 6


@APIS
@pytest.mark.parametrize("returns", [str, int])
def test_a_reply_that_the_budget_has_cut(
    server: FakeServer, api: Any, limit: str, returns: type[object]
) -> None:
    server.responder = lambda body: replied(api, "123", body[limit], cut=True)
    configure(api=api, budget_tokens=300)
    with pytest.raises(BudgetSpent, match=r"was cut at 2\d\d tokens, the rest of") as caught:
        prompt("?", returns=returns)
    assert caught.value.text == "123"
    with pytest.raises(BudgetSpent, match="would pass the budget of 300 tokens"):
        prompt("?")
    assert len(server.requests) == 1


def test_a_limit_of_ones_own_that_cuts_is_no_matter_of_the_budget(server: FakeServer) -> None:
    server.responder = lambda body: taking(50, "12", "length")
    with pytest.raises(TruncatedReply):
        prompt("?", returns=int, options={"max_tokens": 50, "budget_tokens": 1_000})


def test_a_stream_that_the_budget_has_cut(server: FakeServer) -> None:
    def cut(body: dict[str, Any]) -> Answer:
        usage = {"prompt_tokens": INPUT, "completion_tokens": body["max_tokens"]}
        end = event({"choices": [], "usage": usage})
        return events([chunk({"content": "one "}, "length"), end])

    server.responder = cut
    configure(budget_tokens=300)
    heard: list[str] = []
    with pytest.raises(BudgetSpent) as caught:
        heard.extend(prompt("count", stream=True).pieces())
    assert (heard, caught.value.text) == (["one "], "one ")


@APIS
@pytest.mark.parametrize(
    ("words", "then"),
    [
        ("{limit} is too large: it supports at most 1024 output tokens", 1024),
        ("{limit}: this model chooses the length itself", None),
        ("{limit} must be greater than thinking.budget_tokens", None),
    ],
)
def test_a_server_that_refuses_the_bound(
    server: FakeServer, api: Any, limit: str, words: str, then: int | None
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        refused = body.get(limit) not in (None, 16_384, then)
        said = words.format(limit=limit)
        return status(400, said) if refused else replied(api, "ok", 90)

    server.responder = answer
    configure(api=api, budget_tokens=3_000)
    assert ask(1) == "ok"
    last = server.bodies[-1].get(limit)
    assert last == then if then else last in (None, 16_384)


def test_a_reply_with_room_is_not_bound(server: FakeServer) -> None:
    server.responder = lambda body: taking(10)
    configure(budget_tokens=FIRST_REPLY + 100)
    assert ask(1) == "ok"
    configure(budget_cost=1, prices={"fake": {"input": 10, "output": 200}})
    assert ask(2) == "ok"
    assert not any("max_tokens" in body for body in server.bodies)


def test_thoughts_need_more(server: FakeServer) -> None:
    server.responder = lambda body: taking(
        900, completion_tokens_details={"reasoning_tokens": 800}
    )
    configure(budget_tokens=2 * FIRST_REPLY)
    prompt("at first")
    prompt("somewhere else")
    prompt("?", options={"reasoning_effort": "low", "model": "another"})
    assert ["max_tokens" in body for body in server.bodies] == [False, True, True]


def test_a_reply_is_as_long_as_those_of_its_place(server: FakeServer) -> None:
    server.responder = lambda body: taking(1_000 if "essay" in json.dumps(body) else 10)
    configure(budget_tokens=FIRST_REPLY + 1_500)

    def label() -> str:
        return prompt("label").value

    assert [label(), prompt("essay").value] == ["ok", "ok"]
    server.responder = gate = Gate(lambda body: taking(10))
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(label) for _ in range(20)]
        gate.wait_for(20)
        gate.open()
        assert [one.result() for one in asked] == ["ok"] * 20


def test_requests_that_may_not_count_are_waited_for(server: FakeServer) -> None:
    """15 are allowed, and exactly so many of 20 are answered while half are refused."""
    tries = iter([True, False] * 10_000)
    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> Answer:
        with lock:
            return status(429, retry_after_ms=1) if next(tries) else taking(1)

    server.responder = answer
    configure(budget_requests=15, max_wait=60)
    with ThreadPoolExecutor(8) as pool:
        found = [one.exception() for one in [pool.submit(ask, n) for n in range(20)]]
    assert [type(one) for one in found if one is not None] == [BudgetSpent] * 5
    assert current_usage().requests == 15


# What counts as input


def look_up(city: str) -> str:
    """Looks a city up."""
    return city


def test_tools_and_schemas_count_as_input(server: FakeServer) -> None:
    look_up.__doc__ = "Looks up. " * 500
    configure(budget_tokens=2_000, max_tokens=100)
    with pytest.raises(BudgetSpent):
        prompt("{look_up}", look_up=look_up)
    assert server.requests == []
    server.extra = {"tools"}
    with pytest.raises(BudgetSpent):
        prompt("x", options={"extra_body": {"tools": ["x" * 3000]}})
    assert ask(1) == "ok"


def test_every_byte_may_be_a_token(server: FakeServer) -> None:
    configure(budget_tokens=4_000, max_tokens=100)
    with pytest.raises(BudgetSpent):
        ask("\U0001f600" * 1000)
    assert server.requests == []


@pytest.mark.parametrize(
    "extra", [{"max_tokens": 5000}, {"max_completion_tokens": 5000}, {"n": 50}]
)
def test_what_extra_says_of_replies_counts(server: FakeServer, extra: dict[str, Any]) -> None:
    configure(budget_tokens=4_000, max_tokens=100)
    with pytest.raises(BudgetSpent):
        prompt("x", options={"extra_body": extra})
    assert server.requests == []


def test_a_server_that_counts_nothing(server: FakeServer) -> None:
    server.responder = lambda body: taking(0, "word " * 80, prompt_tokens=0)
    configure(budget_tokens=1_000)
    with pytest.raises(BudgetSpent):
        for n in range(100):
            ask(n)
    assert len(server.requests) < 12


def test_writing_to_a_cache_may_cost_more(server: FakeServer) -> None:
    configure(max_tokens=1, prices={"fake": {"input": 1_000_000, "output": 0, "cache_write": 2e6}})
    with pytest.raises(BudgetSpent):
        prompt("x", options={"budget_cost": 60})
    assert prompt("x", options={"budget_cost": 600}).value == "ok"


# No deadlocks


def test_streams_inside_of_streams(server: FakeServer) -> None:
    def pieces(body: dict[str, Any]) -> Answer:
        usage = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT}
        end = event({"choices": [], "usage": usage})
        return events([chunk({"content": "a"}), chunk({"content": "b"}, "stop"), end])

    server.responder = pieces
    configure(budget_tokens=100_000)

    def nest(depth: int) -> int:
        if not depth:
            return 0
        streamed = prompt("x", stream=True)
        return max(nest(depth - 1) for _ in streamed.pieces()) + 1

    assert nest(FIRST + 2) == FIRST + 2


def test_a_stream_that_holds_what_is_left(server: FakeServer) -> None:
    server.responder = lambda body: (
        events([chunk({"content": "a"}), *ending()]) if body.get("stream") else taking(10)
    )
    configure(budget_tokens=2_000, max_tokens=1_500)
    for _ in prompt("x", stream=True).pieces():
        with pytest.raises(BudgetSpent):
            ask(1)


def test_a_provider_that_asks_another(server: FakeServer) -> None:
    class Outer:
        default_model = "fake"

        def complete(self, request: Request) -> Reply:
            inner = prompt("inner", options={"provider": "openai"})
            return Reply(inner.value, input_tokens=1, output_tokens=1)

    meeting = threading.Barrier(FIRST)

    class Meeting(Outer):
        def complete(self, request: Request) -> Reply:
            meeting.wait(60)
            return super().complete(request)

    configure(budget_tokens=3 * BUDGET)
    with ThreadPoolExecutor(FIRST) as pool:
        asked = [pool.submit(prompt, "x", options={"provider": Meeting()}) for _ in range(FIRST)]
        assert [one.result().value for one in asked] == ["ok"] * FIRST


def test_a_prompt_that_blocks_its_loop(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=BUDGET)

    async def all_() -> list[str]:
        asked = [asyncio.ensure_future(_aio(n)) for n in range(FIRST)]
        while gate.inside < FIRST:
            await asyncio.sleep(0.001)
        gate.is_open = True  # the four are answered when the loop goes on
        blocking = ask("x")
        gate.open()
        return [blocking, *[await one for one in asked]]

    assert asyncio.run(all_()) == ["ok"] * (FIRST + 1)


async def _aio(n: int) -> str:
    return (await prompt.aio("n {n}", n=n)).value


def test_tasks_of_a_loop_that_are_cancelled(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=BUDGET)

    async def all_() -> str:
        asked = [asyncio.ensure_future(_aio(n)) for n in range(20)]
        while len(current_meter().waiting) < 20 - FIRST:
            await asyncio.sleep(0.001)
        for one in asked[:-1]:
            one.cancel()
        gate.open()
        return await asked[-1]

    assert asyncio.run(all_()) == "ok"


def test_a_failure_before_those_that_wait(server: FakeServer) -> None:
    server.responder = lambda body: status(400, "no") if "n 2" in json.dumps(body) else taking()
    configure(budget_tokens=1_000_000)
    seen: list[str] = []
    with pytest.raises(Exception, match="no"):
        seen.extend(overlap(ask, range(30)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_waits_for_nobody(server: FakeServer) -> None:
    server.responder = gate = Gate(lambda body: taking(10))
    configure(budget_tokens=BUDGET)
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(ask, n) for n in range(10)]
        waiting(10 - FIRST)
        child = os.fork()
        if not child:
            own = Scripted(["a"])
            os._exit(prompt("x", options={"provider": own}).value != "a")
        assert os.waitpid(child, 0)[1] == 0
        gate.open()
        assert [one.result() for one in asked] == ["ok"] * 10


def test_all_is_given_back(server: FakeServer) -> None:
    server.answers = [status(400, "no"), taking()]
    configure(budget_tokens=1_000_000)
    results: list[Future[str]] = []
    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(ask, n) for n in range(20)]
    assert sum(one.exception() is not None for one in results) == 1
    assert not current_meter().reservations and not current_meter().waiting


def test_observers_may_ask(server: FakeServer) -> None:
    server.responder = lambda body: taking()
    configure(budget_tokens=100_000)
    told: list[str] = []

    def listener(event: dict[str, Any]) -> None:
        if event["event"] == "request" and len(told) < 6:
            told.append("x")
            ask("again")

    remove = add_observer(listener)
    try:
        assert ask(1) == "ok"
    finally:
        remove()
