"""What a listener of one's own hears of prompts, requests and calls, and when."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runtime_support import ProviderError, add_listener, program, prompt
from runtime_support.events import (
    CallEnded,
    CallStarted,
    ChunkReceived,
    PromptEnded,
    PromptEvent,
    PromptStarted,
    ReplyReceived,
    RequestSent,
)
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer, completion, status, streamed

Script = Callable[..., Scripted]


@pytest.fixture
def heard() -> Iterator[list[Any]]:
    found: list[Any] = []
    remove = add_listener(found.append)
    yield found
    remove()


def of(heard: list[Any], *kinds: type[PromptEvent]) -> list[Any]:
    return [one for one in heard if isinstance(one, kinds)]


def test_calls_beside_each_other_have_their_own_times(
    scripted: Script, heard: list[Any]
) -> None:
    """By the clock of the tools themselves: both have begun before one has ended."""
    meeting, ran = threading.Barrier(2, timeout=60), dict[str, tuple[float, float]]()

    def look(place: str) -> str:
        began = time.time()
        meeting.wait()
        ran[place] = began, time.time()
        return place

    scripted((tool_request("look", place="a"), tool_request("look", place="b")), "done")
    assert prompt("{look}", look=look, pure=[look]).value == "done"
    ended = {one.result.result: one for one in of(heard, CallEnded)}
    for place, (began, end) in ran.items():
        event = ended[place]
        assert event.began <= began
        assert end - began <= event.seconds + 0.001  # it is rounded
    first, second = ended.values()
    assert max(first.began, second.began) < min(one.began + one.seconds for one in (first, second))


def test_functions_of_a_program_are_calls_of_its_prompt(
    scripted: Script, heard: list[Any]
) -> None:
    def near(city: str) -> str:
        return prompt("near {city}", city=city).value

    scripted('{"near": "Oslo"}', "Bergen")
    assert program("{near}", near=near).value == "Bergen"
    outer, inner = of(heard, PromptStarted)
    (call,), (ended,) = of(heard, CallStarted), of(heard, CallEnded)
    assert (call.parent, inner.parent, ended.id) == (outer.id, call.id, call.id)
    assert (call.call.name, call.call.sent) == ("near", '{"city":"Oslo"}')
    assert ended.result.result == "Bergen"


def test_what_fails_says_why(server: FakeServer, heard: list[Any]) -> None:
    server.answers = [status(400)]
    with pytest.raises(ProviderError) as caught:
        prompt("?")
    assert [type(one) for one in heard] == [PromptStarted, RequestSent, ReplyReceived, PromptEnded]
    assert heard[2].error is heard[3].error is caught.value


def test_tries_are_one_request(server: FakeServer, heard: list[Any]) -> None:
    server.answers = [status(500), completion("ok")]
    assert prompt("?").value == "ok"
    assert len(server.requests) == 2
    assert (len(of(heard, RequestSent)), len(of(heard, ReplyReceived))) == (1, 1)


def test_pieces_come_between_the_request_and_its_reply(
    server: FakeServer, heard: list[Any]
) -> None:
    server.answers = [streamed("one ", "two")]

    async def main() -> None:
        async for _ in prompt.aio("?", stream=True).pieces():
            assert not of(heard, ReplyReceived)

    asyncio.run(main())
    assert [one.text for one in of(heard, ChunkReceived)] == ["one ", "two"]
    assert [type(one) for one in heard][-2:] == [ReplyReceived, PromptEnded]


def test_one_that_fails_costs_no_answer(
    scripted: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(event: Any) -> None:
        raise ValueError(f"never again {type(event).__name__}")

    remove = add_listener(broken)
    scripted("a", "b", "c")
    assert (prompt("?").value, prompt("?").value) == ("a", "b")
    remove()
    assert prompt("?").value == "c"
    assert capsys.readouterr().err.count("never again PromptStarted") == 1


def test_one_that_was_removed_hears_no_more(scripted: Script) -> None:
    found: list[Any] = []
    keep, remove = add_listener(found.append), add_listener(found.append)
    scripted("a", "b", "c")
    prompt("?")
    remove()
    prompt("?")
    keep()
    prompt("?")
    assert len(of(found, PromptEnded)) == 3
