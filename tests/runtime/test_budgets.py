"""The budget of a run: what counts, what is not sent any more, and what it passes through."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import genai_prices
import pytest

from runtime_support import (
    BudgetSpent,
    ConfigError,
    ProviderError,
    RateLimited,
    RunStopped,
    Settings,
    Usage,
    configure,
    overlap,
    program,
    prompt,
)
from runtime_support import _budgets as spending
from runtime_support._budgets import current_usage, dollars, spent_of
from runtime_support._core.hooks import PromptRun
from runtime_support._core.messages import Reply, Request
from runtime_support._core.settings import Price
from runtime_support._core.spending import UsageMeter, current_meters
from runtime_support._values.context import Block
from runtime_support.ops import failure
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request
from tests.runtime.conftest import RequestClock
from tests.support.fake_server import Answer, FakeServer, completion, cut, raw, status, streamed
from tests.support.maps import LineMap

Script = Callable[..., Scripted]


__saft_source_map__ = LineMap()


def ask(n: object) -> str:
    return prompt("{n}", n=n).value


def test_the_request_that_would_pass_is_not_sent(server: FakeServer) -> None:
    configure(budget_requests=3)
    assert [ask(n) for n in range(3)] == ["ok"] * 3
    with pytest.raises(BudgetSpent) as caught:
        ask(3)
    assert len(server.requests) == 3
    line = ask.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        "the next request would pass the budget of 3 requests; spent so far: 3 requests, 54 tokens "
        f"(triage.saft:{line}:11: 3 requests, 54 tokens); raise `budget_requests` to continue"
    )
    assert caught.value.saft_position == f"triage.saft:{line}:11"
    configure(budget_requests=4)
    assert ask(3) == "ok"


def test_tries_that_may_have_been_paid_count(server: FakeServer) -> None:
    configure(budget_requests=4)
    server.answers = [status(500), cut(), completion("a"), completion("b")]
    assert [ask(0), ask(1)] == ["a", "b"]
    assert current_usage().requests == 4
    with pytest.raises(BudgetSpent):
        ask(2)


def test_time_outs_do_not_pass_the_budget(
    server: FakeServer, request_clock: RequestClock
) -> None:
    def answer_too_late(_: dict[str, Any]) -> Answer:
        request_clock.skip(61)
        return Answer(body=b"HTTP/1.1 200 OK\r\n", drip=b"x")

    server.responder = answer_too_late
    with pytest.raises(BudgetSpent, match="spent so far: 2 requests"):
        prompt("?", options={"timeout": 60, "max_retries": 5, "budget_requests": 2})
    assert len(server.requests) == 2
    assert current_usage().input_tokens > 0


@pytest.mark.parametrize("code", [429, 503, 529])
def test_refused_tries_do_not_count(server: FakeServer, code: int) -> None:
    configure(budget_requests=2)
    busy = status(code, retry_after_ms=1)
    server.answers = [busy, busy, completion("a"), busy, completion("b"), busy]
    assert [ask(0), ask(1)] == ["a", "b"]
    configure(budget_requests=3)
    with pytest.raises(ProviderError):
        prompt("?", options={"max_wait": 0})
    assert str(current_usage()) == "2 requests, 36 tokens"


def test_a_server_that_nobody_reaches_costs_nothing() -> None:
    configure(provider="openai", base_url="http://127.0.0.1:1/v1", max_retries=1, budget_requests=1)
    for _ in range(2):
        with pytest.raises(ProviderError, match="cannot reach"):
            ask(0)
    assert current_usage().requests == 0


def test_a_try_that_is_lost_takes_what_was_reserved_for_it(server: FakeServer) -> None:
    configure(budget_tokens=10_000, max_tokens=100, max_retries=0)
    server.answers = [cut(), completion("ok")]
    with pytest.raises(ProviderError):
        ask(0)
    assert current_usage().output_tokens == 100
    assert ask(1) == "ok"
    assert current_usage().output_tokens == 107


@pytest.mark.parametrize("budget", [None, 10_000])
def test_a_request_that_was_cancelled_counts_with_its_tokens(budget: int | None) -> None:
    begun, may_end = threading.Event(), threading.Event()

    class Slow:
        def complete(self, _: Request) -> Reply:
            begun.set()
            may_end.wait(60)
            return Reply("too late")

    configure(provider=Slow(), budget_tokens=budget)

    async def main() -> None:
        asked = asyncio.create_task(prompt.aio("x" * 4_000))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(main())
    may_end.set()
    assert current_usage().requests == 1
    assert 1_000 <= current_usage().tokens <= 1_100


def test_tries_count_before_there_is_a_budget(server: FakeServer) -> None:
    server.answers = [status(500), status(429, retry_after_ms=1), completion("a"), status(429)]
    assert ask(0) == "a"
    with pytest.raises(RateLimited):
        prompt("?", options={"max_wait": 0})
    assert current_usage().requests == 2


def test_threads_share_the_budget(server: FakeServer) -> None:
    configure(budget_requests=10)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, n) for n in range(40)]
        errors = [one.exception() for one in asked]
    assert sum(error is None for error in errors) == 10 == len(server.requests)
    assert {type(error) for error in errors if error is not None} == {BudgetSpent}


def test_tokens(server: FakeServer) -> None:
    configure(budget_tokens=50)  # a reply tells of 18
    assert [ask(n) for n in range(2)] == ["ok"] * 2
    with pytest.raises(BudgetSpent, match="budget of 50 tokens; spent so far: 2 requests, 36 t"):
        ask(2)
    assert len(server.requests) == 2
    assert current_usage().tokens == 36


def test_a_first_request_that_is_too_long_is_not_sent(server: FakeServer) -> None:
    configure(budget_tokens=1000)
    with pytest.raises(BudgetSpent, match="spent so far: 0 requests, 0 tokens; raise"):
        ask("long " * 1000)
    assert server.requests == []


def test_cost(server: FakeServer) -> None:
    configure(budget_cost=0.00055, prices={"fake": {"input": 10, "output": 20}})
    assert ask(1) == "ok"  # 11 and 7 tokens: 0.00025
    with pytest.raises(BudgetSpent, match=r"a cost of \$0\.00055; .* 18 tokens, cost \$0\.00025"):
        ask(2)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(0, "$0"), (2, "$2"), (2.5e-7, "$0.00000025"), (0.123456, "$0.1235"), (1234.5, "$1,234.50")],
)
def test_a_cost_is_shown_in_dollars(cost: float, shown: str) -> None:
    assert dollars(cost) == shown


def test_a_model_without_a_price(server: FakeServer) -> None:
    configure(budget_cost=1, prices={"other": {"input": 10, "output": 20}})
    with pytest.raises(
        ConfigError, match=r"no price of the model fake; .*tool\.saft\.prices"
    ) as it:
        ask(1)
    assert it.value.setting == "prices"
    assert server.requests == []


def test_what_has_no_price_has_no_cost(server: FakeServer) -> None:
    configure(prices={"fake": {"input": 0, "output": 0}}, budget_cost=0)
    assert ask(1) == "ok"
    assert str(current_usage()) == "1 request, 18 tokens"


def test_surroundings(server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.saft]\nbudget_requests = 1\nbudget_cost = 1\n[tool.saft.prices]\n"
        "fake = { input = 1, output = 2 }\n"
    )
    assert ask(1) == "ok"
    with pytest.raises(BudgetSpent, match=r"1 request, 18 tokens, cost \$0\.000025 "):
        ask(2)
    monkeypatch.setenv("SAFT_BUDGET_REQUESTS", "2")
    assert ask(2) == "ok"
    monkeypatch.setenv("SAFT_BUDGET_TOKENS", "many")
    with pytest.raises(ConfigError, match="SAFT_BUDGET_TOKENS: expected an int"):
        ask(2)


def test_providers_of_ones_own_count_too(scripted: Script) -> None:
    model = scripted("a", "b", budget_requests=1)
    assert ask(1) == "a"
    with pytest.raises(BudgetSpent):
        ask(2)
    assert len(model.requests) == 1


# What stops a run passes through all that goes on after errors.


def test_it_passes_through_tools(scripted: Script) -> None:
    def inner(x: int) -> str:
        return prompt("inner {x}", x=x).value

    model = scripted([tool_request("inner", x=1)], "never", budget_requests=1)
    with pytest.raises(BudgetSpent):
        prompt("{inner}", inner=inner)
    assert len(model.requests) == 1


def test_it_passes_through_programs(scripted: Script) -> None:
    def inner(x: int) -> str:
        return prompt("inner {x}", x=x).value

    model = scripted('{"inner": {"x": 1}}', "never", budget_requests=1)
    with pytest.raises(BudgetSpent):
        program("{inner}", inner=inner, pure=[inner])
    assert len(model.requests) == 1


def test_the_try_of_a_script_knows_it(scripted: Script) -> None:
    scripted("a", budget_requests=0)
    with pytest.raises(RunStopped) as caught:
        ask(1)
    assert failure(caught.value).kind == "budget"


def test_it_ends_calls_that_overlap(server: FakeServer) -> None:
    configure(budget_requests=5)
    values: list[str] = []
    with pytest.raises(BudgetSpent):
        values.extend(overlap(ask, range(50)))
    assert len(server.requests) == 5


def test_who_waits_for_a_budget_comes_in_the_order_of_the_script() -> None:
    """Otherwise later calls could take the rest, which are paid and never seen."""

    def wait_for(waiting: int) -> None:
        end = time.monotonic() + 5
        while len(current_meters()[-1].waiting) < waiting and time.monotonic() < end:
            time.sleep(0.01)

    class Slow:
        is_first = True

        def complete(self, request: Request) -> Reply:
            if self.is_first:
                self.is_first = False
                wait_for(9)
            return Reply("late", input_tokens=10, output_tokens=10)

    def ask_late(number: int) -> str:
        if number == 0:
            wait_for(8)  # all others have asked
        return prompt(f"number {number}").value

    values: list[str] = []
    with (
        configure(provider=Slow(), budget_tokens=100),
        pytest.raises(BudgetSpent, match="spent so far: 4 requests"),
    ):
        values.extend(overlap(ask_late, range(10)))
    assert len(values) >= 3  # the request that was first may be that of any call


def test_what_fails_is_counted_as_a_request(server: FakeServer) -> None:
    configure(budget_requests=1, max_retries=0)
    server.answers = [status(400, "no")]
    with pytest.raises(Exception, match="no"):
        ask(1)
    with pytest.raises(BudgetSpent, match="1 request, 0 tokens"):
        ask(2)


def test_it_can_be_pickled() -> None:
    error = BudgetSpent("spent", hint="raise it")
    again: Any = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (BudgetSpent, "spent; raise it")


LATE = """
import sys
from runtime_support import BudgetSpent, configure, prompt

def ask(n):
    return prompt("{n}", n=n).value

def is_counting():
    return "runtime_support._budgets" in sys.modules

"""


def run_late(server: FakeServer, script: str) -> str:
    """What a program prints that comes to its budget in the middle; nothing counts before."""
    environment = {"SAFT_BASE_URL": server.url, "SAFT_MODEL": "fake", "OPENAI_API_KEY": "k" * 20}
    done = subprocess.run(
        [sys.executable, "-c", LATE + script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def test_a_budget_that_is_set_late_counts_what_was_asked_before(server: FakeServer) -> None:
    script = """
ask(1), ask(2)
assert not is_counting()
configure(budget_requests=3, budget_cost=1, prices={"fake": {"input": 10, "output": 20}})
ask(3)
try:
    ask(4)
except BudgetSpent as error:
    print(error.message)
"""
    assert run_late(server, script) == (
        "the next request would pass the budget of 3 requests; spent so far: 3 requests, "
        "54 tokens, cost $0.00075 (<string>:6: 3 requests, 54 tokens, cost $0.00075)\n"
    )
    assert len(server.requests) == 3


def test_what_is_under_way_when_a_budget_is_set_counts_as_well(server: FakeServer) -> None:
    script = """
class Own:
    def complete(self, request):
        from runtime_support import Reply
        assert not is_counting()
        configure(budget_requests=2)
        prompt("inside", options={"provider": "openai"})
        return Reply("ok", input_tokens=100, output_tokens=23)

with configure(provider=Own()):
    ask(1)
try:
    ask(2)
except BudgetSpent as error:
    print(error.message.partition(" (")[0])
"""
    assert run_late(server, script) == (
        "the next request would pass the budget of 2 requests; "
        "spent so far: 2 requests, 141 tokens\n"
    )


def test_a_stream_that_was_left_counts_before_the_budget_as_well(server: FakeServer) -> None:
    server.answers = [streamed("abcd", "efgh", "ijkl"), completion("ok")]
    script = """
for piece in prompt("hi", stream=True).pieces():
    break
del piece
import gc; gc.collect()
assert not is_counting()
from runtime_support._budgets import current_usage
print(current_usage().requests, current_usage().output_tokens > 0)
"""
    assert run_late(server, script) == "1 True\n"


def test_the_sum_has_the_prompts_from_before(server: FakeServer) -> None:
    script = """
ask(1), ask(2)
assert not is_counting()
import os
os.environ["SAFT_USAGE"] = "1"
ask(3)
"""
    told = run_late(server, script)
    assert told.startswith("saftc: 3 prompts: 3 requests, 54 tokens, ")


# Prices of well-known models


@pytest.fixture
def well_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "SAFT_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    spending._well_known.cache_clear()


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        ("openai", "gpt-4o-mini", 1_000),
        ("anthropic", "claude-sonnet-4-5", 1_000),
        ("anthropic", "claude-sonnet-4-5", 300_000),
        ("openrouter", "openai/gpt-4o-mini", 1_000),
    ],
)
def test_a_well_known_price_is_that_of_its_package(
    well_known: None, provider: Any, model: str, sent: int
) -> None:
    usage = Usage(sent, 500, 1, cached_tokens=200)
    price = spending.price_of(Settings(provider=provider, model=model), model, sent)
    assert price is not None
    tokens = genai_prices.Usage(input_tokens=sent, output_tokens=500, cache_read_tokens=200)
    told = genai_prices.calc_price(tokens, model, provider_id=provider).total_price
    assert spending.cost_of(price, usage)[0] == pytest.approx(float(told))


def test_each_request_has_the_price_of_its_own_length(well_known: None) -> None:
    model = "claude-sonnet-4-5"  # $3 for a million tokens, and $6 above 200,000 in one request
    settings, spending = Settings(provider="anthropic", model=model), UsageMeter()
    for tokens in (150_000, 150_000, 30_000, 300_000):
        spending.add(PromptRun(settings), model, Usage(tokens, 0, 1))
    assert spent_of(spending.taken()).cost == pytest.approx(3 * 0.33 + 6 * 0.3)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(provider="openai", model="gpt-4o-mini", base_url="http://127.0.0.1:1/v1"),
        Settings(provider="openai", model="a-model-of-ours"),
        Settings(provider="mock", model="gpt-4o-mini"),
    ],
)
def test_no_price_is_taken_for_another_server_or_model(
    well_known: None, settings: Settings
) -> None:
    assert settings.model is not None
    assert spending.price_of(settings, settings.model, 100) is None


def test_a_price_of_the_settings_comes_first(well_known: None) -> None:
    own: Price = {"input": 1.0, "output": 2.0}
    settings = Settings(provider="openai", model="gpt-4o-mini", prices={"gpt-4o-mini": own})
    assert spending.price_of(settings, "gpt-4o-mini", 100) == own


# Blocks with a budget of their own


def _asked(times: int) -> int:
    """How many of so many prompts were answered before the budget was spent."""
    for n in range(times):
        try:
            ask(n)
        except BudgetSpent:
            return n
    return times


def test_a_block_counts_from_its_beginning(server: FakeServer) -> None:
    assert _asked(3) == 3
    for _ in range(2):
        with configure(budget_requests=2):
            assert _asked(5) == 2
            with pytest.raises(BudgetSpent, match=r"of 2 requests; spent so far: 2 requests,"):
                ask(0)
    assert _asked(3) == 3
    assert current_usage().requests == len(server.requests) == 10


def test_a_block_stays_within_those_around_it(server: FakeServer) -> None:
    with configure(budget_requests=4):
        assert _asked(1) == 1
        with configure(budget_requests=2):
            assert _asked(9) == 2
        with configure(budget_requests=9):
            assert _asked(9) == 1
        with configure(budget_requests=None):
            assert _asked(9) == 0
    configure(budget_requests=6)
    with configure(budget_requests=9):
        assert _asked(9) == 2
    assert len(server.requests) == 6


def test_a_block_stays_within_the_environment(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_BUDGET_REQUESTS", "2")
    with configure(budget_requests=9):
        assert _asked(9) == 2


def test_blocks_of_different_bounds(server: FakeServer) -> None:
    with configure(budget_tokens=50), configure(budget_requests=9):  # a reply tells of 18
        assert _asked(9) == 2
    with configure(budget_requests=1), configure(budget_tokens=4_000):
        assert _asked(9) == 1


def test_what_is_not_sent_counts_nowhere(server: FakeServer) -> None:
    with configure(budget_requests=1):
        ask(0)
        with configure(budget_requests=3), pytest.raises(BudgetSpent):
            ask(1)
    assert current_usage().requests == 1
    with configure(budget_requests=2):
        with configure(budget_tokens=1), pytest.raises(BudgetSpent):
            ask(2)
        assert _asked(9) == 2


def test_the_budget_of_a_block_does_not_stop_the_run(server: FakeServer) -> None:
    stopped: list[RunStopped] = []
    with Block(stops=stopped):
        with configure(budget_requests=0), pytest.raises(BudgetSpent):
            ask(0)
        assert not stopped
        configure(budget_requests=0)
        with configure(budget_requests=5), pytest.raises(BudgetSpent):
            ask(0)
    assert isinstance(stopped[0], BudgetSpent)


def test_a_cut_reply_ends_what_its_budget_bounds(server: FakeServer) -> None:
    def cut_there(body: dict[str, Any]) -> Answer:
        usage = {"prompt_tokens": 11, "completion_tokens": body["max_tokens"]}
        said = {"finish_reason": "length", "message": {"role": "assistant", "content": "1"}}
        return raw(json.dumps({"model": "m", "choices": [said], "usage": usage}).encode())

    server.responder = cut_there
    stopped: list[RunStopped] = []
    with Block(stops=stopped):
        with configure(budget_tokens=300), pytest.raises(BudgetSpent, match="was cut"):
            ask(0)
        assert not stopped
        configure(budget_tokens=600)
        with configure(budget_requests=5), pytest.raises(BudgetSpent, match="was cut"):
            ask(0)
    assert isinstance(stopped[0], BudgetSpent)


def test_an_option_of_a_prompt_in_a_block(server: FakeServer) -> None:
    with configure(budget_requests=5):
        ask(0)
        with pytest.raises(BudgetSpent):
            prompt("1", options={"budget_requests": 1})
        assert _asked(9) == 4


def test_requests_of_a_service_at_the_same_time(server: FakeServer) -> None:
    """100 tasks with a budget each, inside of one of the process; some have threads as well."""

    async def handle(number: int) -> int:
        most = number % 4
        with configure(budget_requests=most):
            asked = [prompt.aio(f"{number} {n}") for n in range(6)]
            found = await asyncio.gather(*asked, return_exceptions=True)
        spent = [one for one in found if isinstance(one, BudgetSpent)]
        assert len(spent) == 6 - most
        return len(found) - len(spent)

    async def serve() -> list[int]:
        return await asyncio.gather(*map(handle, range(100)))

    configure(budget_requests=1_000)
    assert sum(asyncio.run(serve())) == len(server.requests) == 150
    configure(budget_requests=160)

    def in_threads(number: int) -> int:
        with configure(budget_requests=3):
            return sum(not isinstance(one, BaseException) for one in overlap(_caught, range(5)))

    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(in_threads, range(8)))
    assert sum(answered) == 10 and max(answered) <= 3
    assert len(server.requests) == 160


class Together:
    """Answers when so many ask at the same time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.most = self.asking = 0
        self.changed = threading.Condition()

    def complete(self, request: Request) -> Reply:
        with self.changed:
            self.asking += 1
            self.most = max(self.most, self.asking)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.most >= self.count, timeout=20)
        with self.changed:
            self.asking -= 1
        return Reply("fine")


@pytest.mark.parametrize(("bounds", "most"), [(20, 3), (3, 1), (None, 3)])
def test_calls_overlap_in_a_block_as_long_as_all_of_them_fit(bounds: int | None, most: int) -> None:
    model = Together(most)

    async def handle() -> None:
        with configure(budget_requests=bounds):
            await overlap.aio(_awaited, ["a", "b", "c"])

    with configure(provider=model):
        asyncio.run(handle())
    assert model.most == most


async def _awaited(text: str) -> str:
    return (await prompt.aio("{text}", text=text)).value


def _caught(n: int) -> str | BudgetSpent:
    try:
        return ask(n)
    except BudgetSpent as error:
        return error


def test_tokens_of_blocks_at_the_same_time(server: FakeServer) -> None:
    """With `max_tokens`, no block passes its bound, however many ask at the same time."""

    async def handle(number: int) -> int:
        with configure(budget_tokens=300, max_tokens=20):
            found = await asyncio.gather(
                *(prompt.aio(f"{number} {n}") for n in range(9)), return_exceptions=True
            )
        return sum(not isinstance(one, BudgetSpent) for one in found)

    async def serve() -> list[int]:
        return await asyncio.gather(*map(handle, range(20)))

    answered = asyncio.run(serve())
    assert min(answered) > 0 and max(answered) * 18 <= 300
    assert len(server.requests) == sum(answered)


def test_answers_from_the_journal_count_in_their_block(server: FakeServer, tmp_path: Path) -> None:
    """A run that goes on comes to the end of a block's budget where it came to it before."""
    path = str(tmp_path / "run.jsonl")
    for asked in (2, 0):
        before = len(server.requests)
        with journaled(path), configure(budget_requests=2):
            assert _asked(9) == 2
        assert len(server.requests) - before == asked
    with configure(budget_requests=3), journaled(path):
        assert _asked(9) == 3


def test_without_a_budget_nothing_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    # A long run has many places: a sum over them for each prompt would make it ever slower.
    def summed(*_: object) -> None:
        raise AssertionError("what was taken is summed")

    monkeypatch.setattr(spending, "spent_of", summed)
    configure(provider=Scripted(["one", "two"]))
    assert list(overlap(lambda name: prompt(name).value, ["a", "b"])) == ["one", "two"]
