"""What stands beside a prompt's value, and what a result is where a value is meant."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypedDict

import pytest

from runtime_support import CheckError, Result, check, ops, prompt
from runtime_support._core import tools
from runtime_support._core.messages import Reply
from runtime_support.ops import show, to_json
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]


class City(TypedDict):
    name: str


def look_up(city: str) -> str:
    if city == "Atlantis":
        raise LookupError("not on the map")
    return f"{city} is cold"


@pytest.fixture
def asked(scripted: Script, monkeypatch: pytest.MonkeyPatch) -> Result[str]:
    clock = itertools.count(1.0, 0.02)
    stub = SimpleNamespace(perf_counter=lambda: next(clock), time=lambda: 0.0)
    monkeypatch.setattr(tools, "time", stub)
    scripted(
        Reply("", (tool_request("look_up", city="Oslo"),), "tool_calls", "m-1", 10, 5),
        Reply("", (tool_request("look_up", city="Atlantis"),), "tool_calls", "m-1", 20, 5),
        Reply("Oslo.", model="m-2", input_tokens=30, output_tokens=1),
    )
    return prompt("{look_up}?", look_up=look_up)


def test_the_history(asked: Result[str]) -> None:
    assert asked.value == ops.member(asked, "value") == "Oslo."
    assert ops.member(asked, "text") == "Oslo."
    assert ops.member(asked, "model") == "m-2"
    usage = ops.member(asked, "usage")
    names = ("input_tokens", "output_tokens", "requests")
    assert [ops.member(usage, name) for name in names] == [60, 11, 3]


def test_the_calls_of_tools(asked: Result[str]) -> None:
    calls = ops.each(ops.member(asked, "toolCalls"))
    members = [
        [ops.member(call, name) for name in ("tool", "args", "result", "error")] for call in calls
    ]
    assert members == [
        ["look_up", {"city": "Oslo"}, "Oslo is cold", None],
        ["look_up", {"city": "Atlantis"}, None, "LookupError: not on the map"],
    ]
    durations = [ops.member(call, "duration") for call in calls]
    assert durations == pytest.approx([20, 20]), "in milliseconds"
    assert show(calls[1]).startswith(
        'ToolCall(tool: "look_up", args: {city: "Atlantis"}, result: nil, error: "LookupError'
    )


def test_what_a_tool_gives_is_text_and_json_for_other_values(scripted: Script) -> None:
    given: list[Any] = ["text", 3, [1, "é"], {"a": None}, None, True, (1,)]

    def give(position: int) -> Any:
        return given[position]

    scripted([tool_request("give", position=position) for position in range(len(given))], "done")
    results = [call.result for call in prompt("{give}", give=give).tool_calls]
    assert results == ["text", "3", '[1,"é"]', '{"a":null}', "null", "true", "[1]"]


def test_used_as_a_value_it_is_the_value(asked: Result[str], scripted: Script) -> None:
    assert ops.add("Answer: ", asked) == "Answer: Oslo."
    assert ops.eq(asked, "Oslo.")
    assert ops.upper(asked) == "OSLO."  # type: ignore[arg-type]
    assert ops.truthy(asked)
    assert ops.type(asked) == "string"
    assert show(asked) == ops.str(asked) == f"{asked}" == "Oslo."
    assert to_json([asked]) == '["Oslo."]'
    assert check(asked, str) == "Oslo."

    def length(text: str) -> int:
        return len(text)

    assert ops.call(length, asked) == 5
    model = scripted("fine")
    prompt("what of {ret}, {ret:raw}?", ret=asked)
    assert model.requests[0].messages[0]["content"] == 'what of "Oslo.", Oslo.?'


def test_json_as_text_has_members_and_items(scripted: Script) -> None:
    scripted('{"name": "Ada", "tags": ["a"]}', '["x", "y"]', "plain")
    record, items, text = prompt("?"), prompt("?"), prompt("?")
    assert isinstance(record.value, str), "the value itself stays text"
    assert ops.member(record, "name") == "Ada"
    assert ops.member(ops.member(record, "value"), "tags") == ["a"]
    assert ops.index(record, "name") == "Ada"
    assert ops.index(items, 1) == "y"
    assert ops.index(text, 0) == "p"
    with pytest.raises(LookupError, match="its fields are name, tags; did you mean `name`"):
        ops.member(record, "nam")


def test_typed_values_have_members_and_items(scripted: Script) -> None:
    scripted('[{"name": "Oslo"}]', '{"name": "Oslo"}')
    cities, city = prompt("?", returns=list[City]), prompt("?", returns=City)
    assert ops.index(ops.index(cities, 0), "name") == ops.member(city, "name") == "Oslo"
    assert list(ops.each(cities)) == [{"name": "Oslo"}]
    assert ops.len(cities) == 1


def test_a_text_cannot_be_gone_over(asked: Result[str]) -> None:
    with pytest.raises(CheckError) as caught:
        ops.each(asked)
    assert str(caught.value) == "cannot iterate over a result; use .toolCalls or .value"


def test_a_plain_value_says_where_its_history_went(asked: Result[str]) -> None:
    for plain in (asked.value, [asked.value], 3, {"a": 1}, None):
        with pytest.raises(CheckError, match="annotate it as a whole result: `r: Result`"):
            ops.member(plain, "toolCalls")
    assert ops.member({"toolCalls": 1}, "toolCalls") == 1


def test_a_result_can_be_kept_and_shown(asked: Result[str]) -> None:
    assert repr(asked) == "Result('Oslo.')"
    assert json.loads(to_json(asked.tool_calls[0]))["args"] == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('```json\n{"name": "Al"}\n```', {"name": "Al"}),
        ("\n```\n[1, 2]\n```\n", [1, 2]),
        ('{"name": "Al"}', {"name": "Al"}),
        ("```json\n7\n```", "```json\n7\n```"),
        ('```json\n{"name": \n```', '```json\n{"name": \n```'),
        ("```\n{}\n```\n```\n{}\n```", "```\n{}\n```\n```\n{}\n```"),
        ("Here it is:\n```\n{}\n```", "Here it is:\n```\n{}\n```"),
        ('Here it is:\n```json\n{"name": "Al"}\n```\nBye!', {"name": "Al"}),
        ("Here it is:\n```json\n7\n```", "Here it is:\n```json\n7\n```"),
        (
            "A:\n```json\n{}\n```\nB:\n```json\n{}\n```",
            "A:\n```json\n{}\n```\nB:\n```json\n{}\n```",
        ),
        ('The answer is {"name": "Al"}.', 'The answer is {"name": "Al"}.'),
    ],
)
def test_the_value_of_text_is_read_through_one_code_fence(
    scripted: Script, reply: str, value: Any
) -> None:
    scripted(reply)
    result = prompt("?")
    assert ops.member(result, "value") == value
    assert (result.value, result.text) == (reply, reply)
