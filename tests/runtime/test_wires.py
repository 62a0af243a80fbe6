"""The same scripts on each wire: the same values, and the same number of requests."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from runtime_support import ProviderError, _recordings, add_observer, configure, overlap, prompt
from runtime_support._journal.hook import journaled
from runtime_support._journal.journal import Journal, entries
from runtime_support.errors import BudgetSpent, Refused
from runtime_support.providers._wires import wire_named
from saftc.driver import compile_source
from saftc.overlap.settings import Overlapping
from saftc.source import Source
from tests.support.fake_server import FakeServer, raw, status
from tests.support.forks import comes_to_its_end
from tests.support.wires import WIRES, Say, Speaker, Spoken

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fcffff3f"
    "030005fe02fea7d6059b0000000049454e44ae426082"
)


@pytest.fixture(params=WIRES, ids=lambda wire: wire.NAME)
def wire(request: pytest.FixtureRequest) -> Spoken:
    return request.param


@pytest.fixture
def spoken(server: FakeServer, wire: Spoken) -> Iterator[FakeServer]:
    """A server on loopback that is asked by this wire, and by no other."""
    configure(api=wire.NAME)
    yield server
    assert {request.path for request in server.requests} <= {wire.PATH}


@dataclass(frozen=True)
class Script:
    """A script, what the model says in it, and what it prints."""

    text: str
    says: tuple[Say, ...]
    prints: str


def call(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, arguments


def calls(*all_calls: tuple[str, dict[str, Any]], text: str | None = None) -> Say:
    return Say(text, all_calls)


TOOLS = """\
/// Twice a number.
f double(number: int) -> int: ret number * 2
f triple(number: int) -> int: ret number * 3
"""
SCRIPTS = {
    "text": Script("print($ Say hello. $)", (Say("Hello!"),), "Hello!\n"),
    "typed": Script(
        "n: int = $ What is 6 times 7? $\nprint(n + 1)", (Say('{"value": 42}'),), "43\n"
    ),
    "a record": Script(
        "type City(name: string, people: int?)\ncity: City = $ Name one. $\nprint(city.name)",
        (Say('{"name": "Oslo", "people": null}'),),
        "Oslo\n",
    ),
    "fields": Script(
        "{name: string, age: int} = $ Make up a user. $\nprint(name, age)",
        (
            calls(call("__saft_return_name", value="Ada"), call("__saft_return_age", value="old")),
            calls(call("__saft_return_age", value=36)),
        ),
        "Ada 36\n",
    ),
    "one tool": Script(
        TOOLS + "print($ Twice 3? Use {double}. $)",
        (calls(call("double", number=3)), Say("It is 6.")),
        "It is 6.\n",
    ),
    "several tools": Script(
        TOOLS + "x = $ Use {double} and {triple}. $\nprint(x, len(x.toolCalls))",
        (
            calls(call("double", number=3), call("triple", number=3), text="Both."),
            Say("6 and 9"),
        ),
        "6 and 9 2\n",
    ),
    "several rounds": Script(
        TOOLS + "n: int = $ Use {double} again and again. $\nprint(n)",
        (*(calls(call("double", number=2**n)) for n in range(5)), Say('{"value": 32}')),
        "32\n",
    ),
    "a tool that fails": Script(
        "f half(number: int) -> float: ret 1 / number\nprint($ Use {half}. $)",
        (calls(call("half", number=0)), calls(call("half", number="x")), Say("Nothing.")),
        "Nothing.\n",
    ),
    "do": Script(
        TOOLS + "print(do $ Use {double}. $)",
        (calls(call("double", number=3)), Say("6")),
        "6\n",
    ),
    "repair": Script(
        "n: int = $ How many? $\nprint(n)", (Say('{"value": "many"}'), Say('{"value": 3}')), "3\n"
    ),
    "stream": Script(
        'for piece in stream $ Tell a story. $:\n    write(f"[{piece}]")\nprint()',
        (Say("A fox \U0001f98a slept."),),
        "[A][ fox][ \U0001f98a][ slept.]\n",
    ),
    "a stream with tools": Script(
        TOOLS + 'print(join([piece for piece in stream $ Use {double}. $], "|"))',
        (
            calls(call("double", number=3), text="Let me see."),
            calls(call("double", number=6)),
            Say("It is 12."),
        ),
        "Let| me| see.|\n\n|It| is| 12.\n",
    ),
    "after": Script(
        TOOLS
        + "first = $ Twice 3? Use {double}. $\nn: int = $ And once more? $ after first\n"
        + 'second = $ Why? $ after first with {system: "Be brief."}\nprint(n, second)',
        (calls(call("double", number=3)), Say("6"), Say('{"value": 12}')),
        '12 {"value": 12}\n',
    ),
    "after messages": Script(
        TOOLS
        + "first = $ Twice 3? $ with {tools: [double]}\n"
        + "again: [any] = parse(json(first.messages))\n"
        + "more = $ And once more? $ after again with {tools: [double]}\n"
        + "once: [any] = parse(json(more.messages))\n"
        + "n: int = $ And in all? $ after once\nprint(n, more, len(once))",
        (
            calls(call("double", number=3)),
            Say("6"),
            calls(call("double", number=6), text="So be it."),
            Say("12"),
            Say('{"value": 18}'),
        ),
        "18 12 8\n",
    ),
    "picture": Script(
        'photo = image("dot.png")\nprint($ What is in {photo}? $)', (Say("A dot."),), "A dot.\n"
    ),
    "file": Script(
        'paper = file("paper.pdf")\nprint($ Read {paper}. $)', (Say("Done."),), "Done.\n"
    ),
    "program": Script(
        TOOLS + "n: int = program $ Twice 2, by {double}. $\nprint(n)",
        (Say('{"tripel": {"number": 2}}'), Say('{"double": {"number": 2}}')),
        "4\n",
    ),
    "effort": Script(
        TOOLS + 'print($ Use {double}. $ with {reasoning_effort: "high"})',
        (calls(call("double", number=3)), Say("6")),
        "6\n",
    ),
    "a reply that is cut": Script(
        'x = $ Tell a story. $ with {on_truncated: "accept", max_tokens: 20}\nprint(x, x.finish)',
        (Say("A fox", is_cut=True),),
        "A fox length\n",
    ),
    "a cut that is an error": Script(
        "try:\n    print($ Tell a story. $)\nexcept error:\n    print(error.kind, error.message)",
        (Say("A fox", is_cut=True),),
        'truncated the reply was cut by the token limit after "A fox"\n',
    ),
    "a refusal": Script(
        "try:\n    n: int = $ How? $\n    print(n)\nexcept error:\n    print(error.message)",
        (Say("I cannot help with that.", is_refusal=True),),
        'the model declined to answer: "I cannot help with that."\n',
    ),
    "several with a system message": Script(
        'options = {system: "Be brief.", temperature: 0.5, max_tokens: 99}\n'
        'for word in ["a", "b", "c"]:\n    print($ Say {word}. $ with options)',
        (Say("yes"),),
        "yes\nyes\nyes\n",
    ),
}
REQUESTS = {"after": 4, "several with a system message": 3}


@cache
def compiled(text: str, *, is_async: bool = False) -> CodeType:
    overlapping = Overlapping(is_on=not is_async, is_async=is_async)
    made = compile_source(Source.from_text("script.saft", text), overlapping=overlapping)
    assert made.text is not None, made.checked.diagnostics
    return compile(made.text, "script.py", "exec")


def run(text: str, monkeypatch: pytest.MonkeyPatch, **changes: bool) -> dict[str, Any]:
    """What the module of a script has, after it has run."""
    module = ModuleType("script")
    monkeypatch.setitem(sys.modules, "script", module)
    exec(compiled(text, **changes), vars(module))
    return vars(module)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(
    spoken: FakeServer,
    wire: Spoken,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = SCRIPTS[name]
    text = script.text
    if "temperature" in wire_named(wire.NAME).lacks:
        text = text.replace("temperature: 0.5, ", "")
    Path("dot.png").write_bytes(PNG)
    Path("paper.pdf").write_bytes(b"%PDF-1.4 ...")
    spoken.responder = speaker = Speaker(wire, script.says)
    run(text, monkeypatch)
    assert capsys.readouterr().out == script.prints
    assert len(spoken.requests) == len(speaker.answered)
    assert len(spoken.requests) == REQUESTS.get(name, len(script.says))
    if name == "effort":
        assert [wire.effort(body) for body in spoken.bodies] == ["high", "high"]


@pytest.mark.parametrize("name", ["typed", "fields", "several rounds", "after", "program"])
def test_the_async_form(
    spoken: FakeServer,
    wire: Spoken,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = SCRIPTS[name]
    spoken.responder = Speaker(wire, script.says)
    asyncio.run(run(script.text, monkeypatch, is_async=True)["main"]())
    assert capsys.readouterr().out == script.prints
    assert len(spoken.requests) == REQUESTS.get(name, len(script.says))


# Journals and recordings


def double(number: int) -> int:
    return 2 * number


ROUNDS = SCRIPTS["several rounds"].says


def five_rounds() -> Any:
    return prompt("Use {double} again and again.", double=double, returns=int).value


def die_when_a_reply_is_kept(wire: Spoken) -> None:
    """Has the process kill itself at the next thing that its journal keeps after a reply."""
    module: Any = wire_named(wire.NAME)
    read, commit = module.reader.read, Journal._commit

    def dying(journal: Journal, rows: Any) -> None:
        commit(journal, rows)
        os.kill(os.getpid(), signal.SIGKILL)

    def reading(*arguments: Any) -> Any:
        reply = read(*arguments)
        Journal._commit = dying
        return reply

    module.reader.read = reading


def test_a_run_that_is_killed_after_each_of_its_rounds(
    spoken: FakeServer, wire: Spoken, tmp_path: Path
) -> None:
    spoken.responder = speaker = Speaker(wire, ROUNDS)
    assert five_rounds() == 32
    whole = [json.dumps(body) for body in spoken.bodies]
    path = tmp_path / "run.journal"

    def work() -> None:
        die_when_a_reply_is_kept(wire)
        with journaled(str(path)):
            assert five_rounds() == 32

    ends = [comes_to_its_end(work, tmp_path / "errors") for _ in range(7)]
    assert ends == [False] * 6 + [True]
    assert [json.dumps(body) for body in spoken.bodies[6:]] == whole
    kept = json.dumps(list(entries(str(path))))
    for number in range(6):
        for part in wire.opaque(speaker.document(number)):
            assert json.dumps(part) in kept
            assert number == 5 or json.dumps(part) in whole[-1]


def test_a_recording_answers_and_goes_on(
    spoken: FakeServer, wire: Spoken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    spoken.responder = Speaker(wire, ROUNDS)
    monkeypatch.setenv("SAFT_RECORD", str(path))
    assert five_rounds() == 32
    _recordings.close(str(path))
    last = spoken.bodies[-1]
    kept = [one for one in path.read_text().splitlines() if json.loads(one)["reply"]["tool_calls"]]
    path.write_text("\n".join([*kept, ""]))
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    assert five_rounds() == 32
    assert len(spoken.requests) == 7 and spoken.bodies[-1] == last
    _recordings.close(str(path))


def test_the_request_of_recordings_is_the_same_on_each_wire(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[list[str]] = []
    for wire in WIRES:
        path = tmp_path / f"{wire.NAME}.jsonl"
        server.responder = Speaker(wire, ROUNDS)
        monkeypatch.setenv("SAFT_RECORD", str(path))
        with configure(api=wire.NAME):
            assert five_rounds() == 32
        _recordings.close(str(path))
        keys.append([json.loads(line)["key"] for line in path.read_text().splitlines()])
    assert all(own == keys[0] for own in keys)
    # What one wire has recorded answers on another, and nothing opaque is sent there.
    monkeypatch.delenv("SAFT_RECORD")
    recorded = str(tmp_path / "chat.jsonl")
    monkeypatch.setenv("SAFT_REPLAY", recorded)
    server.requests.clear()
    for wire in WIRES:
        with configure(api=wire.NAME):
            assert five_rounds() == 32
        _recordings.close(recorded)
    assert server.requests == []


def test_a_conversation_that_goes_on_by_another_wire(server: FakeServer) -> None:
    for wire, other in itertools.permutations(WIRES, 2):
        server.responder = Speaker(wire, (*ROUNDS[:1], Say("2")))
        with configure(api=wire.NAME):
            first = prompt("Use {double}.", double=double)
        server.responder = lambda body, other=other: other.answer(other.document(Say("ok"), 0))
        with configure(api=other.NAME):
            assert prompt("And on.", after=first).value == "ok"
        sent = json.dumps(server.bodies[-1])
        for part in (*wire.opaque(wire.document(ROUNDS[0], 0)), "msg_1", "rs_1"):
            assert json.dumps(part) not in sent


# Errors


def test_a_server_that_loses_a_thought_is_told_of(spoken: FakeServer, wire: Spoken) -> None:
    """The servers of these tests are strict: a conversation that was changed is refused."""
    speaker = Speaker(wire, ROUNDS)
    spoken.responder = speaker
    assert five_rounds() == 32
    good = spoken.bodies[-1]
    assert wire.heard(good, speaker.document) == (5, "")
    for number in range(5):
        for part in wire.opaque(speaker.document(number)):
            changed = json.loads(json.dumps(good).replace(json.dumps(part), '"x"'))
            _, wrong = wire.heard(changed, speaker.document)
            assert wrong, part


def test_an_overload_is_waited_for(spoken: FakeServer, wire: Spoken) -> None:
    answers = iter((status(529, "overloaded"), status(429, "slow down", retry_after_ms=5)))
    speaker = Speaker(wire, [Say("hello")])
    spoken.responder = lambda body: next(answers, None) or speaker(body)
    assert prompt("hi").value == "hello" and len(spoken.requests) == 3


def test_a_context_window_that_is_exceeded(spoken: FakeServer) -> None:
    spoken.answers = [
        status(400, "Your input exceeds the context window of this model. Please adjust it.")
    ]
    with pytest.raises(ProviderError, match="send less, or choose a model") as caught:
        prompt("hi", returns=int)
    assert (caught.value.status, caught.value.request_id) == (400, "req-123")
    assert len(spoken.requests) == 1


@pytest.mark.parametrize("code", ["content_filter", "invalid_prompt"])
def test_a_prompt_that_the_provider_declines(spoken: FakeServer, code: str) -> None:
    error = {"error": {"message": "It was flagged.", "code": code}}
    spoken.answers = [raw(json.dumps(error).encode(), status=400)]
    with pytest.raises(Refused, match=r"declined the prompt: It was flagged\."):
        prompt("hi", returns=int)
    assert len(spoken.requests) == 1


# Streams


def test_items_as_they_come(spoken: FakeServer, wire: Spoken) -> None:
    spoken.responder = Speaker(wire, [Say('{"value": ["a \U0001f98a", "b", "c d"]}'), Say("So.")])
    result = prompt("x", returns=list[str], stream=True)
    assert list(result.items()) == ["a \U0001f98a", "b", "c d"] == result.value
    assert prompt("y", after=result).value == "So."


def test_pieces_in_an_event_loop(spoken: FakeServer, wire: Spoken) -> None:
    spoken.responder = Speaker(wire, [Say("A fox slept.")])

    async def pieces() -> list[str]:
        return [piece async for piece in prompt.aio("x", stream=True).pieces()]

    assert asyncio.run(pieces()) == ["A", " fox", " slept."]


def test_a_stream_that_is_left_can_be_kept(
    spoken: FakeServer, wire: Spoken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))
    spoken.responder = Speaker(wire, [Say("A fox slept.")])
    for _ in prompt("x", stream=True).pieces():
        break
    _recordings.close(str(path))
    (entry,) = [json.loads(line)["reply"] for line in path.read_text().splitlines()]
    assert (entry["text"], entry["finish"]) == ("A", "left")


def test_many_conversations_at_once(spoken: FakeServer, wire: Spoken) -> None:
    spoken.responder = Speaker(wire, ROUNDS)
    assert list(overlap(lambda _: five_rounds(), range(8))) == [32] * 8
    assert len(spoken.requests) == 48


def test_a_budget_is_kept(spoken: FakeServer, wire: Spoken) -> None:
    spoken.responder = Speaker(wire, ROUNDS)
    configure(budget_tokens=200)
    with pytest.raises(BudgetSpent):
        five_rounds()
    assert len(spoken.requests) == 2


def test_a_secret_in_a_reply_is_no_part_of_what_is_traced(
    spoken: FakeServer, wire: Spoken, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[dict[str, Any]] = []
    remove = add_observer(told.append)
    spoken.responder = speaker = Speaker(wire, ROUNDS)
    assert five_rounds() == 32
    remove()
    kept = json.dumps(told)
    assert not any(json.dumps(part) in kept for part in wire.opaque(speaker.document(0)))
