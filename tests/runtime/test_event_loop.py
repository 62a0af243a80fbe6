"""Prompts in Python's event loop: the same answers, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from httpcore2 import AsyncConnectionPool

from runtime_support import (
    BudgetSpent,
    CheckError,
    ContractError,
    ProviderError,
    ProviderTimeout,
    Refused,
    Reply,
    Request,
    Result,
    TruncatedReply,
    configure,
    in_thread,
    program,
    prompt,
)
from runtime_support._core.spending import current_meter
from runtime_support._recordings import close
from runtime_support.programs import run
from runtime_support.programs._prompting import Plan
from runtime_support.providers import _backoff, _retries
from runtime_support.runs import journal_scope, journaled
from runtime_support.testing import Scripted, tool_request
from tests.runtime.conftest import RequestClock
from tests.runtime.test_retries import Crowded
from tests.support.fake_server import (
    LEFT,
    Answer,
    FakeServer,
    calling,
    chunk,
    completion,
    ending,
    events,
    status,
    streamed,
)
from tests.support.maps import LineMap

Script = Callable[..., Scripted]
UNFINISHED = replace(completion("never"), parts=[b'{"choices"', LEFT])


@dataclass
class Row:
    name: str
    price: float


def echo(body: dict[str, Any]) -> Answer:
    return completion(body["messages"][-1]["content"])


async def until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.001)


def cancelled_when(
    holds: Callable[[], object], work: Callable[[], Coroutine[Any, Any, object]]
) -> None:
    """Runs the work, cancels it when something holds, and sees that nothing of it is left."""

    async def main() -> None:
        task = asyncio.create_task(work())
        await until(holds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


# Answers


def test_the_answer_is_that_of_a_thread(scripted: Script) -> None:
    def double(number: int) -> int:
        return 2 * number

    def parts(result: Result[int]) -> Any:
        calls = [(one.tool, one.args, one.result) for one in result.tool_calls]
        return result.value, result.text, calls, result.usage, result.repairs, result.messages

    replies = tool_request("double", number=4), "eight", "8"
    scripted(*replies, *replies)
    here = prompt("twice {number}, by {double}", number=4, double=double, returns=int)
    there = asyncio.run(
        prompt.aio("twice {number}, by {double}", number=4, double=double, returns=int)
    )
    assert parts(there) == parts(here)
    assert here.value == 8 and len(here.repairs) == 1


def test_many_wait_together_on_one_thread(server: FakeServer) -> None:
    together = threading.Barrier(50)
    threads: set[int] = set()

    def respond(body: dict[str, Any]) -> Answer:
        together.wait(60)
        return echo(body)

    async def ask(n: int) -> str:
        result = await prompt.aio("{n}", n=n)
        threads.add(threading.get_ident())
        return result.value

    async def main() -> list[str]:
        return await asyncio.gather(*map(ask, range(50)))

    server.responder = respond
    assert asyncio.run(main()) == [str(n) for n in range(50)]
    assert len(threads) == 1


def test_connections_serve_again_and_are_closed_with_the_loop(
    server: FakeServer, recwarn: pytest.WarningsRecorder
) -> None:
    server.responder = echo

    async def main() -> None:
        for _ in range(3):
            await prompt.aio("?")

    asyncio.run(main())
    asyncio.run(main())
    ports = [one.port for one in server.requests]
    assert len(set(ports)) == 2 and ports == sorted(ports, key=ports.index)
    gc.collect()
    assert [str(one.message) for one in recwarn if one.category is ResourceWarning] == []


def test_loops_that_have_ended_are_let_go(server: FakeServer) -> None:
    server.responder = echo

    async def main() -> weakref.ref[asyncio.AbstractEventLoop]:
        await prompt.aio("?")
        return weakref.ref(asyncio.get_running_loop())

    ended = [asyncio.run(main()) for _ in range(5)]
    gc.collect()
    assert sum(loop() is not None for loop in ended) <= 1


def test_what_is_wrong_is_told_when_it_is_called(scripted: Script) -> None:
    scripted()

    async def main() -> None:
        with pytest.raises(CheckError, match="name"):
            prompt.aio("hello {name}")

    asyncio.run(main())


def test_failures_have_their_position_and_history(scripted: Script) -> None:
    scripted("one", "two")
    with pytest.raises(ContractError) as caught:
        asyncio.run(prompt.aio("a number", returns=int))
    assert caught.value.saft_position == f"script.saft:{position_line()}:20"
    assert len(caught.value.attempts) == 2


def test_what_fails_in_a_thread_has_the_position_of_the_call(scripted: Script) -> None:
    scripted("one", "two")

    async def main() -> None:
        with pytest.raises(ContractError) as caught:
            await in_thread(prompt, "a number", returns=int)
        line = main.__code__.co_firstlineno + 2
        assert caught.value.saft_position == f"script.saft:{line}:12"

    asyncio.run(main())


def position_line() -> int:
    return test_failures_have_their_position_and_history.__code__.co_firstlineno + 3


__saft_source_map__ = LineMap("script.saft")


def test_refusals_and_what_a_server_lacks(server: FakeServer) -> None:
    server.answers = [
        status(400, "unknown field: response_format"),
        completion("[1]"),
        completion("no", "content_filter"),
    ]

    async def main() -> None:
        assert (await prompt.aio("?", returns=list[int])).value == [1]
        with pytest.raises(Refused):
            await prompt.aio("?")

    asyncio.run(main())
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


# Waiting


def test_the_loop_goes_on_while_the_server_is_waited_for(server: FakeServer) -> None:
    has_turned = threading.Event()
    answers = iter([status(429, "slow down", retry_after_ms=50), completion("late")])
    turns = 0

    def respond(body: dict[str, Any]) -> Answer:
        assert has_turned.wait(60)
        return next(answers)

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            if server.requests and turns > 100:
                has_turned.set()
            await asyncio.sleep(0)

    async def main() -> str:
        turning = asyncio.create_task(turn())
        result = await prompt.aio("?")
        turning.cancel()
        return result.value

    server.responder = respond
    assert asyncio.run(main()) == "late"


def test_none_of_many_fails(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_backoff, "FIRST_WAIT", 0.02)
    configure(max_wait=3600)
    crowded = server.responder = Crowded(8, 30, status(429, "slow down"))

    async def main() -> list[str]:
        room = asyncio.Semaphore(30)

        async def ask(n: int) -> str:
            async with room:
                return (await prompt.aio("{0}", n)).value

        return await asyncio.gather(*map(ask, range(100)))

    assert asyncio.run(main()) == [str(n) for n in range(100)]
    assert 22 <= crowded.refused < 100


def test_threads_and_a_loop_share_the_room_of_a_server(server: FakeServer) -> None:
    """What a thread does wakes who waits in the loop, and the other way round."""
    configure(max_wait=3600)
    crowded = server.responder = Crowded(4, 12, status(429, "slow down", retry_after_ms=10))

    async def ask(n: int) -> str:
        if n % 2:
            return (await in_thread(prompt, "{0}", n)).value
        return (await prompt.aio("{0}", n)).value

    async def main() -> list[str]:
        return await asyncio.gather(*map(ask, range(12)))

    assert asyncio.run(main()) == [str(n) for n in range(12)]
    assert crowded.refused >= 8


def test_the_time_of_a_request_is_bounded(server: FakeServer, request_clock: RequestClock) -> None:
    server.answers = [replace(UNFINISHED, headers={})]

    async def main() -> None:
        task = asyncio.create_task(prompt.aio("?", options={"timeout": 60, "max_retries": 0}))
        await until(lambda: server.requests)
        request_clock.skip(61)
        with pytest.raises(ProviderTimeout, match=r"did not answer within 60 s"):
            await task

    asyncio.run(main())
    assert server.was_left.wait(20)


def test_the_bytes_of_a_reply_are_bounded(server: FakeServer) -> None:
    for answer in completion("long" * 1000), streamed("long" * 1000):
        server.answers = [answer]
        with pytest.raises(ProviderError, match="more than 2000 bytes"):
            asyncio.run(whole("?", max_reply_bytes=2000))


async def whole(text: str, **options: Any) -> Result[str]:
    return await prompt.aio(text, stream=True, options=options)


def test_a_redirect_to_another_place_is_an_error(server: FakeServer) -> None:
    server.answers = [Answer(307, headers={"location": "http://127.0.0.1:1/v1"})]
    with pytest.raises(ProviderError, match=r"redirected \(307\) to"):
        asyncio.run(prompt.aio("?"))


def test_nobody_at_the_address() -> None:
    configure(provider="openai", base_url="http://127.0.0.1:1/v1", max_retries=0)
    with pytest.raises(ProviderError, match="cannot reach"):
        asyncio.run(prompt.aio("?"))


# Cancelling


def test_to_cancel_ends_the_exchange_at_once(server: FakeServer) -> None:
    server.answers = [UNFINISHED]
    cancelled_when(lambda: server.requests, lambda: prompt.aio("?"))
    assert server.was_left.wait(20)
    assert current_meter().in_flight == 0


def test_to_cancel_one_leaves_the_others(server: FakeServer) -> None:
    server.responder = lambda body: UNFINISHED if "never" in str(body) else echo(body)

    async def main() -> str:
        task = asyncio.create_task(prompt.aio("never"))
        await until(lambda: server.requests)
        other = asyncio.create_task(prompt.aio("other"))
        task.cancel()
        return (await other).value

    assert asyncio.run(main()) == "other"
    assert server.was_left.wait(20)


def test_to_cancel_ends_the_wait_for_another_try(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(3600)

    server.answers = [status(429, "slow down", retry_after_ms=50)]
    with monkeypatch.context() as patch:
        patch.setattr(_retries, "_slept_async", wait)
        cancelled_when(lambda: waits, lambda: prompt.aio("?"))
    server.answers = [completion("next")]
    assert prompt("?").value == "next", "the room that it had is free again"


def test_to_cancel_a_stream_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([chunk({"content": "one"}), LEFT])]
    seen: list[str] = []

    async def read() -> None:
        async for piece in prompt.aio("?", stream=True).pieces():
            seen.append(piece)

    cancelled_when(lambda: seen, read)
    assert server.was_left.wait(20)
    assert seen == ["one"]


def test_to_cancel_while_a_connection_is_closed(server: FakeServer) -> None:
    """Whenever that is, the pool of connections has nothing left of the request."""
    server.responder = lambda body: events([chunk({"content": "one"}), LEFT])
    seen: list[str] = []
    # Those of loops that other tests have ended may hold what was under way then.
    before = pools()

    async def leave() -> None:
        async with aclosing(prompt.aio("?", stream=True).pieces()) as pieces:
            seen.append(await anext(pieces))

    async def main() -> list[str]:
        for turns in range(12):
            seen.clear()
            task = asyncio.create_task(leave())
            while not seen:
                await asyncio.sleep(0)
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait((task,))
        return [repr(one) for one in pools() if not any(one is other for other in before)]

    (pool,) = asyncio.run(main())
    assert "Requests: 0 active, 0 queued" in pool


def pools() -> list[AsyncConnectionPool]:
    return [one for one in gc.get_objects() if isinstance(one, AsyncConnectionPool)]


def test_to_cancel_a_tool_that_is_async(scripted: Script) -> None:
    scripted(tool_request("wait"), "never")
    states: list[str] = []

    async def wait() -> None:
        states.append("begun")
        try:
            await asyncio.sleep(60)
        finally:
            states.append("ended")

    cancelled_when(lambda: states, lambda: prompt.aio("{wait}", wait=wait))
    assert states == ["begun", "ended"]


def test_to_cancel_a_stream_of_ones_own_provider() -> None:
    """The thread in which it waits for the next piece closes the stream when that is there."""
    may_go_on, has_closed = threading.Event(), threading.Event()
    seen: list[str] = []

    class Own:
        def complete(self, request: Request) -> Reply:
            raise AssertionError

        def stream(self, request: Request) -> Iterator[str]:
            try:
                yield "one"
                seen.append("waits")
                assert may_go_on.wait(60)
                yield "two"
            finally:
                has_closed.set()

    configure(provider=Own())
    cancelled_when(lambda: seen, lambda: whole("?"))
    may_go_on.set()
    assert has_closed.wait(60)


def test_a_thread_that_was_left_asks_no_more(scripted: Script) -> None:
    model = scripted("first", "never")
    may_go_on, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        try:
            prompt("first")
            assert may_go_on.wait(60)
            prompt("second")
        finally:
            has_ended.set()

    cancelled_when(lambda: model.requests, lambda: in_thread(work))
    may_go_on.set()
    assert has_ended.wait(60)
    assert len(model.requests) == 1


# The threads that were there before the test, as those of sessions of servers are.
_before: set[threading.Thread] = set()


@pytest.fixture(autouse=True)
def _threads_before() -> None:
    _before.clear()
    _before.update(threading.enumerate())


def saft_threads_have_ended() -> bool:
    new = set(threading.enumerate()) - _before
    return not any(one.name.startswith("saft") for one in new)


def test_what_a_thread_begins_as_it_is_left_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    begins, may_begin = threading.Event(), threading.Event()
    begin = asyncio.run_coroutine_threadsafe

    def late(*arguments: Any) -> Any:
        begins.set()
        assert may_begin.wait(60)
        return begin(*arguments)

    async def never(item: int) -> None:
        await asyncio.sleep(3600)

    async def main() -> None:
        task = asyncio.create_task(in_thread(sorted, [1], key=never))
        await until(begins.is_set)
        task.cancel()
        await asyncio.wait((task,))
        may_begin.set()
        async with asyncio.timeout(20):
            await until(saft_threads_have_ended)
            await until(lambda: len(asyncio.all_tasks()) == 1)

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", late)
    asyncio.run(main())


def test_a_program_that_was_left_calls_no_more(scripted: Script) -> None:
    scripted('{"$map": {"over": [1, 2], "as": "n", "do": {"step": {"n": {"$ref": "n"}}}}}')
    calls: list[int] = []
    may_go_on = threading.Event()

    def step(n: int) -> int:
        calls.append(n)
        assert may_go_on.wait(60)
        return n

    cancelled_when(lambda: calls, lambda: program.aio("{step}", step=step, returns=list[int]))
    may_go_on.set()
    asyncio.run(until(saft_threads_have_ended))
    assert calls == [1]


def test_a_journal_has_no_end_of_a_call_that_was_left(scripted: Script) -> None:
    scripted('{"ask": {}}', "inner")
    begun: list[str] = []
    record = begun.append  # compiled tools change no value that they close over
    may_go_on = threading.Event()

    def ask() -> str:
        record("ask")
        assert may_go_on.wait(60)
        return prompt("inner").value

    async def work() -> str:
        return (await program.aio("{ask}", ask=ask, returns=str)).value

    async def main() -> None:
        with journaled("run.journal"):
            task = asyncio.create_task(work())
            await until(lambda: begun)
            task.cancel()
            await asyncio.wait((task,))
            may_go_on.set()
            await until(saft_threads_have_ended)

    asyncio.run(main())
    with journaled("run.journal"):
        assert asyncio.run(work()) == "inner"
    assert begun == ["ask", "ask"]


# Tools and threads


def test_async_tools_run_in_the_loop_and_others_in_threads(scripted: Script) -> None:
    scripted(tool_request("look", city="Oslo"), tool_request("count", text="abc"), "done")
    places: list[object] = []

    async def look(city: str) -> str:
        await asyncio.sleep(0)
        places.append(asyncio.get_running_loop())
        return f"3 degrees in {city}"

    def count(text: str) -> int:
        places.append(threading.get_ident())
        return len(text)

    async def main() -> Result[str]:
        result = await prompt.aio("{look} {count}", look=look, count=count)
        assert places[0] is asyncio.get_running_loop()
        assert places[1] != threading.get_ident()
        return result

    result = asyncio.run(main())
    assert [call.result for call in result.tool_calls] == ["3 degrees in Oslo", "3"]


def test_what_an_async_tool_raises_is_told_to_the_model(scripted: Script) -> None:
    model = scripted(tool_request("look", city="Oslo"), "unknown")

    async def look(city: str) -> str:
        raise ValueError(f"no {city}")

    assert asyncio.run(prompt.aio("{look}", look=look)).value == "unknown"
    assert model.requests[-1].messages[-1]["content"] == "error: ValueError: no Oslo"


def test_prompts_inside_of_tools(scripted: Script) -> None:
    scripted(tool_request("ask"), "inner", tool_request("block"), "blocked", "outer")

    async def ask() -> str:
        return (await prompt.aio("deep")).value

    def block() -> str:
        return prompt("deep").value

    result = asyncio.run(prompt.aio("{ask} {block}", ask=ask, block=block))
    assert [call.result for call in result.tool_calls] == ["inner", "blocked"]


def test_a_provider_of_ones_own_answers_in_a_thread() -> None:
    answered_in: list[int] = []

    class Own:
        def complete(self, request: Request) -> Reply:
            answered_in.append(threading.get_ident())
            return Reply("own")

        def stream(self, request: Request) -> Iterator[str]:
            answered_in.append(threading.get_ident())
            return iter(("o", "wn"))

    configure(provider=Own())

    async def main() -> None:
        assert (await prompt.aio("?")).value == "own"
        assert [piece async for piece in prompt.aio("?", stream=True).pieces()] == ["o", "wn"]
        assert threading.get_ident() not in answered_in

    asyncio.run(main())
    assert len(answered_in) == 2


def test_in_thread_has_async_functions_run_in_the_loop(scripted: Script) -> None:
    scripted("3", "1", "2")

    async def rank(name: str) -> int:
        return (await prompt.aio("rank {name}", name=name, returns=int)).value

    async def main() -> list[str]:
        return await in_thread(sorted, ["a", "b", "c"], key=rank)

    assert asyncio.run(main()) == ["b", "c", "a"]


def test_in_thread_raises_what_the_function_raises() -> None:
    async def fails(item: int) -> int:
        raise ZeroDivisionError(item)

    async def main() -> None:
        with pytest.raises(ZeroDivisionError, match="7"):
            await in_thread(sorted, [7], key=fails)
        with pytest.raises(KeyboardInterrupt):
            await in_thread(_interrupted)

    asyncio.run(main())


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_programs_call_async_functions(scripted: Script) -> None:
    scripted('{"add": {"a": {"twice": 2}, "b": 3}}', '{"twice": 4}')

    async def twice(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    def add(a: int, b: int) -> int:
        return a + b

    async def main() -> None:
        result = await program.aio("{twice} {add}", twice=twice, add=add, returns=int)
        assert result.value == 7
        assert [call.tool for call in result.tool_calls] == ["twice", "add"]
        plan = (await program.aio("{twice}", twice=twice, returns=Plan)).value
        assert await in_thread(run, plan) == 8

    asyncio.run(main())


# Pieces


def test_pieces_come_one_by_one(server: FakeServer) -> None:
    taken = threading.Semaphore(0)

    def parts() -> Iterator[bytes]:
        for piece in "one", " two", " three":
            yield chunk({"content": piece})
            assert taken.acquire(timeout=20)
        yield from ending()

    async def main() -> list[str]:
        given: list[str] = []
        async for piece in prompt.aio("count", stream=True).pieces():
            given.append(piece)
            taken.release()
        return given

    server.answers = [events(parts())]
    assert asyncio.run(main()) == ["one", " two", " three"]


def test_a_stream_may_be_awaited_whole(server: FakeServer) -> None:
    server.answers = [streamed("a", "b")]
    result = asyncio.run(whole("?"))
    assert (result.value, result.usage.output_tokens) == ("ab", 7)


def test_elements_come_one_by_one(server: FakeServer) -> None:
    rows = [{"name": "a", "price": 1.5}, {"name": "b", "price": 2}]
    text = json.dumps(rows)
    server.answers = [streamed(*text)]

    async def main() -> list[Row]:
        return [row async for row in prompt.aio("?", returns=list[Row], stream=True).items()]

    assert asyncio.run(main()) == [Row("a", 1.5), Row("b", 2)]


def test_to_leave_a_stream_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([chunk({"content": "one"}), chunk({"content": "two"}), LEFT])]

    async def main() -> None:
        async for piece in prompt.aio("?", stream=True).pieces():
            assert piece == "one"
            break

    asyncio.run(main())
    assert server.was_left.wait(20)


def test_what_is_thrown_into_a_stream_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([chunk({"content": "one"}), LEFT])]

    async def main() -> None:
        pieces = prompt.aio("?", stream=True).pieces()
        await anext(pieces)
        with pytest.raises(ZeroDivisionError):
            await pieces.athrow(ZeroDivisionError)
        assert current_meter().in_flight == 0
        assert await in_thread(server.was_left.wait, 20)

    asyncio.run(main())


def test_a_broken_stream_is_an_error_with_the_text(server: FakeServer) -> None:
    server.answers = [events([chunk({"content": "Once "}), chunk({"content": "upon"})])]
    with pytest.raises(ProviderError, match="9 characters of the reply had come") as caught:
        asyncio.run(whole("?"))
    assert caught.value.text == "Once upon"
    assert len(server.requests) == 1


def test_parts_come_once_and_later_all_at_once_and_are_of_their_kind(scripted: Script) -> None:
    scripted("text", "[1, 2]", "[3]")

    async def main() -> None:
        asked: Any = prompt.aio("?", stream=True)
        with pytest.raises(CheckError, match="`items` are of a list"):
            asked.items()
        assert (await asked).value == "text"
        assert [piece async for piece in asked.pieces()] == ["text"]
        numbers = prompt.aio("?", returns=list[int], stream=True)
        assert [item async for item in numbers.items()] == [1, 2]
        assert [item async for item in numbers.items()] == [1, 2]
        assert [draft async for draft in numbers.drafts()] == [[1, 2]]
        begun = prompt.aio("?", returns=list[int], stream=True)
        begun.items()
        with pytest.raises(CheckError, match="not complete"):
            begun.items()
        with pytest.raises(CheckError, match="was sent already"):
            await begun
        with pytest.raises(CheckError, match="`pieces` are of text"):
            prompt.aio("?", returns=int, stream=True).pieces()  # type: ignore[misc]

    asyncio.run(main())


def test_drafts_come_in_a_loop(server: FakeServer) -> None:
    server.answers = [streamed('{"a": [1, 2', '], "b": 3', "}"), streamed("a ", "fox")]

    async def main() -> None:
        asked = prompt.aio("?", returns=dict[str, Any], stream=True)
        drafts = [draft async for draft in asked.drafts()]
        assert drafts == [{}, {"a": [1, 2]}, {"a": [1, 2], "b": 3}]
        assert asked.value == drafts[-1]
        assert [one async for one in prompt.aio("?", stream=True).drafts()] == ["a ", "a fox"]

    asyncio.run(main())


# Budgets, journals, recordings


def test_a_budget_ends_the_run(server: FakeServer) -> None:
    server.responder = echo
    configure(budget_requests=2)

    async def main() -> None:
        await prompt.aio("one")
        await prompt.aio("two")
        with pytest.raises(BudgetSpent):
            await prompt.aio("three")

    asyncio.run(main())
    assert len(server.requests) == 2


def test_a_journal_keeps_replies_and_calls(server: FakeServer, tmp_path: Path) -> None:
    made: list[str] = []
    record = made.append  # compiled tools change no value that they close over

    async def look(city: str) -> str:
        record(city)
        return f"3 degrees in {city}"

    async def main() -> list[str]:
        with journaled("run.journal"):
            first = await prompt.aio("{look}", look=look)
            others = await asyncio.gather(*(prompt.aio("{0}", n) for n in range(20)))
            return [first.value, *(one.value for one in others)]

    def respond(body: dict[str, Any]) -> Answer:
        is_first = "look" in body["messages"][0]["content"] and len(body["messages"]) == 1
        return calling(("look", {"city": "Oslo"})) if is_first else echo(body)

    server.responder = respond
    first = asyncio.run(main())
    assert made == ["Oslo"] and len(server.requests) == 22
    assert asyncio.run(main()) == first
    assert made == ["Oslo"] and len(server.requests) == 22
    assert first[1:] == [str(n) for n in range(20)]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_exchanges_are_recorded_and_replayed(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, is_streamed: bool
) -> None:
    server.answers = [streamed("a", "b") if is_streamed else completion("ab")]

    async def main() -> str:
        if is_streamed:
            return "".join([one async for one in prompt.aio("?", stream=True).pieces()])
        return (await prompt.aio("?")).value

    monkeypatch.setenv("SAFT_RECORD", "run.jsonl")
    assert asyncio.run(main()) == "ab"
    close("run.jsonl")
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", "run.jsonl")
    assert asyncio.run(main()) == "ab"
    assert len(server.requests) == 1


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_embedded_model_answers_and_streams() -> None:
    configure(provider="local", max_tokens=24, on_truncated="accept")

    async def main() -> None:
        assert (await prompt.aio("Is the sky blue?", returns=bool)).usage.requests == 1
        pieces = [one async for one in prompt.aio("Count to five.", stream=True).pieces()]
        assert len(pieces) > 2

    asyncio.run(main())


def test_a_reply_that_was_cut(server: FakeServer) -> None:
    server.answers = [completion("once upon", finish="length")] * 2
    server.answers += [streamed("once ", "upon", finish="length")]

    async def main() -> None:
        with pytest.raises(TruncatedReply, match="once upon"):
            await prompt.aio("a story")
        taken = await prompt.aio("a story", options={"on_truncated": "accept"})
        assert (taken.value, taken.finish) == ("once upon", "length")
        heard: list[str] = []
        with pytest.raises(TruncatedReply):
            async for piece in prompt.aio("a story", stream=True).pieces():
                heard.append(piece)
        assert "".join(heard) == "once upon"

    asyncio.run(main())


def test_a_generator_that_is_left_frees_what_its_blocks_hold(
    server: FakeServer, tmp_path: Path
) -> None:
    """It is closed in another context than it was begun in."""
    path = str(tmp_path / "run.journal")

    async def pieces() -> AsyncGenerator[str]:
        with journal_scope("part"), configure(budget_requests=5, model="other"), journaled(path):
            async for piece in prompt.aio("a", stream=True).pieces():
                yield piece

    async def main() -> str:
        async for _ in pieces():
            break
        gc.collect()
        async with asyncio.timeout(60):
            while os.path.exists(f"{path}-lock"):
                await asyncio.sleep(0.001)
        with journaled(path):
            await prompt.aio("b")
        return (await prompt.aio("c")).value

    assert asyncio.run(main()) == "ok"
    with journaled(path):
        assert prompt("b").value == "ok"
