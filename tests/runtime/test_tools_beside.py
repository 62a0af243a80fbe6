"""Calls of tools in one reply: at the same time where they may be, answered in their order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ProviderError, add_observer, configure, ops, prompt
from runtime_support._journal.hook import journaled
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer, calling, completion

Script = Callable[..., Scripted]
SECONDS = 60  # only a test that fails waits as long


def wanted(name: str, *numbers: int) -> list[Any]:
    return [tool_request(name, n=number) for number in numbers]


class Meeting:
    """Three calls that end only when all of them run."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(3)

    def meet(self, n: int) -> int:
        self.barrier.wait(SECONDS)
        return 10 * n


def results(result: Any) -> list[Any]:
    return [call.result or call.error for call in result.tool_calls]


def test_pure_tools_run_at_the_same_time(scripted: Script) -> None:
    scripted(wanted("meet", 1, 2, 3), "done")
    meet = Meeting().meet
    result = prompt("?", tools=[meet], pure=[meet])
    assert results(result) == ["10", "20", "30"]
    assert [one["content"] for one in result.messages[2:5]] == ["10", "20", "30"]


def test_they_are_known_as_pure_for_the_whole_conversation(scripted: Script) -> None:
    scripted("a", wanted("meet", 1, 2, 3), "done")
    meet = Meeting().meet
    first = prompt("?", tools=[meet], pure=[meet])
    assert results(prompt("?", after=first, tools=first.tools)) == ["10", "20", "30"]


def test_pure_tools_run_at_the_same_time_in_an_event_loop(scripted: Script) -> None:
    scripted(wanted("meet", 1, 2, 3), "done")
    meet = Meeting().meet
    result = asyncio.run(prompt.aio("?", tools=[meet], pure=[meet]))
    assert results(result) == ["10", "20", "30"]


def test_coroutines_run_at_the_same_time_in_an_event_loop(scripted: Script) -> None:
    scripted(wanted("meet", 1, 2, 3), wanted("meet", 4, 5, 6), "done")

    async def run() -> Any:
        barrier = asyncio.Barrier(3)

        async def meet(n: int) -> int:
            async with asyncio.timeout(SECONDS):
                await barrier.wait()
            return 10 * n

        return await prompt.aio("?", tools=[meet])

    assert results(asyncio.run(run())) == ["10", "20", "30", "40", "50", "60"]


def test_others_run_one_after_the_other(scripted: Script) -> None:
    scripted([*wanted("look", 1, 2), *wanted("book", 3, 4), *wanted("look", 5)], "done")
    running: list[int] = []
    most: dict[str, int] = {}

    def note(name: str, n: int) -> int:
        running.append(n)
        most[name] = max(most.get(name, 0), len(running))
        running.remove(n)
        return n

    def look(n: int) -> int:
        return note("look", n)

    def book(n: int) -> int:
        assert not running
        return note("book", n)

    result = prompt("?", tools=[look, book], pure=[look])
    assert results(result) == ["1", "2", "3", "4", "5"]
    assert most["book"] == 1


@pytest.mark.parametrize("pure", [None, []])
def test_in_a_thread_nothing_runs_at_the_same_time_unasked(scripted: Script, pure: Any) -> None:
    scripted(wanted("alone", 1, 2, 3), "done")
    busy = threading.Lock()

    def alone(n: int) -> int:
        assert busy.acquire(blocking=False)
        busy.release()
        return threading.get_ident()

    result = prompt("?", tools=[alone], pure=pure)
    assert results(result) == [str(threading.get_ident())] * 3


def test_coroutines_that_are_not_named_keep_their_order(scripted: Script) -> None:
    scripted(wanted("first", 1, 2, 3), "done")
    order: list[str] = []

    async def first(n: int) -> int:
        order.append(f"begin {n}")
        await asyncio.sleep(0)
        order.append(f"end {n}")
        return n

    asyncio.run(prompt.aio("?", tools=[first], pure=[]))
    assert order == [f"{what} {n}" for n in (1, 2, 3) for what in ("begin", "end")]


def test_one_in_flight_is_one_after_the_other(scripted: Script) -> None:
    scripted(wanted("here", 1, 2), "done")

    def here(n: int) -> int:
        return threading.get_ident()

    with configure(max_in_flight=1):
        assert results(prompt("?", tools=[here], pure=[here])) == [str(threading.get_ident())] * 2


def test_no_more_run_than_may_be_in_flight(scripted: Script) -> None:
    scripted(wanted("count", *range(8)), "done")
    lock, running, most = threading.Lock(), 0, 0
    two = threading.Barrier(2)

    def count(n: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        two.wait(SECONDS)
        with lock:
            running -= 1
        return n

    with configure(max_in_flight=2):
        prompt("?", tools=[count], pure=[count])
    assert most == 2


def test_a_failure_of_one_is_told_and_the_others_go_on(scripted: Script) -> None:
    scripted(wanted("half", 1, 0, 2), "done")

    def half(n: int) -> float:
        return 2 / n

    assert results(prompt("?", tools=[half], pure=[half])) == [
        "2.0", "ZeroDivisionError: division by zero", "1.0",
    ]  # fmt: skip


def test_what_stops_the_script_is_raised_when_all_have_ended(scripted: Script) -> None:
    scripted(wanted("ask", 1, 2, 3), "done")
    ended: list[int] = []

    def ask(n: int) -> int:
        if n == 2:
            raise ProviderError("gone")
        ended.append(n)
        return n

    with pytest.raises(ProviderError, match="gone") as caught:
        prompt("?", tools=[ask], pure=[ask])
    assert sorted(ended) == [1, 3]
    assert [call.result for call in caught.value.tool_calls] == ["1"]


def test_prompts_in_them_are_answered_in_order_where_answers_come_in_order(
    scripted: Script,
) -> None:
    model = scripted(wanted("ask", 1, 2, 3), "one", "two", "three", "done")

    def ask(n: int) -> str:
        return prompt("ask {n}", n=n).value

    assert results(prompt("?", tools=[ask], pure=[ask])) == ["one", "two", "three"]
    asked = [one.messages[-1]["content"] for one in model.requests[1:4]]
    assert asked == ["ask 1", "ask 2", "ask 3"]


def test_prompts_in_coroutines_are_answered_in_order_as_well(scripted: Script) -> None:
    scripted(wanted("ask", 1, 2, 3), "one", "two", "three", "done")

    async def ask(n: int) -> str:
        return (await prompt.aio("ask {n}", n=n)).value

    result = asyncio.run(prompt.aio("?", tools=[ask]))
    assert results(result) == ["one", "two", "three"]


def test_a_journal_knows_them_by_their_order(server: FakeServer, tmp_path: Path) -> None:
    path = str(tmp_path / "run.journal")
    calls = [("meet", {"n": n}) for n in (1, 2, 3)]
    server.answers = [calling(*calls), completion("done")]
    meet = Meeting().meet
    with journaled(path):
        first = prompt("?", tools=[meet], pure=[meet])
    assert len(server.requests) == 2

    def never(n: int) -> int:
        raise AssertionError

    with journaled(path):
        again = prompt("?", tools=[("meet", never)], pure=[never])
    assert results(again) == results(first) == ["10", "20", "30"]
    assert len(server.requests) == 2


def test_a_run_that_broke_off_goes_on_with_what_has_ended(
    server: FakeServer, tmp_path: Path
) -> None:
    path = str(tmp_path / "run.journal")
    server.answers = [calling(*[("ask", {"n": n}) for n in (1, 2, 3)]), completion("done")]
    made: list[int] = []

    def ask(n: int) -> int:
        made.append(n)
        if n == 2 and made.count(2) == 1:
            raise KeyboardInterrupt
        return n

    with journaled(path), pytest.raises(KeyboardInterrupt):
        prompt("?", tools=[ask], pure=[ask])
    with journaled(path):
        result = prompt("?", tools=[ask], pure=[ask])
    assert results(result) == ["1", "2", "3"]
    assert sorted(made) == [1, 2, 2, 3]


def test_a_task_that_is_cancelled_ends_them(scripted: Script) -> None:
    scripted(wanted("wait", 1, 2, 3), "done")
    ended: list[int] = []

    async def run() -> None:
        begun = asyncio.Barrier(4)

        async def wait(n: int) -> int:
            try:
                await begun.wait()
                await asyncio.Event().wait()
                return n
            finally:
                ended.append(n)

        task = asyncio.create_task(prompt.aio("?", tools=[wait]))
        async with asyncio.timeout(SECONDS):
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(ended) == [1, 2, 3]

    asyncio.run(run())


def test_observers_are_told_in_order(scripted: Script) -> None:
    scripted(wanted("meet", 1, 2, 3), "done")
    told: list[Any] = []
    meet = Meeting().meet
    remove = add_observer(lambda event: told.append((event["event"], event.get("result"))))
    try:
        prompt("?", tools=[meet], pure=[meet])
    finally:
        remove()
    assert [one for one in told if one[0] == "tool"] == [
        ("tool", "10"), ("tool", "20"), ("tool", "30"),
    ]  # fmt: skip


def test_a_plain_prompt_in_an_event_loop_makes_them_one_after_the_other(scripted: Script) -> None:
    scripted(wanted("here", 1, 2), "done")

    def here(n: int) -> int:
        return threading.get_ident()

    async def run() -> Any:
        return prompt("?", tools=[here], pure=[here])

    assert results(asyncio.run(run())) == [str(threading.get_ident())] * 2


def test_coroutines_write_and_read_files_when_they_do_and_run_once(scripted: Script) -> None:
    scripted(wanted("work", 1, 2), "done")
    made: list[int] = []
    ops.write_text("notes.txt", "old")

    async def run() -> Any:
        has_read, has_written = asyncio.Event(), asyncio.Event()

        async def work(n: int) -> str:
            made.append(n)
            async with asyncio.timeout(SECONDS):
                if n == 1:
                    await has_read.wait()
                    ops.write_text("notes.txt", "one")
                    await has_written.wait()
                    return str(ops.read_text("notes.txt"))
                found = str(ops.read_text("notes.txt"))
                has_read.set()
                while ops.read_text("notes.txt") == "old":
                    await asyncio.sleep(0)
                ops.write_text("notes.txt", "two")
                has_written.set()
                return found

        return await prompt.aio("?", tools=[work])

    assert results(asyncio.run(run())) == ["two", "old"]
    assert made == [1, 2]
