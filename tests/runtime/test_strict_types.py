"""The types by which requests are judged in tests: they have to see mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fake_server import FakeServer
from tests.support.strict_types import mistakes

TEXT: dict[str, Any] = {"role": "user", "content": "x"}
CALL: dict[str, Any] = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def body(*messages: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [TEXT], **options}


def calling(**parts: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{**CALL, **parts}]}


def test_a_request_as_it_should_be() -> None:
    assert mistakes(body()) == ""
    assert mistakes(body(temperature=0, stream=True, stream_options={"include_usage": True})) == ""
    assert (
        mistakes(body(TEXT, calling(), {"role": "tool", "tool_call_id": "1", "content": ""})) == ""
    )


@pytest.mark.parametrize(
    "wrong",
    [
        body({"role": "banana", "content": "x"}),
        body({"role": "user"}),
        body({"role": "user", "content": [{"type": "picture"}]}),
        body({"role": "tool", "content": "x"}),
        body(calling(function={"name": "f"})),
        body(nonsense=1),
        body(temperature="hot"),
        body(tools=[{"type": "function", "name": "f"}]),
        {"model": "m"},
    ],
)
def test_mistakes(wrong: dict[str, Any]) -> None:
    assert mistakes(wrong) != ""


CALLED: dict[str, Any] = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
RESULT: dict[str, Any] = {"type": "function_call_output", "call_id": "1", "output": ""}
THOUGHT: dict[str, Any] = {"type": "reasoning", "id": "1", "summary": [], "encrypted_content": "x"}


def of_responses(*items: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items) or [TEXT], **options}


@pytest.mark.parametrize(
    "right",
    [
        of_responses(temperature=0.0, stream=True, reasoning={"effort": "max"}),
        of_responses(TEXT, THOUGHT, CALLED, RESULT),
        of_responses(store=False, include=["reasoning.encrypted_content"], instructions="x"),
    ],
)
def test_responses_as_they_should_be(right: dict[str, Any]) -> None:
    assert mistakes(right, wire="responses") == ""


@pytest.mark.parametrize(
    "wrong",
    [
        of_responses({"role": "banana", "content": "x"}),
        of_responses({"role": "user", "content": [{"type": "text", "text": "x"}]}),
        of_responses({"role": "tool", "tool_call_id": "1", "content": "x"}),
        of_responses({**CALLED, "thought_signature": "x"}),
        of_responses({**THOUGHT, "summary": None}),
        of_responses(seed=1),
        of_responses(reasoning_effort="low"),
        of_responses(reasoning={"effort": "much"}),
        of_responses(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]),
        of_responses(text={"format": {"type": "json_schema", "json_schema": {"name": "x"}}}),
    ],
)
def test_mistakes_of_responses(wrong: dict[str, Any]) -> None:
    assert mistakes(wrong, wire="responses") != ""


def of_messages(*messages: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": list(messages) or [TEXT], **options}


USED: dict[str, Any] = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
SIGNED: dict[str, Any] = {"type": "thinking", "thinking": "Hm", "signature": "S"}


def said(*blocks: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def test_messages_as_they_should_be() -> None:
    returned = {"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": True}
    assert mistakes(of_messages(), wire="messages") == ""
    right = of_messages(TEXT, said(SIGNED, USED), said(returned, role="user"), stream=True)
    assert mistakes(right, wire="messages") == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "m", "messages": [TEXT]},
        of_messages({"role": "banana", "content": "x"}),
        of_messages({"role": "tool", "tool_call_id": "1", "content": "x"}),
        of_messages(said({**USED, "arguments": "{}"})),
        of_messages(said({"type": "thinking", "thinking": "Hm"})),
        of_messages(said({"type": "image_url", "image_url": {"url": "x"}}, role="user")),
        of_messages(temperature=0),
        of_messages(reasoning_effort="low"),
        of_messages(output_config={"effort": "minimal"}),
        of_messages(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]),
    ],
)
def test_mistakes_of_messages(wrong: dict[str, Any]) -> None:
    assert mistakes(wrong, wire="messages") != ""


def test_what_goes_back_is_exempt_by_name_and_place() -> None:
    assert mistakes(body(TEXT, {**calling(extra_content={}), "reasoning_details": []})) == ""
    assert mistakes(body(TEXT, calling(thought_signature="x"))) != ""
    assert mistakes(body({**TEXT, "reasoning_details": []})) != ""
    assert mistakes(body(top_k=1)) != "" and mistakes(body(top_k=1), {"top_k"}) == ""


def test_the_server_of_the_tests_fails_what_they_refuse() -> None:
    import httpx2

    with pytest.raises(AssertionError, match="banana"), FakeServer() as server:
        wrong = body({"role": "banana", "content": "x"})
        httpx2.post(f"{server.url}/chat/completions", json=wrong, trust_env=False)
