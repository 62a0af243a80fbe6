"""What a reply has beyond its text and calls: it goes back to who made it, as it was."""

from __future__ import annotations

import asyncio
import json
import pickle
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    ConfigError,
    _recordings,
    add_observer,
    configure,
    overlap,
    program,
    prompt,
)
from runtime_support._core.messages import AssistantMessage, Reply, Request
from runtime_support._core.redaction import holds_secret
from runtime_support._core.settings import settings_for
from runtime_support._journal.hook import journaled
from runtime_support._journal.journal import entries as rows_of
from runtime_support._journal.json_lines import key_of
from runtime_support.providers import live_provider
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer, chunk, completion, ending, events, message
from tests.support.remembering import Remembering, signed

Script = Callable[..., Scripted]
Message = dict[str, Any]

# They look like keys.
SIGNATURES = [f"sk-proj-Abc123dEf456Ghi789jKl{number}" for number in range(9)]
DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "AKIAABCDEFGHIJKLMNOP", "index": 0},
    {"type": "reasoning.encrypted", "data": SIGNATURES[0], "id": None, "index": 1},
]


def double(number: int) -> int:
    return 2 * number


def calls(*all_calls: Any, **fields: Any) -> Message:
    return {"content": None, "tool_calls": list(all_calls), **fields}


def call(number: int, **arguments: Any) -> Any:
    return signed("double", f"own-{number}", SIGNATURES[number], **(arguments or {"number": 1}))


def sent(server: FakeServer) -> list[Message]:
    """The messages of the last request."""
    return server.bodies[-1]["messages"]


def test_signatures_and_ids_through_several_rounds(server: FakeServer) -> None:
    first = calls(call(0), signed("double", "own-8", number=2))
    server.responder = Remembering([first, calls(call(1)), calls(call(2)), {"content": "done"}])
    result = prompt("{double}", double=double)
    assert result.value == "done" and len(result.tool_calls) == 4
    assert sent(server)[1]["tool_calls"][0]["extra_content"] == {
        "google": {"thought_signature": SIGNATURES[0]}
    }
    assert [one["tool_call_id"] for one in sent(server) if one["role"] == "tool"] == [
        "own-0", "own-8", "own-1", "own-2",
    ]  # fmt: skip


def test_what_the_script_sees_has_our_ids_and_what_is_opaque_apart(server: FakeServer) -> None:
    server.responder = Remembering([calls(call(0), reasoning="Hm."), {"content": "done"}])
    messages = prompt("{double}", double=double).messages
    assert [set(one) for one in messages] == [
        {"role", "content"}, {"role", "content", "tool_calls", "opaque"},
        {"role", "tool_call_id", "content"}, {"role", "content"},
    ]  # fmt: skip
    assert set(messages[1]["tool_calls"][0]) == {"id", "type", "function"}
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "call00001"


@pytest.mark.parametrize(
    "thoughts",
    [
        {"reasoning_content": "I call."},
        {"reasoning_content": ""},  # DeepSeek wants it back where it was empty
        {"reasoning": "I call.", "reasoning_details": DETAILS},
        {"reasoning_details": DETAILS},
    ],
)
def test_thoughts_go_back_with_calls(server: FakeServer, thoughts: Message) -> None:
    server.responder = Remembering([calls(call(0), **thoughts), {"content": "done"}])
    assert prompt("{double}", double=double).value == "done"
    assert {name: sent(server)[1][name] for name in thoughts} == thoughts


def test_nothing_else_goes_back(server: FakeServer) -> None:
    odd = {"refusal": None, "annotations": [], "audio": None, "function_call": None, "citations": 1}
    text: Message = {"content": "wrong", "reasoning": "Hm.", "reasoning_content": "Hm.", **odd}
    called = calls({**call(0), "index": 0, "thought": "x"}, reasoning=None, **odd)
    server.responder = Remembering([called, text, {"content": "2"}])
    assert prompt("{double}", double=double, returns=int).value == 2
    assert set(sent(server)[1]) == {"role", "content", "tool_calls"}
    assert set(sent(server)[1]["tool_calls"][0]) == {"id", "type", "function", "extra_content"}
    assert set(sent(server)[3]) == {"role", "content"}


def test_a_reply_that_is_asked_for_again(server: FakeServer) -> None:
    wrong = {"content": "two", "reasoning_details": DETAILS}
    server.responder = Remembering([wrong, {"content": "2"}])
    assert prompt("1 + 1", returns=int).value == 2
    assert sent(server)[1]["reasoning_details"] == DETAILS


def test_fields_and_rounds(server: FakeServer) -> None:
    def field(name: str, number: int, value: Any) -> Any:
        return signed(f"__saft_return_{name}", f"own-{number}", SIGNATURES[number], value=value)

    server.responder = Remembering(
        [
            calls(call(0), field("a", 1, "no"), reasoning_details=DETAILS),
            {"content": "So.", "reasoning_details": DETAILS},
            calls(field("a", 2, 1)),
            calls(field("b", 3, 2)),
        ]
    )
    fields = {"a": int, "b": int}
    result = prompt("{double}", double=double, fields=fields, rounds=1, options={"max_repairs": 3})
    assert result.value == (1, 2)


def test_conversations_that_go_on_and_fork(server: FakeServer) -> None:
    server.responder = Remembering(
        [
            calls(call(0)),
            {"content": "2", "reasoning_details": DETAILS},
            calls(call(1), reasoning_content="Again."),
            {"content": "b"},
            {"content": "c"},
            {"content": "d"},
        ]
    )
    first = prompt("{double}", double=double, returns=int)
    again = pickle.loads(pickle.dumps(first))
    second = prompt("And {double}?", double=double, after=again, options={"system": "Be brief."})
    assert second.value == "b"
    assert prompt("Or else?", after=first).value == "c"
    assert sent(server)[3]["reasoning_details"] == DETAILS
    assert prompt("And then?", after=second).value == "d"


def test_in_an_event_loop(server: FakeServer) -> None:
    server.responder = Remembering([calls(call(0)), calls(call(1)), {"content": "done"}])

    async def ask() -> str:
        return (await prompt.aio("{double}", double=double)).value

    assert asyncio.run(ask()) == "done"


def test_programs(server: FakeServer) -> None:
    wrong = {"content": '{"triple": {}}', "reasoning_details": DETAILS}
    server.responder = Remembering([wrong, {"content": '{"double": {"number": 4}}'}])
    assert program("{double}", double=double, returns=int).value == 8
    assert sent(server)[1]["reasoning_details"] == DETAILS


# To whom


def test_another_model_is_not_sent_what_it_did_not_make(server: FakeServer) -> None:
    server.answers = [
        message(calls(call(0), reasoning="Hm.", reasoning_details=DETAILS), "tool_calls"),
        completion("2"),
    ]
    first = prompt("{double}", double=double)
    prompt("And?", after=first, options={"model": "other"})
    assert set(sent(server)[1]) == {"role", "content", "tool_calls"}
    assert set(sent(server)[1]["tool_calls"][0]) == {"id", "type", "function"}
    assert sent(server)[1]["tool_calls"][0]["id"] == sent(server)[2]["tool_call_id"] == "call00001"
    with FakeServer() as another:
        configure(base_url=another.url)
        prompt("And?", after=first)
        assert sent(another)[1]["tool_calls"][0]["id"] == "call00001"
        assert "reasoning_details" not in sent(another)[1]


def test_a_conversation_of_two_models(server: FakeServer) -> None:
    server.answers = [message(calls(call(0)), "tool_calls"), completion("a")]
    first = prompt("{double}", double=double)
    server.answers = [message(calls(call(1)), "tool_calls"), completion("b")]
    other = {"model": "other"}
    second = prompt("And {double}?", double=double, after=first, options=other)
    prompt("And?", after=second, options=other)
    ids = [one["id"] for said in sent(server) for one in said.get("tool_calls", ())]
    assert ids == ["call00001", "own-1"]
    assert [m["tool_call_id"] for m in sent(server) if m["role"] == "tool"] == ids
    prompt("And?", after=second, options={"model": settings_for().model})
    ids = [one["id"] for said in sent(server) for one in said.get("tool_calls", ())]
    assert ids == ["own-0", "call00002"]


def test_a_provider_of_ones_own_sees_plain_messages(scripted: Script) -> None:
    model = scripted(tool_request("double", number=1), "done")
    prompt("{double}", double=double)
    messages = model.requests[-1].messages
    assert isinstance(messages[1], AssistantMessage) and type(dict(messages[1])) is dict
    assert json.loads(json.dumps(messages))[1]["tool_calls"][0]["id"] == "call00001"


# Ids


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([None, None], ["call00001", "call00002"]),
        (["", ""], ["call00001", "call00002"]),
        (["a", "b"], ["a", "b"]),
        (["a", "a"], ["call00001", "call00002"]),
        (["a", "b", "a"], ["call00001", "call00002", "call00003"]),
        (["call00002", None], ["call00001", "call00002"]),
        ([None, "call00001"], ["call00001", "call00002"]),
        ([7, {"x": 1}], ["call00001", "call00002"]),
        (["\ud83d", "b"], ["call00001", "call00002"]),
    ],
)
def test_ids_that_are_missing_empty_or_doubled(
    server: FakeServer, given: list[Any], expected: list[str]
) -> None:
    made = [
        {**signed("double", "", f"s{number}", number=number), "id": identity}
        for number, identity in enumerate(given)
    ]
    for one in made:
        if one["id"] is None:
            del one["id"]
    server.answers = [message(calls(*made), "tool_calls"), completion("done")]
    assert prompt("{double}", double=double).value == "done"
    back = sent(server)[1]["tool_calls"]
    assert [one["id"] for one in back] == expected
    assert [one["tool_call_id"] for one in sent(server)[2:]] == expected
    assert [one["extra_content"]["google"]["thought_signature"] for one in back] == [
        f"s{number}" for number in range(len(given))
    ]


# Streams


def streamed(server: FakeServer, *deltas: Message, finish: str = "tool_calls") -> Reply:
    """The reply with these deltas."""
    server.answers = [events([*map(chunk, deltas), *ending(finish)])]
    provider: Any = live_provider(settings_for())
    stream = provider.stream(Request(({"role": "user", "content": "x"},)))
    while True:
        try:
            next(stream)
        except StopIteration as end:
            return end.value


def gathered(server: FakeServer, *deltas: Message) -> Message:
    """What goes back of a reply with these deltas and a call of a tool."""
    reply = streamed(server, *deltas, {"tool_calls": [{**call(0), "index": 0}]})
    assert reply.origin is not None and reply.tool_calls[0].id == "own-0"
    return dict(reply.opaque or {})


def details(server: FakeServer, *pieces: Message) -> list[Message]:
    return gathered(server, *({"reasoning_details": [one]} for one in pieces))["reasoning_details"]


def text(piece: str | None, **parts: Any) -> Message:
    own = {} if piece is None else {"text": piece}
    return {"type": "reasoning.text", **own, "format": "anthropic-claude-v1", **parts}


def test_texts_in_pieces_with_the_signature_at_the_end(server: FakeServer) -> None:
    pieces = [text("Let", index=0), text(" me.", index=0), text(None, signature="S", index=0)]
    assert details(server, *pieces) == [text("Let me.", index=0, signature="S")]


def test_a_signature_ends_a_text_whatever_the_index(server: FakeServer) -> None:
    pieces = [
        text("a", signature=None, index=0), text("", signature="S", index=0),
        text("b", index=0), text(None, signature="T", index=0),
    ]  # fmt: skip
    assert [(one["text"], one["signature"]) for one in details(server, *pieces)] == [
        ("a", "S"), ("b", "T"),
    ]  # fmt: skip


def test_summaries_and_encrypted_ones(server: FakeServer) -> None:
    def summary(piece: str, index: int) -> Message:
        return {"type": "reasoning.summary", "summary": piece, "index": index}

    encrypted = {"type": "reasoning.encrypted", "data": "x", "id": "rs_1", "index": 0}
    other = {**encrypted, "id": "rs_2"}
    pieces = [summary("a", 0), summary("b", 0), encrypted, other, summary("c", 0), summary("d", 2)]
    assert details(server, *pieces) == [
        summary("ab", 0), encrypted, other, summary("c", 0), summary("d", 2),
    ]  # fmt: skip


def test_kinds_that_nobody_knows_come_as_they_are(server: FakeServer) -> None:
    odd: list[Any] = [{"type": "reasoning.new", "x": 1}, {"type": "reasoning.new", "x": 2}, "text"]
    odd += [{"type": None}, {}, {"type": "reasoning.text", "text": 5}]
    assert details(server, *odd) == odd


def test_thoughts_in_pieces(server: FakeServer) -> None:
    pieces = ["I", "", " see \ud83d", "\ude00", "."]
    thoughts = ({"reasoning_content": one} for one in (None, *pieces))
    assert gathered(server, *thoughts)["reasoning_content"] == "I see \U0001f600."
    assert gathered(server, {"reasoning_content": ""})["reasoning_content"] == ""
    assert "reasoning_content" not in gathered(server, {"reasoning_content": None})


def test_calls_in_pieces(server: FakeServer) -> None:
    def piece(index: int, **parts: Any) -> Message:
        return {"tool_calls": [{"index": index, **parts}]}

    def function(arguments: str, name: str | None = None) -> Message:
        return {"name": name, "arguments": arguments}

    signature = call(0)["extra_content"]
    reply = streamed(
        server,
        piece(0, id="a", extra_content=signature, function=function("", "double")),
        piece(0, id="", function=function('{"number":')),
        piece(0, id="other", function=function(" 1}")),  # vLLM gave each piece an id
        piece(0, id="b", function=function('{"number": 2}', "double")),  # as Gemini does
        piece(1, function=function('{"number": 3}', "double")),
        piece(1, id="c", function=function("", "")),
    )
    assert [(one.id, one.arguments) for one in reply.tool_calls] == [
        ("a", '{"number": 1}'), ("b", '{"number": 2}'), ("c", '{"number": 3}'),
    ]  # fmt: skip
    assert [one.opaque for one in reply.tool_calls] == [{"extra_content": signature}, None, None]


def test_thoughts_of_a_text_that_is_streamed_go_back(server: FakeServer) -> None:
    said = {"content": "a", "reasoning_details": DETAILS, "reasoning": "Hm."}
    server.responder = Remembering([said, {"content": "b"}])
    first = prompt("x", stream=True)
    assert "".join(first.pieces()) == "a"
    assert prompt("y", after=first).value == "b"
    assert sent(server)[1]["reasoning_details"] == DETAILS


def test_a_stream_that_goes_on_after_calls(server: FakeServer) -> None:
    server.responder = Remembering([calls(call(0)), {"content": "done"}])
    result = prompt("{double}", double=double, rounds=1, stream=True)
    assert "".join(result.pieces()) == "done"
    assert server.bodies[-1]["stream"] is True


def test_halves_of_characters_go_back_as_the_sign_for_what_is_unreadable(
    server: FakeServer,
) -> None:
    half = [{"type": "reasoning.encrypted", "data": "\ud83d"}]
    answers = [{"role": "assistant", **calls(call(0), reasoning_details=half)}, {"content": "done"}]
    server.answers = [message(answers[0], "tool_calls"), message(answers[1])]
    assert prompt("{double}", double=double).value == "done"
    (said,) = (one for one in server.bodies[1]["messages"] if one["role"] == "assistant")
    assert said["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "\ufffd"}]


# Journals and recordings


def conversation() -> str:
    return prompt("{double}", double=double).value


def says() -> list[Message]:
    secret = f"The key is {SIGNATURES[3]}."
    return [
        calls(call(0), reasoning_details=DETAILS),
        calls(call(1), reasoning_content=secret),
        {"content": "done"},
    ]


def test_a_run_that_goes_on_sends_the_same_bytes(server: FakeServer, tmp_path: Path) -> None:
    path = str(tmp_path / "run.journal")
    server.responder = Remembering(says())
    with journaled(path):
        conversation()
    whole = [json.dumps(body) for body in server.bodies]

    def again(body: Message) -> Any:
        number = whole.index(json.dumps(body))
        return message({"role": "assistant", **says()[number]}, "stop" if number else "tool_calls")

    content, rows = Path(path).read_bytes(), list(rows_of(path))
    for kept in range(len(rows)):
        Path(path).write_bytes(content)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("delete from entry where id > ?", (kept,))
        server.requests.clear()
        server.responder = again
        with journaled(path):
            assert conversation() == "done"
        asked = [json.dumps(body) for body in server.bodies]
        assert asked == whole[len(whole) - len(asked) :]


def test_what_is_opaque_looks_like_keys() -> None:
    assert all(map(holds_secret, SIGNATURES)) and holds_secret(DETAILS[0]["signature"])


def test_opaque_parts_are_kept_and_what_is_beside_them(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "Tr0ub4dor-and-3")
    path = tmp_path / "run.journal"
    server.responder = Remembering([*says()[:2], {"content": "It is Tr0ub4dor-and-3."}])
    with journaled(str(path)):
        conversation()
    kept = json.dumps(list(rows_of(str(path))))
    assert SIGNATURES[0] in kept and SIGNATURES[1] in kept and "own-1" in kept
    assert "It is Tr0ub4dor-and-3." in kept


def test_the_address_is_kept_without_secrets(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_API_KEY", "Tr0ub4dor-and-3")
    configure(base_url=f"{server.url}/Tr0ub4dor-and-3")
    path = tmp_path / "run.journal"
    for _ in range(2):
        server.responder = Remembering(says())
        with journaled(str(path)):
            assert conversation() == "done"
    assert len(server.requests) == 3
    kept = json.dumps(list(rows_of(str(path))))
    assert '"address"' in kept and "Tr0ub4dor" not in kept


def test_recordings(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))
    second = calls(call(1), reasoning_content="I call.")
    server.responder = Remembering([says()[0], second, says()[2]])
    assert conversation() == "done"
    _recordings.close(str(path))
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(entries) == 3
    assert not any(SIGNATURES[0] in json.dumps(one["request"]) for one in entries)
    # What is missing is asked with what was recorded.
    path.write_text("".join(json.dumps(e) + "\n" for e in entries if e["reply"]["tool_calls"]))
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    first = server.bodies[2]
    server.responder = None
    assert conversation() == "ok"
    assert server.bodies[-1] == first
    _recordings.close(str(path))


KEY = "Tr0ub4dor-and-3-x9"
OTHER_KEY = "sk-proj-Zx81kLm29QwErTy73uIoP"


@pytest.mark.parametrize(
    "reply",
    [
        {"reasoning_content": f"the key is {KEY}"},
        {"reasoning_content": f"the key is {OTHER_KEY}"},
        {"reasoning_details": [{"type": "reasoning.text", "text": f"it is {OTHER_KEY}"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": f"x{KEY}x"}]},
        {"tool_calls": [signed("double", KEY, "", number=1)]},
    ],
)
def test_no_key_is_recorded_with_thoughts_and_ids(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reply: Message,
) -> None:
    monkeypatch.setenv("GATEWAY_API_KEY", KEY)
    path = tmp_path / "r.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))
    server.responder = Remembering([calls(call(0), **reply) | reply, {"content": "done"}])
    assert prompt("{double}", double=double).value == "done"
    _recordings.close(str(path))
    written = path.read_text()
    assert KEY not in written and OTHER_KEY not in written
    assert "[redacted]" in written


def test_recordings_of_before_answer(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    keys = ["eac2dbe06ead25b5", "bb9f6d14c162e626"]  # as the version of before made them
    call_of_before = {"name": "double", "arguments": '{"number": 1}'}
    replies: list[Message] = [
        {"text": "", "tool_calls": [call_of_before], "finish": "tool_calls", "model": "m"},
        {"text": "done", "tool_calls": [], "finish": "stop", "model": "m"},
    ]
    tokens = {"input_tokens": 1, "output_tokens": 2}
    monkeypatch.setenv("SAFT_RECORD", str(path))
    server.responder = Remembering([calls(call(0)), {"content": "done"}])
    prompt("twice 1: {double}", double=double, options={"model": "m"})
    _recordings.close(str(path))
    asked = {
        one["key"]: one["request"] for one in map(json.loads, path.read_text().split("\n")[:2])
    }
    entries = [
        {"key": key, "repeat": 0, "request": asked[key], "reply": {**reply, **tokens}}
        for key, reply in zip(keys, replies, strict=True)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    result = prompt("twice 1: {double}", double=double, options={"model": "m"})
    assert result.value == "done" and result.usage.input_tokens == 2
    assert len(server.requests) == 2


def test_nothing_opaque_is_a_part_of_keys(server: FakeServer, scripted: Script) -> None:
    server.responder = Remembering(says())
    model = scripted(tool_request("double", number=1), tool_request("double", number=1), "done")
    conversation()
    configure(provider="openai")
    plain = [key_of(request) for request in model.requests]
    live = prompt("{double}", double=double)
    assert live.transcript.messages[1] == model.requests[1].messages[1]
    asked = zip(model.requests, (1, 3, 5), strict=True)
    said = tuple(live.transcript.messages)
    own = [replace(request, messages=said[:count]) for request, count in asked]
    assert [key_of(request) for request in own] == plain


@pytest.mark.parametrize("wrong", [[], "x", 1])
def test_an_opaque_part_that_is_none(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    path = tmp_path / "r.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))
    server.responder = Remembering(says())
    conversation()
    _recordings.close(str(path))
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    for entry in entries:
        entry["reply"]["origin"] = wrong
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    monkeypatch.delenv("SAFT_RECORD")
    with pytest.raises(ConfigError, match="no usable reply"):
        conversation()


def test_listeners_are_not_told(server: FakeServer) -> None:
    told: list[Message] = []
    remove = add_observer(told.append)
    server.responder = Remembering(says())
    conversation()
    remove()
    assert not any(secret in json.dumps(told) for secret in (SIGNATURES[0], "own-0"))


def test_a_text_alone_has_no_origin(server: FakeServer) -> None:
    reply = live_provider(settings_for()).complete(Request(({"role": "user", "content": "x"},)))
    assert reply == Reply("ok", model="fake-1", input_tokens=11, output_tokens=7)


def test_a_journal_that_is_replayed(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "run.journal")
    server.responder = remembering = Remembering(says())
    with journaled(path):
        conversation()
    monkeypatch.setenv("SAFT_REPLAY", path)
    first = prompt("{double}", double=double)
    assert first.value == "done" and len(server.requests) == 3
    monkeypatch.delenv("SAFT_REPLAY")
    remembering.says({"content": "And on."})
    assert prompt("Go on.", after=first).value == "And on."


def test_a_provider_around_the_server(server: FakeServer) -> None:
    class Around:
        default_model = "fake"

        def __init__(self) -> None:
            self.inner = live_provider(settings_for())

        def complete(self, request: Request) -> Reply:
            return self.inner.complete(request)

    server.responder = Remembering(says())
    configure(provider=Around())
    assert conversation() == "done"


def test_calls_that_run_ahead(server: FakeServer) -> None:
    lock = threading.Lock()
    memories: dict[str, Remembering] = {}

    def answer(body: Message) -> Any:
        asked = body["messages"][0]["content"]
        with lock:
            memory = memories.setdefault(asked, Remembering(says()))
        return memory(body)

    server.responder = answer
    values = overlap(lambda n: prompt("{n} {double}", n=n, double=double).value, range(8))
    assert list(values) == ["done"] * 8 and len(memories) == 8


def test_thousands_of_calls_without_ids_or_with_one(server: FakeServer) -> None:
    many = [signed("__saft_return_a", "", value=1) for _ in range(1_000)]
    same = [signed("__saft_return_a", "x", value=1) for _ in range(1_000)]
    server.answers = [message(calls(*many, *same), "tool_calls"), completion("2")]
    result = prompt("x", fields={"a": int, "b": int | None}, options={"max_repairs": 3})
    assert result.value == (1, None)
    ids = [one["id"] for one in sent(server)[1]["tool_calls"]]
    assert len(set(ids)) == 2_000 and "x" not in ids
