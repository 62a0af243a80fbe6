"""Prompts that go on with a conversation: what is sent before them, by whom, and for how long."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    CheckError,
    Result,
    Usage,
    add_observer,
    configure,
    image,
    program,
    prompt,
)
from runtime_support._core.messages import Message, Reply, ReplyStream, Request
from runtime_support._core.question import Question, prepare
from runtime_support._core.tasks.waits import finish
from runtime_support._local.written_tools import with_written_tools
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer, completion

Script = Callable[..., Scripted]
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


def double(number: int) -> int:
    return 2 * number


def said(messages: tuple[Message, ...]) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in messages]


def test_the_whole_conversation_goes_before(scripted: Script) -> None:
    model = scripted(tool_request("double", number=4), "eight", "8", "sixteen")
    first = prompt("twice 4, with {double}", double=double, returns=int)
    assert prompt("And twice that?", after=first).value == "sixteen"
    contract = "\n\nReply with JSON only, no other text, of this form: int"
    opening, calls, result, refused, again, accepted, last = model.requests[-1].messages
    assert said((opening,)) == [("user", "twice 4, with double" + contract)]
    assert calls["tool_calls"][0]["function"]["name"] == "double"
    assert result["content"] == "8" and refused["content"] == "eight"
    assert again["role"] == "user" and "no JSON" in again["content"]
    assert said((accepted, last)) == [("assistant", "8"), ("user", "And twice that?")]
    assert model.requests[-1].tools == () and model.requests[-1].schema is None


def test_branches_and_a_chain(scripted: Script) -> None:
    model = scripted(*"abcdefg")
    first = prompt("0")
    one, other = prompt("1", after=first), prompt("2", after=first)
    assert said(one.messages) == [
        ("user", "0"), ("assistant", "a"), ("user", "1"), ("assistant", "b"),
    ]  # fmt: skip
    assert [text for _, text in said(other.messages)] == ["0", "a", "2", "c"]
    last = one
    for number in range(4):
        last = prompt("{0}", number, after=last)
    assert len(model.requests[-1].messages) == 11
    assert last.usage == Usage(requests=1) and last.text == "g"
    assert len(one.messages) == 4


def test_each_call_of_a_conversation_has_an_identity_of_its_own(scripted: Script) -> None:
    model = scripted(
        [tool_request("double", number=1), tool_request("double", number=2)],
        "done",
        tool_request("double", number=3),
        "done",
    )
    first = prompt("{double}", double=double)
    prompt("again {double}", double=double, after=first)
    calls = [one for m in model.requests[-1].messages for one in m.get("tool_calls", ())]
    assert [one["id"] for one in calls] == ["call00001", "call00002", "call00003"]


def test_limits_and_rounds_are_the_prompts_own(scripted: Script) -> None:
    scripted(tool_request("double", number=1), "done", tool_request("double", number=3), "done")
    options = {"max_tool_calls": 1, "max_tool_rounds": 1}
    first = prompt("{double}", double=double, options=options)
    second = prompt("again {double}", double=double, rounds=1, options=options, after=first)
    assert [call.args for call in second.tool_calls] == [{"number": 3}]


def test_after_fields_handed_in_and_after_one_of_them(scripted: Script) -> None:
    handing_in = [
        tool_request("__saft_return_name", value="Ada"),
        tool_request("__saft_return_age", value=36),
    ]
    model = scripted(handing_in, "Yes.", "No.")
    both = prompt("a user", fields={"name": str, "age": int})
    prompt("Is she old?", after=both.fields[1])
    assert [role for role, _ in said(model.requests[-1].messages)] == [
        "user", "assistant", "tool", "tool", "user",
    ]  # fmt: skip
    prompt("Is she young?", after=both)
    assert model.requests[-1].messages[:4] == model.requests[-2].messages[:4]


def test_programs_go_on_and_are_gone_on_with(scripted: Script) -> None:
    model = scripted("four?", '{"double": {"number": 4}}', "Eight it was.")
    first = prompt("a number")
    value = program("twice that, with {double}", double=double, returns=int, after=first)
    assert value.value == 8
    assert said(model.requests[1].messages)[:2] == [("user", "a number"), ("assistant", "four?")]
    prompt("What was it?", after=value)
    assert said(model.requests[2].messages)[-2:] == [
        ("assistant", '{"double": {"number": 4}}'),
        ("user", "What was it?"),
    ]


@pytest.mark.parametrize(
    ("earlier", "own", "sent"),
    [
        ({"system": "Be brief."}, {}, ["Be brief."]),
        ({}, {"system": "Be long."}, ["Be long."]),
        ({"system": "Be brief."}, {"system": "Be long."}, ["Be long."]),
        ({"system": "Be brief."}, {"system": "Be brief."}, ["Be brief."]),
    ],
)
def test_there_is_one_system_message(
    scripted: Script, earlier: dict[str, Any], own: dict[str, Any], sent: list[str]
) -> None:
    model = scripted("a", "b")
    prompt("again", options=own, after=prompt("first", options=earlier))
    messages = said(model.requests[-1].messages)
    assert [text for role, text in messages if role == "system"] == sent
    assert messages[0][0] == "system"


def test_pictures_are_sent_again(scripted: Script, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PIXEL)
    model = scripted("a cat", "grey")
    first = prompt("What is on {0}?", image(str(tmp_path / "a.png")))
    prompt("Of what colour?", after=first)
    first_sent, then_sent = (request.messages[0]["content"] for request in model.requests)
    assert first_sent == then_sent and then_sent[1]["type"] == "image_url"


def test_a_result_travels_with_its_conversation(scripted: Script) -> None:
    model = scripted("a", "b")
    travelled: Result[str] = pickle.loads(pickle.dumps(prompt("first")))
    prompt("again", after=travelled)
    assert [text for _, text in said(model.requests[-1].messages)] == ["first", "a", "again"]


def test_a_pending_result_is_waited_for(scripted: Script) -> None:
    model = scripted("a", "b")
    done: list[int] = []

    def answer() -> Any:
        done.append(1)
        return finish(prepare(Question("first", (), {})).answer())

    pending = Result.of(answer)
    assert not done
    assert prompt("again", after=pending).value == "b"
    assert done == [1] and len(model.requests[-1].messages) == 3


@pytest.mark.parametrize("made", [None, "text", 3])
def test_what_is_no_result_is_refused(scripted: Script, made: Any) -> None:
    model = scripted()
    if made is None:
        made = Result("a", text="a", tool_calls=[], usage=Usage(), model="", repairs=[])
    with pytest.raises(CheckError, match=r"`after` takes the result|after` a result or"):
        prompt("again", after=made)
    with pytest.raises(CheckError, match=r"`after` takes the result|after` a result or"):
        program("again", after=made)
    assert not model.requests


def test_recordings_tell_conversations_apart(
    scripted: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> list[str]:
        firsts = [prompt("one"), prompt("two")]
        return [prompt("again", after=first).value for first in firsts]

    monkeypatch.setenv("SAFT_RECORD", str(tmp_path / "r.jsonl"))
    scripted("a", "b", "c", "d")
    assert ask() == ["c", "d"]
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", str((tmp_path / "r.jsonl").rename(tmp_path / "kept.jsonl")))
    again = [prompt("two"), prompt("one")]
    assert [prompt("again", after=first).value for first in again] == ["d", "c"]


def test_the_mock_answers_the_prompt_itself() -> None:
    configure(provider="mock")
    first = prompt("Add {0} and {1}.", 2, 3, returns=int)
    assert prompt("Add {0} and {1}.", 5, 6, returns=int, after=first).value == 11
    third = prompt("Use {double} for {n}", double=double, n=21, returns=int, after=first)
    assert third.value == 42
    assert prompt("Add {0} and {1}.", 1, 1, returns=int, after=third).value == 2


def test_calls_that_are_written_stand_below_their_own_question() -> None:
    written = [json.dumps({"tool": "double", "arguments": {"number": n}}) for n in (4, 5)]
    replies = [written[0], '{"answer": "Eight."}', written[1], '{"answer": "Ten."}', "Both."]
    asked: list[Request] = []

    class Small:
        def complete(self, request: Request) -> Reply:
            return finish(with_written_tools(request, self._reply_to))

        def _reply_to(self, request: Request) -> ReplyStream:
            yield from ()
            asked.append(request)
            return Reply(replies.pop(0))

    configure(provider=Small())
    first = prompt("Double 4 with {double}.", double=double)
    second = prompt("And 5, with {double}.", double=double, after=first)
    assert second.value == "Ten." and [c.args for c in second.tool_calls] == [{"number": 5}]
    gave = 'The tools gave:\n- double({"number": 4}): 8'
    opening, answer, own = asked[3].messages
    assert opening["content"] == f"Double 4 with double.\n\n{gave}"
    assert answer["content"] == "Eight."
    assert 'number": 5' in own["content"] and 'number": 4' not in own["content"]
    assert prompt("Which is more?", after=second).value == "Both."
    assert [message["role"] for message in asked[-1].messages] == ["user", "assistant"] * 2 + [
        "user"
    ]
    assert asked[-1].messages[-1]["content"] == "Which is more?"


def test_a_real_client_sends_it(server: FakeServer) -> None:
    server.answers = [completion("a"), completion("b")]
    prompt("again", after=prompt("first"))
    sent = server.requests[-1].body["messages"]
    assert [message["content"] for message in sent] == ["first", "a", "again"]


def test_observers_are_told_what_is_new(scripted: Script) -> None:
    scripted("a", "b")
    events: list[Any] = []
    remove = add_observer(events.append)
    try:
        prompt("again", after=prompt("first"))
    finally:
        remove()
    sent = [event for event in events if event["event"] == "request"]
    assert [event["new_from"] for event in sent] == [0, 2]
    assert [len(event["messages"]) for event in sent] == [1, 3]


def test_conversations_of_threads_are_their_own(scripted: Script) -> None:
    model = scripted("a", *"bbbbbbbb")
    first = prompt("first")
    threads = [threading.Thread(target=lambda: prompt("again", after=first)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {len(request.messages) for request in model.requests[1:]} == {3}


def half(number: int) -> float:
    return number / 2


def offers(request: Request) -> list[str]:
    return [tool["function"]["name"] for tool in request.tools]


def test_functions_are_offered_beside_the_text(scripted: Script) -> None:
    model = scripted(tool_request("twice", number=4), tool_request("half", number=8), "four")
    result = prompt("With {double}?", double=double, tools=[half, ("twice", double), half])
    assert offers(model.requests[0]) == ["double", "half", "twice"]
    assert [(call.tool, call.result) for call in result.tool_calls] == [
        ("twice", "8"),
        ("half", "4.0"),
    ]
    assert result.tools == (("double", double), ("half", half), ("twice", double))


def test_methods_are_offered_by_their_names(scripted: Script) -> None:
    model = scripted("a", "b")
    first = prompt("?", tools=["text".upper])
    prompt("?", after=first, tools=[*first.tools, "text".upper])
    assert list(map(offers, model.requests)) == [["upper"], ["upper"]]


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([half, ("half", double)], "two different functions under the tool name `half`"),
        ([lambda: 1], "has no name"),
        ([("no name", half)], "other characters than letters, digits, `_` and `-`"),
        (["half"], "one of the `tools` is not a function: string"),
        ([half, 3], "one of the `tools` is not a function: int 3"),
    ],
)
def test_what_cannot_be_offered(scripted: Script, tools: list[Any], message: str) -> None:
    model = scripted("a")
    with pytest.raises(CheckError) as caught:
        prompt("?", tools=tools)
    assert message in str(caught.value)
    assert model.requests == []


def test_tools_of_a_conversation_are_offered_again_when_asked_for(scripted: Script) -> None:
    model = scripted("a", "b", tool_request("double", number=4), "c", '"d"')
    first = prompt("?", tools=[double])
    second = prompt("?", after=first)
    third = prompt("?", after=second, tools=[*first.tools, half])
    assert third.tool_calls[0].result == "8"
    assert program("?", after=third, tools=third.tools, returns=str).tools == third.tools
    assert [offers(one) for one in model.requests] == [
        ["double"],
        [],
        ["double", "half"],
        ["double", "half"],
        [],
    ]
    assert "double(number: integer) -> integer" in model.requests[-1].messages[-1]["content"]


def test_a_field_has_the_tools_of_its_prompt(scripted: Script) -> None:
    scripted(tool_request("__saft_return_n", value=3))
    result = prompt("?", fields={"n": int}, tools=[double])
    assert result.fields[0].tools == result.tools == (("double", double),)


def test_a_pickled_result_has_no_functions(scripted: Script) -> None:
    scripted("a")
    first = prompt("?", tools=[("look", lambda: 1)], options={"model": "small"})
    again = pickle.loads(pickle.dumps(first))
    assert (again.tools, again.transcript.options) == ((), {"model": "small"})
    assert again.messages == first.messages


def test_model_system_and_effort_hold_on(scripted: Script) -> None:
    model = scripted(*"abcd")
    own = {"model": "small", "system": "Be brief.", "reasoning_effort": "low", "temperature": 0}
    first = prompt("0", options=own)
    with configure(model="large", system="Be long.", reasoning_effort="high"):
        second = prompt("1", after=first)
        prompt("2", after=second, options={"model": "other"})
        prompt("3")
    asked = [(one.model, one.options, one.messages[0]["content"]) for one in model.requests]
    assert asked == [
        ("small", {"reasoning_effort": "low", "temperature": 0}, "Be brief."),
        ("small", {"reasoning_effort": "low"}, "Be brief."),
        ("other", {"reasoning_effort": "low"}, "Be brief."),
        ("large", {"reasoning_effort": "high"}, "Be long."),
    ]
