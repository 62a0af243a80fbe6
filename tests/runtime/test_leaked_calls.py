"""A call of a tool that a model has written as text is no answer: it is asked to make the call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from runtime_support import configure, prompt
from runtime_support.testing import Scripted, tool_request

pytestmark = pytest.mark.one_python

CALL = '{"name": "temp", "arguments": {"city": "Oslo"}}'
LEAKED = [
    CALL,
    '{"name": "temp", "parameters": {"city": "Oslo"}}',
    '{"name": "functions.temp", "arguments": {"city": "Oslo"}}',
    "{'name': 'temp', 'arguments': {'city': 'Oslo'},}",
    f"[{CALL}]",
    f"```json\n{CALL}\n```",
    f"<tool_call>\n{CALL}\n</tool_call>",
    f"Let me look it up.\n<tool_call>\n{CALL}\n</tool_call>",
    f"<think>I need the tool.</think>\n<tool_call>{CALL}</tool_call>",
    f"<|tool_call|>{CALL}",
    f"<function_call>{CALL}</function_call>",
    f"<|python_tag|>{CALL}",
    f"[TOOL_CALLS] [{CALL}]",
    '[TOOL_CALLS]temp[ARGS]{"city": "Oslo"}',
    '<function=temp>{"city": "Oslo"}</function>',
    '<|channel|>commentary to=functions.temp <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
    'commentary to=functions.temp json {"city": "Oslo"}',
    "```tool_code\nprint(temp(city='Oslo'))\n```",
    json.dumps({"type": "function", "function": json.loads(CALL)}),
    json.dumps({"tool_calls": [{"id": "1", "function": json.loads(CALL)}]}),
]
NOTE = "asked again: a call of `temp` was written as text"


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Step:
    name: str
    arguments: dict[str, Any]


def temp(city: str) -> float:
    """The temperature of a city."""
    return 3.5


def told_again(model: Scripted) -> str:
    return model.requests[1].messages[-1]["content"]


@pytest.mark.parametrize("leaked", LEAKED)
def test_of_a_text_it_is_asked_again(leaked: str) -> None:
    model = Scripted([leaked, tool_request("temp", city="Oslo"), "It is 3.5 degrees."])
    with configure(provider=model):
        result = prompt("How warm is it in Oslo? Use {temp}.", temp=temp)
    assert (result.value, result.repairs) == ("It is 3.5 degrees.", [NOTE])
    assert [call.result for call in result.tool_calls] == ["3.5"]
    assert "Call the tool by the interface" in told_again(model)


@pytest.mark.parametrize("leaked", [*LEAKED, f"I will call it: {CALL}", f'{{"city": {CALL}}}'])
@pytest.mark.parametrize(
    ("type_", "reply", "value"),
    [
        (City, '{"name": "Oslo"}', City("Oslo")),
        (list[City], '[{"name": "Oslo"}]', [City("Oslo")]),
        (dict[str, Any], '{"name": "Oslo"}', {"name": "Oslo"}),
    ],
)
def test_of_a_type_it_is_asked_again(leaked: str, type_: Any, reply: str, value: Any) -> None:
    model = Scripted([leaked, reply])
    with configure(provider=model):
        result = prompt("Where is it warm? Use {temp}.", temp=temp, returns=type_)
    assert result.value == value
    assert result.repairs == [NOTE]
    assert "Call the tool by the interface" in told_again(model)


def test_in_an_event_loop_it_is_asked_again() -> None:
    async def ask() -> Any:
        return await prompt.aio("{temp}", temp=temp, returns=City)

    with configure(provider=Scripted([CALL, '{"name": "Oslo"}'])):
        result = asyncio.run(ask())
    assert (result.value, result.repairs) == (City("Oslo"), [NOTE])


def test_a_field_that_is_handed_in_as_text_is_asked_again() -> None:
    leaked = '{"name": "__saft_return_age", "arguments": {"value": 36}}'
    model = Scripted([leaked, tool_request("__saft_return_age", value=36)])
    with configure(provider=model):
        result = prompt("?", fields={"age": int})
    assert result.value == (36,)
    assert result.repairs == ["asked again: a call of `__saft_return_age` was written as text"]


NO_CALLS: list[tuple[str, Callable[..., Any] | None]] = [
    (CALL, None),
    ('{"name": "temp", "city": "Oslo"}', temp),
    ('{"name": "other", "arguments": {}}', temp),
    (f"A call of a tool looks like `{CALL}`; it has a name.", temp),
    ("The tool temp gives the temperature.", temp),
]


@pytest.mark.parametrize(("reply", "tool"), NO_CALLS)
def test_a_text_that_is_no_call_is_the_answer(reply: str, tool: Callable[..., Any] | None) -> None:
    tools = [] if tool is None else [tool]
    with configure(provider=Scripted([reply])):
        assert prompt("?", tools=tools).value == reply


def test_a_type_with_a_name_and_arguments_takes_such_an_object() -> None:
    with configure(provider=Scripted([CALL])):
        result = prompt("Plan a step with {temp}.", temp=temp, returns=Step)
    assert result.value == Step("temp", {"city": "Oslo"})
    assert result.repairs == []
