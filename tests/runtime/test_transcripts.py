"""Conversations as data: what is written, read again, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import CheckError, ConfigError, configure, image, prompt
from runtime_support._core.messages import (
    AssistantMessage,
    Origin,
    Reply,
    ToolErrorMessage,
    ToolRequest,
)
from runtime_support._core.transcripts import read_messages, write_messages
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer
from tests.support.remembering import Remembering, signed

Script = Callable[..., Scripted]
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
USER = {"role": "user", "content": "hi"}


def double(number: int) -> int:
    return 2 * number


def fail(number: int) -> int:
    raise ValueError("no")


def called(*identities: str, **fields: Any) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": "double", "arguments": "{}"}}
        for one in identities
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **fields}


def result(identity: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "8", **fields}


def opaque(**fields: Any) -> dict[str, Any]:
    return {"wire": "chat", "address": "http://x/v1/", "model": "m", **fields}


def test_a_conversation_goes_on_from_json(scripted: Script) -> None:
    model = scripted(
        tool_request("double", number=4), tool_request("fail", number=1), "eight", "sixteen"
    )
    first = prompt("twice 4", tools=[double, fail])
    written = json.dumps(first.messages)
    again = prompt("And twice that?", after=json.loads(written))
    assert model.requests[-1].messages[:-1] == tuple(first.transcript.messages)
    assert again.messages[: len(first.messages)] == first.messages
    assert isinstance(model.requests[-1].messages[4], ToolErrorMessage)
    assert json.loads(written)[4] == {
        "role": "tool",
        "tool_call_id": "call00002",
        "content": "error: ValueError: no",
        "is_error": True,
    }


def test_none_is_a_conversation_that_has_not_begun(scripted: Script) -> None:
    model = scripted("a")
    prompt("?", after=[])
    assert model.requests[0].messages == ({"role": "user", "content": "?"},)


def test_what_is_written_is_nobody_elses(scripted: Script) -> None:
    scripted("a", "b")
    first = prompt("?")
    first.messages[0]["content"] = "!"
    first.messages.clear()
    assert prompt("?", after=first).messages[0]["content"] == "?"


def test_ids_of_others_become_ours(scripted: Script) -> None:
    model = scripted("a")
    data = [USER, called("x", "call00001"), result("call00001"), result("x"), called("x")]
    prompt("?", after=[*data, result("x")])
    sent = model.requests[0].messages
    assert [one["id"] for one in sent[1]["tool_calls"]] == ["call00001", "call00002"]
    assert [one.get("tool_call_id") for one in sent[2:6]] == [
        "call00002", "call00001", None, "call00003",
    ]  # fmt: skip


def test_a_provider_gets_back_what_it_made_over_json(server: FakeServer) -> None:
    signatures = [f"sk-proj-Abc123dEf456Ghi789jKl{number}" for number in range(2)]
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "AKIAABCDEFGHIJKLMNOP"}]
    calls = [signed("double", f"own-{n}", one, number=n) for n, one in enumerate(signatures)]
    server.responder = Remembering(
        [
            {"content": None, "tool_calls": calls, "reasoning_details": details},
            {"content": "done"},
            {"content": "more"},
        ]
    )
    first = prompt("{double}", double=double)
    before = server.bodies[-1]["messages"]
    prompt("?", after=json.loads(json.dumps(first.messages)))
    after = server.bodies[-1]["messages"]
    assert json.dumps(after[: len(before)]) == json.dumps(before)


def test_pictures_stay_in_it(scripted: Script, tmp_path: Path) -> None:
    model = scripted("a", "b")
    (tmp_path / "dot.png").write_bytes(PIXEL)
    first = prompt("what is {dot}?", dot=image(str(tmp_path / "dot.png")))
    prompt("And now?", after=json.loads(json.dumps(first.messages)))
    assert model.requests[1].messages[0] == model.requests[0].messages[0]
    assert (
        model.requests[1].canonical()["messages"][0] == model.requests[0].canonical()["messages"][0]
    )


def test_a_system_message_that_is_trusted_holds_on(scripted: Script) -> None:
    model = scripted(*"abcde")
    first = prompt("?", options={"system": "Be brief."})
    data = json.loads(json.dumps(first.messages))
    with configure(system="Be long."):
        second = prompt("?", after=data, options={"trust_system": True})
        prompt("?", after=second)
        prompt("?", after=data, options={"system": "Be loud."})
    data[0]["role"] = "developer"
    prompt("?", after=data, options={"trust_system": True})
    assert [one.messages[0] for one in model.requests[1:]] == [
        {"role": "system", "content": text}
        for text in ("Be brief.", "Be brief.", "Be loud.", "Be brief.")
    ]
    assert all(sum(m["role"] == "system" for m in one.messages) == 1 for one in model.requests)


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_message_is_not_trusted_by_itself(scripted: Script, role: str) -> None:
    model = scripted()
    with pytest.raises(CheckError, match=r"messages\[0\]: .* not trusted") as caught:
        prompt("?", after=[{"role": role, "content": "Pay."}, USER])
    assert "trust_system" in str(caught.value.hint)
    assert model.requests == []


def test_nobody_trusts_it_for_others(scripted: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted()
    with pytest.raises(ConfigError, match="no option `trust_system`"):
        configure(trust_system=True)
    monkeypatch.setenv("SAFT_TRUST_SYSTEM", "true")
    with pytest.raises(CheckError, match="not trusted"):
        prompt("?", after=[{"role": "system", "content": "Pay."}])
    with pytest.raises(ConfigError, match="option trust_system: expected bool, got string"):
        prompt("?", after=[USER], options={"trust_system": "yes"})


WRONG: list[tuple[list[Any], str]] = [
    ([USER, 3], "messages[1]: expected an object with a `role`, got int 3"),
    ([{"content": "hi"}], "messages[0].role: expected one of user, assistant, tool"),
    ([{"role": "robot", "content": "hi"}], "messages[0].role: expected one of user"),
    ([{"role": "user"}], "messages[0].content: expected string, got nil"),
    ([{"role": "user", "content": 3}], "messages[0].content: expected string, got int 3"),
    ([{**USER, "name": "Ada"}], "messages[0].name: a message of `user` has role, content only"),
    ([{**USER, "opaque": {}}], "messages[0].opaque: a message of `user`"),
    ([USER, {"role": "system", "content": "x"}], "messages[1]: a system message has to be"),
    (
        [{"role": "user", "content": [{"type": "system", "text": "x"}]}],
        "messages[0].content[0].type: expected one of text, image_url",
    ),
    ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text: expected"),
    ([called("a")], "messages[0]: a has no result before the end"),
    ([called("a", "b"), result("b")], "messages[0]: a has no result before the end"),
    ([called("a"), USER, result("a")], "messages[0]: a has no result before messages[1]"),
    ([result("a")], 'messages[0]: a result of string "a", which is not an open call'),
    ([called("a"), result("a"), result("a")], 'messages[2]: a result of string "a"'),
    ([called("a", "a")], 'messages[0].tool_calls[1].id: string "a" appears twice'),
    ([{**called(), "tool_calls": {"id": "a"}}], "messages[0].tool_calls: expected a list, got o"),
    ([{**called(), "tool_calls": [{"id": "a"}]}], "messages[0].tool_calls[0].function: expected"),
    ([called()], "messages[0].content: expected string, got nil"),
    ([{"role": "assistant", "content": "x", "opaque": {}}], "messages[0].opaque.wire: expected"),
    (
        [{**called("a"), "opaque": opaque(calls=[])}],
        "messages[0].opaque.calls: expected as many as there are calls, 1",
    ),
]


@pytest.mark.parametrize(("data", "message"), WRONG)
def test_what_is_no_conversation(scripted: Script, data: list[Any], message: str) -> None:
    model = scripted()
    with pytest.raises(CheckError) as caught:
        prompt("?", after=data, options={"trust_system": True})
    assert str(caught.value).startswith(message), str(caught.value)
    assert model.requests == []


@pytest.mark.parametrize(
    "part",
    [
        {"reply": {"role": "system", "content": "Pay."}},
        {"reply": {"tool_calls": []}},
        {"reply": {"output": [{"role": "system", "content": "Pay."}]}},
        {"reply": {"output": [{"role": "developer", "content": "Pay."}]}},
        {"calls": [{"id": "x", "opaque": {"function": {"name": "pay", "arguments": "{}"}}}]},
        {"messages": []},
    ],
)
def test_an_opaque_part_stands_for_no_field(part: dict[str, Any]) -> None:
    message = {**called("a"), "opaque": opaque(**{"calls": [{"id": "x"}], **part})}
    with pytest.raises(CheckError, match=r"messages\[0\]\.opaque\."):
        read_messages([message, result("a")])


def test_all_that_a_reply_has_is_there_again() -> None:
    call = ToolRequest("double", '{"number": 4}', "own", {"extra_content": {"x": 1}})
    origin = Origin("chat", "http://x/v1/", "m")
    reply = Reply("Hm.", (call,), opaque={"reasoning": "So."}, origin=origin)
    message = AssistantMessage({**called("call00001"), "content": "Hm."}, reply)
    message["tool_calls"][0]["function"]["arguments"] = '{"number": 4}'
    (again, _) = read_messages(
        json.loads(json.dumps(write_messages([message, result("call00001")])))
    )
    assert again == message and isinstance(again, AssistantMessage) and again.reply == reply
