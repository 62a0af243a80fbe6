"""`reply.events()`: the text and the calls of a reply as they happen, in a thread and in a loop."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    AsyncResult,
    CheckError,
    ProviderError,
    Reply,
    ReplyEnded,
    ReplyEvent,
    Result,
    TextPiece,
    ToolEnded,
    ToolStarted,
    configure,
    prompt,
)
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request

CALLS = [("find_order", {"order": "A-17"}), ("find_order", {"order": "B-1"})]
LOOKED_UP = [
    Reply("Let me look.", tool_calls=tuple(tool_request(name, **args) for name, args in CALLS)),
    "It was sent.",
]
TOLD = [
    ("text", "Let me look.\n\n"),
    ("started", 1, {"order": "A-17"}),
    ("ended", 1, "sent on Monday", None),
    ("started", 2, {"order": "B-1"}),
    ("ended", 2, None, "LookupError: no order B-1"),
    ("text", "It was sent."),
    ("done", "stop"),
]
BESIDE = [TOLD[0], TOLD[1], TOLD[3], TOLD[2], *TOLD[4:]]


def find_order(order: str) -> str:
    """What has become of an order."""
    if order != "A-17":
        raise LookupError(f"no order {order}")
    return "sent on Monday"


def told(event: ReplyEvent) -> tuple[Any, ...]:
    match event:
        case TextPiece(text=text):
            return "text", text
        case ToolStarted(number=number, tool="find_order", args=args):
            return "started", number, args
        case ToolEnded(number=number, tool="find_order", result=result, error=error):
            return "ended", number, result, error
        case ReplyEnded(finish=finish):
            return "done", finish
        case _:
            raise AssertionError(event)


def joined(events: list[ReplyEvent]) -> list[tuple[Any, ...]]:
    """What was told, with the pieces of a text as one."""
    found = list[tuple[Any, ...]]()
    for one in map(told, events):
        if found and found[-1][0] == one[0] == "text":
            one = ("text", found.pop()[1] + one[1])
        found.append(one)
    return found


def asked(model: Scripted, pure: tuple[Any, ...] = ()) -> Result[str]:
    with configure(provider=model):
        return prompt("Where are they?", tools=[find_order], stream=True, pure=pure)


def events_in_loop(model: Scripted, **more: Any) -> list[ReplyEvent]:
    async def read() -> list[ReplyEvent]:
        with configure(provider=model):
            reply = prompt.aio("Where are they?", tools=[find_order], stream=True, **more)
        events: AsyncIterator[ReplyEvent] = reply.events()
        return [event async for event in events]

    return asyncio.run(read())


def test_text_and_calls_come_in_their_order() -> None:
    assert joined(list(asked(Scripted(LOOKED_UP)).events())) == TOLD


def test_an_event_loop_gets_the_same() -> None:
    assert joined(events_in_loop(Scripted(LOOKED_UP))) == TOLD


@pytest.mark.parametrize("in_loop", [False, True])
def test_calls_at_the_same_time_start_together_and_end_in_order(in_loop: bool) -> None:
    model = Scripted(LOOKED_UP)
    if in_loop:
        events = events_in_loop(model, pure=[find_order])
    else:
        events = list(asked(model, pure=(find_order,)).events())
    assert joined(events) == BESIDE


def test_a_call_starts_when_it_has_been_told() -> None:
    seen = list[str]()

    def look(order: str) -> str:
        seen.append(order)
        return "found"

    model = Scripted([Reply("", tool_calls=(tool_request("look", order="A"),)), "Yes."])
    with configure(provider=model):
        events = prompt("Is it there?", tools=[look], stream=True).events()
        assert isinstance(next(events), ToolStarted)
        assert (seen, len(model.requests)) == ([], 1)
        assert isinstance(next(events), ToolEnded)
        assert (seen, len(model.requests)) == (["A"], 1)
        assert [told(one)[0] for one in events] == ["text", "done"]


@pytest.mark.parametrize("pure", [(), (find_order,)])
@pytest.mark.parametrize("left_at", [ToolStarted, ToolEnded])
def test_who_leaves_ends_the_reply(left_at: type, pure: tuple[Any, ...]) -> None:
    model = Scripted(LOOKED_UP)
    reply = asked(model, pure=pure)
    events = reply.events()
    assert any(isinstance(event, left_at) for event in events)
    events.close()  # type: ignore[attr-defined]
    assert len(model.requests) == 1
    with pytest.raises(CheckError, match="the reply is not complete"):
        _ = reply.messages


def test_a_task_that_leaves_ends_the_reply() -> None:
    model = Scripted(LOOKED_UP)

    async def read() -> AsyncResult[str]:
        with configure(provider=model):
            reply = prompt.aio("Where?", tools=[find_order], pure=[find_order], stream=True)
        events: Any = reply.events()
        async for event in events:
            if isinstance(event, ToolEnded):
                break
        await events.aclose()
        return reply

    reply = asyncio.run(read())
    assert len(model.requests) == 1
    with pytest.raises(CheckError, match="the reply is not complete"):
        _ = reply.messages


def test_the_reply_is_whole_at_its_end() -> None:
    reply = asked(Scripted(LOOKED_UP))
    for event in reply.events():
        if isinstance(event, ReplyEnded):
            assert [one["role"] for one in reply.messages][-1] == "assistant"
            break
    assert reply.value == "It was sent."


def test_a_reply_that_was_read_tells_all_at_once() -> None:
    reply = asked(Scripted(LOOKED_UP))
    assert reply.value == "It was sent."
    assert joined(list(reply.events())) == TOLD[1:]
    with configure(provider=Scripted(LOOKED_UP)):
        whole = prompt("Where are they?", tools=[find_order])
    assert joined(list(whole.events())) == TOLD[1:]

    async def read() -> AsyncIterator[ReplyEvent]:
        with configure(provider=Scripted(LOOKED_UP)):
            there = prompt.aio("Where are they?", tools=[find_order], stream=True)
            await there
            return there.events()

    async def read_all() -> list[ReplyEvent]:
        return [event async for event in await read()]

    assert joined(asyncio.run(read_all())) == TOLD[1:]


def test_a_value_that_is_no_text_has_calls_alone() -> None:
    model = Scripted([LOOKED_UP[0], "[1, 2]"])
    with configure(provider=model):
        reply = prompt("Which?", returns=list[int], tools=[find_order], stream=True)
    assert [told(event)[0] for event in reply.events()] == [
        *("started", "ended", "started", "ended", "done"),
    ]
    assert reply.value == [1, 2]


def test_a_failure_is_raised_where_it_happens() -> None:
    reply = asked(Scripted([LOOKED_UP[0], ProviderError("the server has gone")]))
    events = list[ReplyEvent]()
    with pytest.raises(ProviderError, match="the server has gone"):
        events.extend(reply.events())
    assert joined(events) == TOLD[:5]


def test_a_resumed_run_tells_the_same(tmp_path: Path) -> None:
    def run(model: Scripted) -> list[tuple[Any, ...]]:
        with configure(provider=model), journaled(tmp_path / "chat.journal"):
            reply = prompt("Where are they?", tools=[find_order], stream=True)
            return list(map(told, reply.events()))

    first, resumed = run(Scripted(LOOKED_UP)), run(Scripted([]))
    assert first == resumed
    assert first[-1] == ("done", "stop")


def test_a_recorded_run_tells_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, replayed = tmp_path / "recorded.jsonl", tmp_path / "replayed.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(recorded))
    first = joined(list(asked(Scripted(LOOKED_UP)).events()))
    monkeypatch.delenv("SAFT_RECORD")
    shutil.copy(recorded, replayed)
    monkeypatch.setenv("SAFT_REPLAY", str(replayed))
    assert joined(list(asked(Scripted([])).events())) == first == TOLD


def test_events_are_written_for_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden-from-browsers-1234567890")

    def show_key() -> str:
        return "the key is sk-hidden-from-browsers-1234567890"

    model = Scripted([Reply("", tool_calls=(tool_request("show_key"),)), "One.\n\nTwo."])
    with configure(provider=model):
        reply = prompt("Say it.", tools=[show_key], stream=True)
    texts = [event.sse() for event in reply.events()]
    assert all(text.endswith("\n\n") and text.count("\n") == 3 for text in texts)
    read = [text.split("\n") for text in texts]
    kinds = [kind.removeprefix("event: ") for kind, *_ in read]
    assert kinds == ["tool_started", "tool_ended", "text", "done"]
    data = [json.loads(line.removeprefix("data: ")) for _, line, *_ in read]
    assert data[0] == {"number": 1, "tool": "show_key", "args": {}}
    assert data[1]["result"] == "the key is [redacted]"
    assert data[2] == {"text": "One.\n\nTwo."}
