"""Tools for models that have none: what such a model is asked, and how its reply is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict

import jsonschema

from runtime_support import configure, prompt
from runtime_support._core.messages import Reply, ReplyStream, Request, ToolRequest
from runtime_support._core.tasks.waits import finish
from runtime_support._local.written_tools import with_written_tools


class Toolless:
    """A model without tools, with queued replies; `requests` is what it was asked."""

    def __init__(self, *replies: str | Reply) -> None:
        self.replies = [r if isinstance(r, Reply) else Reply(r, model="small") for r in replies]
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        return finish(with_written_tools(request, self._reply_to))

    def _reply_to(self, request: Request) -> ReplyStream:
        yield from ()
        self.requests.append(request)
        return self.replies.pop(0)

    @property
    def text(self) -> str:
        """The prompt as it was last asked."""
        return self.requests[-1].messages[-1]["content"]

    def takes(self, reply: Any) -> bool:
        """Whether the schema of the last request admits the reply."""
        return jsonschema.Draft202012Validator(self.requests[-1].schema or {}).is_valid(reply)


def calling(tool: str, **arguments: Any) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


def model(*replies: str | Reply) -> Toolless:
    provider = Toolless(*replies)
    configure(provider=provider)
    return provider


def look_up(city: Literal["Oslo", "Rome"], day: int = 1) -> str:
    """The weather
    in a city."""
    return f"rain in {city}"


def test_first_there_are_only_calls() -> None:
    small = model(calling("look_up", city="Oslo"), "It rains.")
    prompt("How is it in Oslo? {look_up}", look_up=look_up, rounds=1)
    first = small.requests[0]
    assert first.tools == () and not first.must_answer and first.enforce_schema == "on"
    assert first.messages[-1]["content"] == (
        "How is it in Oslo? look_up\n\n"
        "You have these tools:\n"
        "- look_up(city, day): The weather in a city.\n"
        'Reply with {"tool": ..., "arguments": ...} to call one.'
    )


def test_the_schema_holds_the_model_to_the_tools() -> None:
    small = model(calling("look_up", city="Oslo"), calling("shout", text="a"), "done")
    prompt("{look_up} {shout}", look_up=look_up, shout=lambda text: text, rounds=1)
    small.requests.pop()
    assert small.takes({"tool": "look_up", "arguments": {"city": "Rome", "day": 2}})
    assert small.takes({"tool": "shout", "arguments": {"text": 3}})
    assert not small.takes({"tool": "look_up", "arguments": {"city": "Cairo"}})
    assert not small.takes({"tool": "shout", "arguments": {"city": "Rome"}})
    assert not small.takes({"tool": "other", "arguments": {}})
    assert not small.takes({"answer": "rain"})


def test_then_it_calls_again_or_answers() -> None:
    small = model(
        calling("look_up", city="Oslo"), calling("look_up", city="Rome"), '{"answer": "wet"}'
    )
    result = prompt("Compare. {look_up}", look_up=look_up)
    assert result.value == "wet"
    assert [call.result for call in result.tool_calls] == ["rain in Oslo", "rain in Rome"]
    assert small.text == (
        "Compare. look_up\n\n"
        "You have these tools:\n"
        "- look_up(city, day): The weather in a city.\n"
        "They gave:\n"
        '- look_up({"city": "Oslo"}): rain in Oslo\n'
        '- look_up({"city": "Rome"}): rain in Rome\n'
        'Answer with {"answer": ...}, or reply with {"tool": ..., "arguments": ...} to call one.'
    )
    assert small.takes({"answer": "wet"}) and not small.takes({"answer": 3})
    assert len(small.requests[-1].messages) == 1


def test_a_call_made_again_is_not_run_but_ends_the_calls() -> None:
    calls: list[str] = []

    def note(text: str) -> str:
        calls.append(text)
        return "noted"

    small = model(calling("note", text="a"), calling("note", text="a"), "All noted.")
    assert prompt("{note}", note=note).value == "All noted."
    assert calls == ["a"]
    assert small.text == 'note\n\nThe tools gave:\n- note({"text": "a"}): noted'
    assert small.requests[-1].schema is None


def test_a_typed_answer() -> None:
    class Weather(TypedDict):
        city: str
        degrees: int

    answer = {"city": "Oslo", "degrees": 3}
    small = model(calling("look_up", city="Oslo"), json.dumps({"answer": answer}))
    assert prompt("{look_up}", look_up=look_up, returns=Weather).value == answer
    assert small.takes({"answer": answer}) and not small.takes({"answer": {"city": "Oslo"}})


def test_an_answer_that_is_a_text_in_json() -> None:
    model(calling("look_up", city="Oslo"), '{"answer": "low"}')
    assert prompt("{look_up}", look_up=look_up, returns=Literal["low", "high"]).value == "low"


def test_definitions_belong_to_the_whole_schema() -> None:
    class Node(TypedDict):
        name: str
        children: list[Node]

    Node.__annotations__["children"] = list[Node]

    def count(tree: Node) -> int:
        return 1

    tree = {"name": "a", "children": [{"name": "b", "children": []}]}
    small = model(calling("count", tree=tree), json.dumps({"answer": tree}))
    assert prompt("{count}", count=count, returns=Node).value == tree
    assert small.takes({"answer": tree}) and small.takes(
        {"tool": "count", "arguments": {"tree": tree}}
    )
    assert not small.takes({"answer": {"name": "a", "children": [1]}})


def test_an_answer_that_was_cut_is_read_as_far_as_it_came() -> None:
    for begun, text in (
        ('{"answer": "It\\nrains', "It\nrains"),
        ('{"value": {"answer": "It rains\\', "It rains"),
        ('{"answer": "caf\\u00e', "caf"),
    ):
        model(calling("look_up", city="Oslo"), Reply(begun, finish="length"))
        asked = prompt("{look_up}", look_up=look_up, options={"on_truncated": "accept"})
        assert (asked.value, asked.finish) == (text, "length")


def test_other_replies_are_text() -> None:
    for text in ("no JSON", '{"tool": "look_up"}', "[1]"):
        model(calling("look_up", city="Oslo"), text)
        assert prompt("{look_up}", look_up=look_up).value == text


def test_the_parts_of_a_message_are_kept() -> None:
    asked: list[Request] = []

    def reply_to(request: Request) -> ReplyStream:
        yield from ()
        asked.append(request)
        return Reply(calling("look_up", city="Oslo"))

    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "http://x"}},
    ]
    tool = {"function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
    request = Request(({"role": "user", "content": parts},), tools=(tool,))
    reply = finish(with_written_tools(request, reply_to))
    assert reply.tool_calls == (ToolRequest("look_up", '{"city": "Oslo"}'),)
    content: Sequence[dict[str, Any]] = asked[0].messages[0]["content"]
    assert [*content[:2]] == parts and content[2]["text"].startswith("You have these tools")


def test_after_the_last_round_nothing_is_offered() -> None:
    small = model(calling("look_up", city="Oslo"), "wet")
    assert prompt("{look_up}", look_up=look_up, rounds=1).value == "wet"
    last = small.requests[-1]
    assert last == replace(last, tools=(), schema=None, must_answer=False)
    assert small.text.endswith('\n\nThe tools gave:\n- look_up({"city": "Oslo"}): rain in Oslo')


def test_a_reply_that_is_nested_too_deeply_is_one_without_a_call() -> None:
    small = model("[" * 100_000)
    assert prompt("How is it in Oslo? {look_up}", look_up=look_up).value == "[" * 100_000
    assert len(small.requests) == 1
