"""Replies that come in pieces: what is given when, and what holds for them as for whole ones."""

from __future__ import annotations

import gc
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count, pairwise
from operator import is_
from pathlib import Path
from typing import Any, Literal

import pytest

from runtime_support import (
    BudgetSpent,
    CheckError,
    ContractError,
    ProviderError,
    ProviderTimeout,
    Refused,
    Reply,
    Request,
    TruncatedReply,
    add_observer,
    configure,
    overlap,
    prompt,
)
from runtime_support._budgets import current_usage
from runtime_support._core.outputs.contracts import ValueOutput, contract_of
from runtime_support._recordings import close
from runtime_support._streaming.chunks import TextPieces, parts_for
from runtime_support._streaming.drafts import Drafts
from runtime_support._streaming.items import ListItems
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request
from tests.runtime.conftest import KEY, RequestClock
from tests.support.fake_server import (
    LEFT,
    FakeServer,
    calling,
    chunk,
    completion,
    ending,
    event,
    events,
    raw,
    status,
    streamed,
)
from tests.support.maps import LineMap

Script = Callable[..., Scripted]


@dataclass
class Row:
    name: str
    price: float


def text_of(*pieces: str) -> Iterator[bytes]:
    return (chunk({"content": piece}) for piece in pieces)


# What is given, and when


def test_pieces_are_those_of_the_server(server: FakeServer) -> None:
    server.answers = [streamed("Once ", "upon", " a time.")]
    result = prompt("Tell a story about {topic}.", topic="foxes", stream=True)
    assert server.requests == []
    assert list(result.pieces()) == ["Once ", "upon", " a time."]
    assert result.value == result.text == "Once upon a time."
    assert (result.usage.input_tokens, result.usage.output_tokens) == (11, 7)
    assert result.model == "fake-1"
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


def test_a_piece_is_given_before_the_next_one_is_sent(server: FakeServer) -> None:
    taken = threading.Semaphore(0)

    def parts() -> Iterator[bytes]:
        for piece in "one", " two", " three":
            yield chunk({"content": piece})
            assert taken.acquire(timeout=20)
        yield from ending()

    server.answers = [events(parts())]
    given: list[str] = []
    for piece in prompt("count", stream=True).pieces():
        given.append(piece)
        taken.release()
    assert given == ["one", " two", " three"]


@dataclass
class Numbered:
    """A row with an id of its own, which differs with each run of the constructor."""

    name: str
    id: int = field(default_factory=count().__next__)


def test_elements_with_ids_of_their_own_do_not_contradict_the_end(server: FakeServer) -> None:
    server.answers = [streamed('[{"name": "a"}, {"na', 'me": "b"}, {"name": "c"}]')]
    result = prompt("rows", returns=list[Numbered], stream=True)
    given = list(result.items())
    assert [one.name for one in given] == ["a", "b", "c"]
    assert all(map(is_, result.value, given))


def test_the_value_may_be_asked_for_without_the_pieces(server: FakeServer) -> None:
    server.answers = [streamed("a", "b")]
    result = prompt("?", stream=True)
    assert result.value == "ab"
    assert list(result.pieces()) == ["ab"]
    assert len(server.requests) == 1


def test_a_prompt_that_is_not_streamed_is_one_piece(scripted: Script) -> None:
    scripted("whole", "[1, 2]", "3")
    assert list(prompt("?").pieces()) == ["whole"]
    assert list(prompt("?", returns=list[int]).items()) == [1, 2]
    three: Any = prompt("?", returns=int)
    with pytest.raises(CheckError, match="`pieces` are of text, got int 3"):
        three.pieces()


def test_a_provider_without_a_stream_gives_one_piece(scripted: Script) -> None:
    scripted("all at once", '"quoted"')
    assert list(prompt("?", stream=True).pieces()) == ["all at once"]
    assert list(prompt("?", stream=True).pieces()) == ["quoted"]


def test_a_provider_of_ones_own_may_stream() -> None:
    class Own:
        def complete(self, request: Request) -> Reply:
            raise AssertionError("it was to stream")

        def stream(self, request: Request) -> Iterator[str]:
            return iter(["a", "b"])

    class Counting(Own):
        def stream(self, request: Request) -> Generator[str, None, Reply]:
            yield from super().stream(request)
            return Reply("ab", model="own", input_tokens=1, output_tokens=2)

    for provider, model, tokens in (Own(), "", 0), (Counting(), "own", 2):
        configure(provider=provider)
        result = prompt("?", stream=True)
        assert list(result.pieces()) == ["a", "b"]
        assert (result.model, result.usage.output_tokens) == (model, tokens)


def test_a_server_that_does_not_stream_gives_one_piece(server: FakeServer) -> None:
    server.answers = [completion("whole")]
    assert list(prompt("?", stream=True).pieces()) == ["whole"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"content-type": "text/plain"}, {"content-type": "Text/Event-Stream ; charset=utf-8"}],
    ids=["nothing", "text", "events"],
)
def test_events_are_known_by_what_they_are(server: FakeServer, headers: dict[str, str]) -> None:
    first, *others = list(streamed("a", "b").parts or ())
    parts = [b"\n", first[:3], first[3:], *others]
    server.answers = [replace(events(parts), headers=headers)]
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]


def test_a_whole_reply_is_known_by_what_it_is(server: FakeServer) -> None:
    server.answers = [replace(completion("whole"), headers={})]
    assert list(prompt("?", stream=True).pieces()) == ["whole"]


def test_what_a_server_does_not_take_is_left_out_from_then_on(server: FakeServer) -> None:
    server.answers = [
        status(400, "unknown parameter: stream_options"),
        streamed("a", "b"),
        streamed("c", "d"),
    ]
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]
    assert list(prompt("?", stream=True).pieces()) == ["c", "d"]
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


def test_a_model_that_cannot_stream_gives_one_piece(server: FakeServer) -> None:
    refusal = status(400, "Your organization must be verified to stream this model.")
    server.answers = [refusal, completion("whole"), completion("again")]
    assert list(prompt("?", stream=True).pieces()) == ["whole"]
    assert list(prompt("?", stream=True).pieces()) == ["again"]
    assert ["stream" in body for body in server.bodies] == [True, False, False]


def test_text_before_a_call_is_given_as_well(server: FakeServer) -> None:
    def look(city: str) -> str:
        return f"3 degrees in {city}"

    both = json.loads(calling(("look", {"city": "Oslo"})).body)
    both["choices"][0]["message"]["content"] = "Let me look."
    server.answers = [raw(json.dumps(both).encode()), completion("3 degrees.")]
    result = prompt("How warm is Oslo? {look}", look=look, stream=True)
    assert list(result.pieces()) == ["Let me look.", "\n\n", "3 degrees."]
    assert result.value == "3 degrees."
    assert [call.result for call in result.tool_calls] == ["3 degrees in Oslo"]


@pytest.mark.parametrize(
    ("said", "between"), [("Let me look.\n", "\n"), ("One:\n\n", ""), ("\n", ""), ("", "")]
)
def test_a_blank_line_is_between_the_texts_of_two_rounds(
    server: FakeServer, said: str, between: str
) -> None:
    def look() -> str:
        return "3 degrees"

    both = json.loads(calling(("look", {})).body)
    both["choices"][0]["message"]["content"] = said
    server.answers = [raw(json.dumps(both).encode()), completion("3 degrees.")]
    pieces = prompt("How warm is it?", tools=[look], stream=True).pieces()
    assert "".join(pieces) == f"{said}{between}3 degrees."


def test_the_answer_comes_in_pieces_while_tools_are_on_offer(server: FakeServer) -> None:
    def look(city: str) -> str:
        return f"3 degrees in {city}"

    server.answers = [calling(("look", {"city": "Oslo"})), streamed("3 ", "degrees.")]
    pieces = prompt("How warm is Oslo?", tools=[look], stream=True).pieces()
    assert next(pieces) == "3 "
    assert [bool(body["tools"]) for body in server.bodies] == [True, True]
    assert list(pieces) == ["degrees."]
    assert all("stream" in body for body in server.bodies)


def test_a_conversation_goes_on_after_a_stream(server: FakeServer) -> None:
    server.answers = [streamed("a ", "fox"), streamed("The ", "Fox")]
    story = prompt("A story.", stream=True)
    assert "".join(story.pieces()) == "a fox"
    assert "".join(prompt("A title.", after=story, stream=True).pieces()) == "The Fox"
    assert [m["content"] for m in server.bodies[1]["messages"]] == ["A story.", "a fox", "A title."]


# Elements of lists


def test_elements_are_given_as_soon_as_they_are_whole(server: FakeServer) -> None:
    taken = threading.Semaphore(0)

    def parts() -> Iterator[bytes]:
        yield from text_of('{"value": [{"name": "a, ]", ', '"price": 1}', ",")
        assert taken.acquire(timeout=20)
        yield from text_of(' {"name": "\\"b', '\\\\", "price": 2.5}]}')
        yield from ending()

    server.answers = [events(parts())]
    result = prompt("rows", returns=list[Row], stream=True)
    given: list[Row] = []
    for row in result.items():
        given.append(row)
        taken.release()
    assert given == [Row("a, ]", 1.0), Row('"b\\', 2.5)]
    assert result.value == given
    assert result.value[0] is given[0]


def test_elements_may_be_changed_by_whoever_gets_them(server: FakeServer) -> None:
    server.answers = [streamed('[{"n": 1}', ', {"n": 2}', "]")]
    result = prompt("?", returns=list[dict[str, int]], stream=True)
    for row in result.items():
        row["seen"] = 1
    assert result.value == [{"n": 1, "seen": 1}, {"n": 2, "seen": 1}]


def test_a_list_that_is_mended_is_given_at_its_end(server: FakeServer) -> None:
    server.answers = [streamed("Here: [1,", " 2", ", 3,]")]
    assert list(prompt("?", returns=list[int], stream=True).items()) == [1, 2, 3]
    server.answers = [streamed("```json\n", "[1,", " 2", "]\n```")]
    assert list(prompt("?", returns=list[int], stream=True).items()) == [1, 2]


def test_an_element_that_is_wrong_fails_where_it_stands(server: FakeServer) -> None:
    server.answers = [streamed("[1, 2,", ' "three", 4]')]
    given: list[int] = []
    with pytest.raises(ContractError, match=r"value\[2\]"):
        given += prompt("?", returns=list[int], stream=True).items()
    given = []
    items = prompt("?", returns=list[int], stream=True).items()
    with pytest.raises(ContractError):
        for item in items:
            given.append(item)
    assert given == [1, 2]
    assert len(server.requests) == 2


def test_before_anything_is_given_it_is_asked_again(server: FakeServer) -> None:
    server.answers = [streamed('["one"', "]"), streamed("[1", ", 2]")]
    result = prompt("?", returns=list[int], stream=True)
    assert list(result.items()) == [1, 2]
    assert len(server.requests) == 2 and len(result.repairs) == 1


def test_of_a_reply_that_was_no_use_nothing_is_left(server: FakeServer) -> None:
    server.answers = [streamed(" ", "\n"), streamed("He", "llo"), streamed("no"), streamed("[1]")]
    assert list(prompt("?", stream=True).pieces()) == ["He", "llo"]
    assert list(prompt("?", returns=list[int], stream=True).items()) == [1]
    assert len(server.requests) == 4


def test_a_stream_has_the_parts_of_its_kind(scripted: Script) -> None:
    scripted()
    with pytest.raises(CheckError, match="several fields do not come in parts"):
        prompt("?", fields={"a": int, "b": int}, stream=True)
    with pytest.raises(CheckError, match="`pieces` are of text"):
        prompt("?", returns=int, stream=True).pieces()  # type: ignore[misc]
    rows = prompt("?", returns=list[int], stream=True)
    wrong: Any = rows
    with pytest.raises(CheckError, match="`pieces` are of text"):
        wrong.pieces()
    text: Any = prompt("?", stream=True)
    with pytest.raises(CheckError, match="`items` are of a list"):
        text.items()


# Drafts


@dataclass
class Post:
    title: str
    kind: Literal["news", "newest"]
    pages: int
    author: Row | None
    rows: list[Row]
    price: Decimal
    counts: dict[str, int]


POST = (
    '{"title": "a \\"[fox", "kind": "newest", "pages": 120, "author": {"name": "Ada", "price": 2},'
    ' "rows": [{"name": "x{", "price": 1}, {"name": "y", "price": 2}], "price": 1.50,'
    ' "counts": {"a": 10, "b": 3}}'
)
WHOLE = {
    "title": 'a "[fox',
    "kind": "newest",
    "pages": 120,
    "author": {"name": "Ada", "price": 2.0},
    "rows": [Row("x{", 1.0), Row("y", 2.0)],
    "price": Decimal("1.50"),
    "counts": {"a": 10, "b": 3},
}
NOTHING = dict.fromkeys(WHOLE)


def test_a_draft_has_what_has_come(server: FakeServer) -> None:
    server.answers = [
        streamed(
            '{"title": "a f',
            'ox", "kind": "news',
            '", "pages": 12',
            '0, "author": {"name": "A',
            'da", "price": 2}, "rows": [{"name": "x", "price": 1}, {"na',
            'me": "y", "price": 2}], "price": "1.50", "counts": {"a": 10, "b": 3',
            "}}",
        )
    ]
    result = prompt("?", returns=Post, stream=True)
    drafts = list(result.drafts())
    first = NOTHING | {"title": "a f"}
    titled = first | {"title": "a fox"}
    kind = titled | {"kind": "news"}
    paged = kind | {"pages": 120}
    authored = paged | {"author": {"name": "Ada", "price": 2.0}}
    assert drafts == [
        first,
        titled,
        kind,
        paged | {"author": {"name": "A", "price": None}},
        authored | {"rows": [Row("x", 1.0)]},
        authored
        | {"rows": [Row("x", 1.0), Row("y", 2.0)], "price": Decimal("1.50"), "counts": {"a": 10}},
        authored
        | {"rows": [Row("x", 1.0), Row("y", 2.0)], "price": Decimal("1.50")}
        | {"counts": {"a": 10, "b": 3}},
    ]
    assert isinstance(result.value, Post) and result.value.author == Row("Ada", 2.0)
    assert list(result.drafts()) == drafts[-1:]


@pytest.mark.parametrize("before", ["", "```json\n"])
def test_however_a_reply_is_cut_its_drafts_grow(before: str) -> None:
    reply = before + POST + ("\n```" if before else "")
    for size in range(1, 60):
        output = ValueOutput(contract_of(Post))
        given = list(_drafts_in_pieces(output, reply, size))
        assert given[-1] == WHOLE
        assert not output.has_given
        for earlier, later in pairwise(given):
            assert all(_grows(earlier[name], later[name]) for name in WHOLE)
    assert len(list(_drafts_in_pieces(ValueOutput(contract_of(Post)), reply, len(reply)))) == 1


def _drafts_in_pieces(output: ValueOutput, reply: str, size: int) -> Iterator[Any]:
    drafts = Drafts(output)
    for start in range(0, len(reply), size):
        yield from drafts.feed(reply[start : start + size])
    output.accept(reply)
    yield from drafts.rest(output.value)


def _grows(earlier: Any, later: Any) -> bool:
    if isinstance(earlier, str):
        return later.startswith(earlier)
    if isinstance(earlier, list):
        return later[: len(list[Any](earlier))] == earlier
    if isinstance(earlier, dict):
        return all(one is None or _grows(one, later[key]) for key, one in dict(earlier).items())
    return earlier is None or earlier == later


def test_a_draft_of_text_and_of_a_list(server: FakeServer) -> None:
    server.answers = [
        streamed("a ", "fox"),
        streamed("[1, 2", ", 3]"),
        streamed('{"a": [1, 2', '], "b": "c'),
        streamed("12", "3"),
    ]
    assert list(prompt("?", stream=True).drafts()) == ["a ", "a fox"]
    rows = prompt("?", returns=list[int], stream=True)
    assert list(rows.drafts()) == [[1], [1, 2, 3]]
    anything = prompt("?", returns=Any, stream=True).drafts()
    assert [next(anything), next(anything)] == [{"a": [1]}, {"a": [1, 2], "b": "c"}]
    assert list(prompt("?", returns=int, stream=True).drafts()) == [123]


def test_text_before_a_call_is_no_part_of_a_draft(server: FakeServer) -> None:
    def look() -> str:
        return "3 degrees"

    both = json.loads(calling(("look", {})).body)
    both["choices"][0]["message"]["content"] = "Let me look."
    server.answers = [raw(json.dumps(both).encode()), streamed("3 ", "degrees.")]
    drafts = list(prompt("How warm is it?", tools=[look], stream=True).drafts())
    assert drafts == ["3 ", "3 degrees."]


def test_a_journal_gives_the_same_drafts(server: FakeServer, tmp_path: Path) -> None:
    server.answers = [streamed('{"name": "a', 'b", "price": 1}')]

    def drafts() -> list[Any]:
        with journaled(tmp_path / "run.journal"):
            return list(prompt("?", returns=Row, stream=True).drafts())

    assert drafts() == drafts() == [{"name": "a", "price": None}, {"name": "ab", "price": 1.0}]
    assert len(server.requests) == 1


def test_after_drafts_a_wrong_reply_is_asked_again(server: FakeServer) -> None:
    server.answers = [
        streamed('{"name": "a', '", "price": "much"', "}"),
        streamed('{"name": "b"', ', "price": 1}'),
    ]
    result = prompt("?", returns=Row, stream=True)
    assert list(result.drafts()) == [
        {"name": "a", "price": None},
        {"name": "b", "price": None},
        {"name": "b", "price": 1.0},
    ]
    assert len(result.repairs) == 1 and result.value == Row("b", 1.0)


@pytest.mark.parametrize(
    "reply",
    [
        'Sure: {"name": "a", "price": 1}',
        '{"name": "a", "price": 1, "name": "b"}',
        "not JSON",
        '{"name": ]',
        '{"name": "\ud83d',
    ],
)
def test_of_what_is_not_plain_there_is_no_draft(reply: str) -> None:
    drafts = Drafts(ValueOutput(contract_of(Row)))
    given = [draft for one in reply for draft in drafts.feed(one)]
    assert all(draft["price"] is None or reply.startswith('{"name": "a"') for draft in given)


def test_a_prompt_that_is_not_streamed_is_one_draft(scripted: Script) -> None:
    scripted('{"name": "a", "price": 1}', "whole", "[1]")
    assert list(prompt("?", returns=Row).drafts()) == [{"name": "a", "price": 1.0}]
    assert list(prompt("?").drafts()) == ["whole"]
    assert list(prompt("?", returns=list[int]).drafts()) == [[1]]


def test_drafts_load_their_part_when_they_are_asked_for() -> None:
    program = (
        "import sys\nfrom runtime_support import configure, prompt\n"
        "from runtime_support.testing import Scripted\n"
        "configure(provider=Scripted(['a', '[1]']))\n"
        "list(prompt('?', stream=True).pieces())\n"
        "list(prompt('?', returns=list[int], stream=True).items())\n"
        "print('runtime_support._streaming.drafts' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


REPLIES = [
    '[{"name": "a", "price": 1}, {"name": "b]", "price": 2e3}]',
    ' \n[ {"name": "x\\u00e9\\\\", "price": 0.5 } ]',
    "[]",
    '```json\n[{"name": "a", "price": 1}]\n```',
    'Sure: [{"name": "a", "price": 1},]',
]


@pytest.mark.parametrize("reply", REPLIES)
def test_however_a_list_is_cut_the_elements_are_the_same(reply: str) -> None:
    for size in range(1, len(reply) + 1):
        output = ValueOutput(contract_of(list[Row]))
        parts = parts_for(output)
        given: list[Any] = []
        for start in range(0, len(reply), size):
            given += parts.feed(reply[start : start + size])
        early = len(given)
        output.accept(reply)
        given += parts.rest(output.value)
        assert isinstance(parts, ListItems) and given == output.value
        assert early == (0 if reply.startswith("Sure") else len(given))


@pytest.mark.parametrize(
    "reply",
    [
        *('"Hi," he said.', '"all of it"', ' "a\\"b" ', '"open', '"a\nb"', '""', "x", '"\\ud83d'),
        *("<think>Hm.</think>\n Hi.", "<Thinking>a</thinking><think>b</think>Hi.", "<thin>k"),
        *('<think>Hm.</think>"Hi."', "<", "<think", "[1] is a note", "{name}"),
    ],
)
@pytest.mark.parametrize("has_tools", [False, True])
def test_however_text_is_cut_the_pieces_are_its_value(reply: str, has_tools: bool) -> None:
    for size in range(1, len(reply) + 1):
        from runtime_support._core.outputs.outputs import TextOutput

        output = TextOutput()
        output.has_tools = has_tools
        parts = parts_for(output)
        given: list[Any] = []
        for start in range(0, len(reply), size):
            given += parts.feed(reply[start : start + size])
        output.accept(reply)
        given += parts.rest(output.value)
        assert isinstance(parts, TextPieces) and "".join(given) == output.value


def test_of_thinking_before_a_text_no_piece_is_given(server: FakeServer) -> None:
    server.answers = [streamed("<thi", "nk>Hm.", "</thi", "nk>", "\n", "Hello", " there.")]
    result = prompt("?", stream=True)
    assert list(result.pieces()) == ["Hello", " there."]
    assert result.repairs == ["thinking removed"]


def test_of_a_call_as_text_no_piece_is_given(server: FakeServer) -> None:
    def temp(city: str) -> float:
        return 3.5

    call = '{"name": "temp", "arguments": {"city": "Oslo"}}'
    server.answers = [streamed("<tool_call>", call, "</tool_call>"), streamed("It is", " cold.")]
    result = prompt("{temp}", temp=temp, stream=True)
    assert list(result.pieces()) == ["It is", " cold."]
    assert result.repairs == ["asked again: a call of `temp` was written as text"]


def test_halves_of_a_character_are_one(server: FakeServer) -> None:
    server.answers = [streamed("a \ud83e", "\udd8a", " b")]
    assert list(prompt("?", stream=True).pieces()) == ["a ", "\U0001f98a", " b"]


def test_half_of_a_character_at_the_end_is_told(server: FakeServer) -> None:
    server.answers = [streamed("a \ud83e")]
    result = prompt("?", stream=True)
    assert "".join(result.pieces()) == result.value == "a \ufffd"


def test_a_server_with_too_much_to_do_is_waited_for(server: FakeServer) -> None:
    server.answers = [status(429, retry_after_ms=10), streamed("a", "b")]
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]
    server.answers = [status(401, f"wrong key {KEY}")]
    with pytest.raises(ProviderError) as caught:
        list(prompt("?", stream=True).pieces())
    assert KEY not in str(caught.value)
    assert len(server.requests) == 3


# What ends a stream


def test_a_prompt_in_the_loop_does_not_wait_for_its_end(server: FakeServer) -> None:
    # After the refusal, one request at once is what the server is asked.
    server.answers = [status(429, retry_after_ms=1), streamed("a", "b"), completion("in between")]
    configure(max_wait=1)
    pieces = prompt("?", stream=True).pieces()
    assert next(pieces) == "a"
    assert prompt("!").value == "in between"
    assert list(pieces) == ["b"]


def test_to_leave_the_loop_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([*text_of("one", "two"), LEFT])]
    result = prompt("?", stream=True)
    for piece in result.pieces():
        assert piece == "one"
        break
    assert server.was_left.wait(20)
    with pytest.raises(CheckError, match="the reply is not complete"):
        _ = result.value


def test_a_failure_in_the_loop_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([*text_of("one", "two"), LEFT])]
    with pytest.raises(ZeroDivisionError):
        for _ in prompt("?", stream=True).pieces():
            _ = 1 // 0
    assert server.was_left.wait(20)


def test_ctrl_c_closes_the_connection(server: FakeServer) -> None:
    server.answers = [events([*text_of("one"), LEFT])]
    environment = {**os.environ, "SAFT_BASE_URL": server.url, "SAFT_PROVIDER": "openai"}
    text = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from runtime_support import prompt\n"
        "for piece in prompt('?', stream=True).pieces(): print(piece, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", text],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "one\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output == "" and errors.rstrip().endswith("KeyboardInterrupt")
    assert server.was_left.wait(20)


def test_a_broken_connection_is_an_error_with_the_text(server: FakeServer) -> None:
    server.answers = [events([*text_of("Once ", "upon", " a")], cut_after=2), streamed("again")]
    given: list[str] = []
    with pytest.raises(ProviderError) as caught:
        for piece in prompt("?", stream=True).pieces():
            given.append(piece)
    assert given == ["Once ", "upon"]
    assert caught.value.text == "Once upon"
    assert "9 characters of the reply had come" in str(caught.value)
    assert len(server.requests) == 1


def test_an_end_without_a_reason_is_an_error(server: FakeServer) -> None:
    server.answers = [events(text_of("Once ", "upon"))]
    with pytest.raises(ProviderError, match="it has no end; 9 characters") as caught:
        list(prompt("?", stream=True).pieces())
    assert caught.value.text == "Once upon"


def test_what_breaks_before_the_first_piece_is_tried_again(server: FakeServer) -> None:
    server.answers = [events([chunk({"role": "assistant"})]), status(503), streamed("a", "b")]
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]
    assert len(server.requests) == 3


def test_an_error_that_is_reported_in_the_middle(server: FakeServer) -> None:
    failure = event({"error": {"message": f"out of memory {KEY}"}})
    server.answers = [events([*text_of("Once "), failure])]
    with pytest.raises(ProviderError, match="the server reports: out of memory") as caught:
        list(prompt("?", stream=True).pieces())
    assert caught.value.text == "Once " and KEY not in str(caught.value)


def test_what_is_no_json_is_an_error(server: FakeServer) -> None:
    server.answers = [events([*text_of("Once "), b"data: {nonsense\n\n"])]
    with pytest.raises(ProviderError, match=r"is not JSON: \{nonsense; 5 characters of the reply"):
        list(prompt("?", stream=True).pieces())


def test_the_model_may_stop_and_refuse(server: FakeServer) -> None:
    server.answers = [streamed("[1, 2, ", "3", finish="length")]
    given: list[int] = []
    with pytest.raises(TruncatedReply):
        for item in prompt("?", returns=list[int], stream=True).items():
            given.append(item)
    assert given == [1, 2]
    server.answers = [streamed("once ", "upon", finish="length")] * 2
    heard: list[str] = []
    with pytest.raises(TruncatedReply) as caught:
        for piece in prompt("?", stream=True).pieces():
            heard.append(piece)
    assert "".join(heard) == caught.value.text == "once upon"
    story = prompt("?", stream=True, options={"on_truncated": "accept"})
    assert ["".join(story.pieces()), story.value, story.finish] == ["once upon"] * 2 + ["length"]
    server.answers = [events([chunk({"refusal": "I "}), chunk({"refusal": "won't."}), *ending()])]
    with pytest.raises(Refused, match="won't"):
        list(prompt("?", stream=True).pieces())


def test_pieces_are_read_by_one(server: FakeServer) -> None:
    server.answers = [streamed("a", "b")]
    result = prompt("?", stream=True)
    pieces = result.pieces()
    assert next(pieces) == "a"
    with pytest.raises(CheckError, match="the reply is not complete"):
        result.pieces()
    assert list(pieces) == ["b"]


def test_a_loop_that_begins_later_gets_the_whole(server: FakeServer) -> None:
    server.answers = [streamed("a", "b")]
    result = prompt("?", stream=True)
    first, second, third = result.pieces(), result.pieces(), result.pieces()
    assert next(first) == "a"
    with pytest.raises(CheckError, match="the reply is not complete"):
        next(second)
    assert list(first) == ["b"]
    assert list(third) == ["ab"]
    assert len(server.requests) == 1


def test_a_failure_is_told_again(server: FakeServer) -> None:
    server.answers = [status(401)]
    result = prompt("?", stream=True)
    for ask in lambda: list(result.pieces()), lambda: result.value:
        with pytest.raises(ProviderError, match="401"):
            ask()
    assert len(server.requests) == 1


# Bounds


def test_the_bytes_of_a_stream_are_bounded(server: FakeServer) -> None:
    server.answers = [events(chunk({"content": "and "}) for _ in count())]
    given: list[str] = []
    with pytest.raises(ProviderError, match="more than 10000 bytes") as caught:
        for piece in prompt("?", options={"max_reply_bytes": 10_000}, stream=True).pieces():
            given.append(piece)
    assert caught.value.text == "".join(given) and 20 < len(given) < 100
    assert server.was_left.wait(20)


def test_they_are_counted_unpacked(server: FakeServer) -> None:
    body = gzip.compress(b"".join(text_of(*["x" * 1000] * 1000)))
    packed = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    server.answers = [raw(body)]
    server.answers[0].headers.update(packed)
    with pytest.raises(ProviderError, match="more than 100000 bytes"):
        list(prompt("?", options={"max_reply_bytes": 100_000}, stream=True).pieces())
    body = gzip.compress(b"".join([*text_of("a", "b"), *ending()]))
    server.answers = [raw(body)]
    server.answers[0].headers.update(packed)
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]


def test_the_time_of_a_stream_is_bounded(server: FakeServer, request_clock: RequestClock) -> None:
    was_taken = threading.Event()

    def parts() -> Iterator[bytes]:
        yield from text_of("Once")
        assert was_taken.wait(20)
        while not server.was_left.is_set():  # what is skipped while nobody reads does not count
            request_clock.skip(61)
            yield b": nothing yet\n\n"

    server.answers = [events(parts())]
    with pytest.raises(ProviderTimeout, match=r"within 60 s") as caught:
        for _ in prompt("?", options={"timeout": 60}, stream=True).pieces():
            was_taken.set()
    assert caught.value.text == "Once"
    assert server.was_left.wait(20)


def test_the_time_in_which_nobody_reads_does_not_count(
    server: FakeServer, request_clock: RequestClock
) -> None:
    taken = threading.Semaphore(0)

    def parts() -> Iterator[bytes]:
        for piece in "one", "two", "three":
            yield chunk({"content": piece})
            assert taken.acquire(timeout=20)
        yield from ending()

    server.answers = [events(parts())]
    given: list[str] = []
    for piece in prompt("?", options={"timeout": 30}, stream=True).pieces():
        given.append(piece)
        request_clock.skip(25)
        taken.release()
    assert given == ["one", "two", "three"]


def test_a_budget_counts_streams_and_what_was_left(server: FakeServer) -> None:
    configure(budget_requests=2)
    server.answers = [streamed("a", "b"), events([*text_of("x" * 400, "y"), LEFT])]
    assert list(prompt("?", stream=True).pieces()) == ["a", "b"]
    assert (current_usage().requests, current_usage().tokens) == (1, 18)
    for _ in prompt("?", stream=True).pieces():
        break
    assert current_usage().output_tokens == 7 + 100
    with pytest.raises(BudgetSpent):
        list(prompt("?", stream=True).pieces())
    assert len(server.requests) == 2


# Runs


def test_a_connection_serves_again(server: FakeServer) -> None:
    server.answers = [streamed("a", "b")]
    for _ in range(3):
        assert list(prompt("?", stream=True).pieces()) == ["a", "b"]
    assert len({request.port for request in server.requests}) == 1


def test_a_stream_is_recorded_and_replayed_whole(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(tmp_path / "replies.jsonl")
    server.answers = [streamed("a", "b"), streamed("[1, ", "2]")]
    monkeypatch.setenv("SAFT_RECORD", path)
    assert list(prompt("text", stream=True).pieces()) == ["a", "b"]
    assert list(prompt("list", returns=list[int], stream=True).items()) == [1, 2]
    monkeypatch.delenv("SAFT_RECORD")
    close(path)
    monkeypatch.setenv("SAFT_REPLAY", path)
    assert list(prompt("text", stream=True).pieces()) == ["ab"]
    assert list(prompt("list", returns=list[int], stream=True).items()) == [1, 2]
    assert len(server.requests) == 2


def test_a_stream_that_was_left_is_replayed_to_there(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(tmp_path / "replies.jsonl")
    server.answers = [events([*text_of("one", "two"), LEFT])]
    monkeypatch.setenv("SAFT_RECORD", path)
    for _ in prompt("text", stream=True).pieces():
        break
    assert server.was_left.wait(20)
    monkeypatch.delenv("SAFT_RECORD")
    close(path)
    monkeypatch.setenv("SAFT_REPLAY", path)
    pieces = prompt("text", stream=True).pieces()
    assert next(pieces) == "one"
    with pytest.raises(ProviderError, match="the stream was closed before"):
        next(pieces)


def test_a_journal_keeps_streams(server: FakeServer, tmp_path: Path) -> None:
    path = str(tmp_path / "run.journal")
    server.answers = [streamed("a", "b"), events([*text_of("one", "two"), LEFT]), streamed("c")]
    with journaled(path):
        assert list(prompt("first", stream=True).pieces()) == ["a", "b"]
        for _ in prompt("second", stream=True).pieces():
            break
    with journaled(path):
        assert list(prompt("first", stream=True).pieces()) == ["a", "b"], "in the same pieces"
        assert list(prompt("second", stream=True).pieces()) == ["c"]
    assert len(server.requests) == 3


def test_observers_see_a_stream_as_one_reply(server: FakeServer) -> None:
    told: list[tuple[Any, ...]] = []
    remove = add_observer(lambda e: told.append((e["event"], e.get("text"), e.get("error"))))
    server.answers = [streamed("a", "b"), events([*text_of("one", "two"), LEFT])]
    assert list(prompt("first", stream=True).pieces()) == ["a", "b"]
    for _ in prompt("second", stream=True).pieces():
        break
    remove()
    assert told == [
        ("request", None, None),
        ("reply", "ab", None),
        ("request", None, None),
        ("failure", None, "ProviderError"),
    ]


def test_a_call_that_runs_ahead_streams_in_its_turn(server: FakeServer) -> None:
    def respond(body: dict[str, Any]) -> Any:
        asked = body["messages"][0]["content"]
        return streamed(asked, "!") if body.get("stream") else completion(asked)

    server.responder = respond
    seen: list[str] = []

    def told(n: int) -> str:
        seen.extend(prompt("{n}", n=n, stream=True).pieces())
        return prompt("after {n}", n=n).value

    assert list(overlap(told, range(5))) == [f"after {n}" for n in range(5)]
    assert seen == [part for n in range(5) for part in (str(n), "!")]


def test_a_failed_stream_has_its_position(server: FakeServer) -> None:
    server.answers = [events(text_of("Once "))]
    with pytest.raises(ProviderError) as caught:
        list(prompt("?", stream=True).pieces())
    assert caught.value.saft_position == f"story.saft:{position_line()}:13"


def position_line() -> int:
    return test_a_failed_stream_has_its_position.__code__.co_firstlineno + 3


__saft_source_map__ = LineMap("story.saft")


def test_a_call_comes_in_pieces(server: FakeServer) -> None:
    """With a last round that must answer, servers may still send calls: they are over the limit."""
    parts = [
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "lo"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"name": "ok", "arguments": '{"ci'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'ty": "Oslo"}'}}]}),
        *ending("tool_calls"),
    ]

    def look(city: str) -> str:
        return city

    server.answers = [calling(("look", {"city": "Rome"})), events(parts)]
    from runtime_support import ToolLimitError

    with pytest.raises(ToolLimitError) as caught:
        list(prompt("{look}", look=look, rounds=1, stream=True).pieces())
    assert [call.args for call in caught.value.tool_calls] == [{"city": "Rome"}]


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_embedded_model_streams() -> None:
    configure(provider="local", max_tokens=24, on_truncated="accept")
    result = prompt("Count from one to five in words.", stream=True)
    pieces = list(result.pieces())
    assert len(pieces) > 2 and "".join(pieces) == result.value
    assert result.usage.output_tokens > 0


def test_scripted_calls_run_before_the_answer(scripted: Script) -> None:
    def look(city: str) -> str:
        return city

    scripted(tool_request("look", city="Oslo"), "It is Oslo.")
    assert list(prompt("{look}", look=look, stream=True).pieces()) == ["It is Oslo."]


def test_a_stream_that_the_collector_ends_waits_for_nobody(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted("first", "next", budget_requests=10)
    pieces = prompt("?", stream=True).pieces()
    dropped: list[Any] = [pieces]
    dropped.append(dropped)
    assert next(pieces) == "first"
    del dropped, pieces
    original = Request.canonical

    def collecting(request: Request) -> dict[str, Any]:
        gc.collect()
        return original(request)

    # The request is looked at while its budget is: in the middle of counting.
    monkeypatch.setattr(Request, "canonical", collecting)
    assert prompt("?").value == "next"
