"""What a model said wrongly does not make the next request one that servers refuse.

The fake server refuses, at the end of each test, whatever the real ones refuse of a conversation
(`tests/support/strict_history.py`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime_support import configure, prompt
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import Answer, FakeServer
from tests.support.wires import WIRES, Say, Spoken

NAMES = ["functions.temp", "", " ", "get temp", "temp()", "grüße", "x" * 104, "None\n"]


def temp(city: str) -> str:
    """The temperature of a city."""
    return "" if city == "Nowhere" else f"3 degrees in {city}"


@pytest.fixture(params=WIRES, ids=lambda wire: wire.NAME)
def wire(request: pytest.FixtureRequest, server: FakeServer) -> Spoken:
    configure(api=request.param.NAME)
    return request.param


def says(server: FakeServer, wire: Spoken, *replies: Say | dict[str, Any]) -> None:
    """Has the server say these, whatever comes back; a document goes out as it is."""
    documents = [
        wire.document(one, number) if isinstance(one, Say) else one
        for number, one in enumerate(replies)
    ]
    rest = iter(documents)

    def answer(body: dict[str, Any]) -> Answer:
        document = next(rest)
        return wire.streamed(document) if body.get("stream") else wire.answer(document)

    server.responder = answer


def texts_of(server: FakeServer) -> str:
    return json.dumps(server.bodies[-1], ensure_ascii=False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_invented_name_is_told_and_not_sent(
    name: str, is_streamed: bool, wire: Spoken, server: FakeServer
) -> None:
    call = Say(calls=((name, {"city": "Oslo"}),))
    says(server, wire, call, Say(calls=(("temp", {"city": "Oslo"}),)), Say("done"))
    result = prompt("How warm? {temp}", temp=temp, stream=is_streamed)
    assert result.value == "done"
    assert [call.error is None for call in result.tool_calls] == [False, True]
    assert "unknown_tool" in texts_of(server) and "there is no tool" in texts_of(server)


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_an_empty_reply_is_left_out(text: str, wire: Spoken, server: FakeServer) -> None:
    says(server, wire, Say(text), Say('{"value": 3}'))
    assert prompt("How many?", returns=int).value == 3
    assert "the reply is empty" in texts_of(server)


def test_thoughts_alone_are_left_out(wire: Spoken, server: FakeServer) -> None:
    says(server, wire, Say(None), Say('{"value": 3}'))
    assert prompt("How many?", returns=int).value == 3
    thoughts = wire.opaque(wire.document(Say(None), 0))
    assert not any(one in texts_of(server) for one in thoughts)


def test_an_empty_result_of_a_tool_has_words(wire: Spoken, server: FakeServer) -> None:
    says(server, wire, Say(calls=(("temp", {"city": "Nowhere"}),)), Say("done"))
    result = prompt("How warm? {temp}", temp=temp)
    assert result.tool_calls[0].result == ""
    assert '"(empty)"' in texts_of(server)


def test_a_blank_text_before_a_call(wire: Spoken, server: FakeServer) -> None:
    says(server, wire, Say(" \n", calls=(("temp", {"city": "Oslo"}),)), Say("done"))
    assert prompt("How warm? {temp}", temp=temp).value == "done"


@pytest.mark.parametrize("arguments", ["{", "[1]", "null", '"Oslo"', "{'city': \"", "\ud800"])
def test_arguments_that_cannot_be_read(
    arguments: str, wire: Spoken, server: FakeServer
) -> None:
    document = wire.document(Say(calls=(("temp", {"city": "Oslo"}),)), 0)
    if wire.NAME == "messages":
        document["content"][-1]["input"] = arguments
    elif wire.NAME == "responses":
        document["output"][-1]["arguments"] = arguments
    else:
        document["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = arguments
    says(server, wire, document, Say(calls=(("temp", {"city": "Oslo"}),)), Say("done"))
    result = prompt("How warm? {temp}", temp=temp)
    assert [call.error is None for call in result.tool_calls] == [False, True]


def test_what_was_said_elsewhere_is_sent_to_any_wire(wire: Spoken, server: FakeServer) -> None:
    """Also of a journal, of a recording, and of data: what comes back passes the same place."""
    configure(provider=Scripted([tool_request("get temp", city="Nowhere"), "", "done"]))
    earlier = prompt("How warm? {temp}", temp=temp, options={"max_repairs": 2}, returns=str)
    kept = json.loads(json.dumps(earlier.messages))
    configure(provider="openai")
    says(server, wire, Say("well"), Say("yes"))
    assert prompt("And now?", after=earlier).value == "well"
    assert prompt("And now?", after=kept).value == "yes"
