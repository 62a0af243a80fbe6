"""The openai provider on the wire, against a server on loopback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import ConfigError, ContractError, ProviderError, ToolsUnsupported, prompt
from runtime_support._core.messages import Origin, Request
from runtime_support.providers._wires import RequestForm, chat
from tests.runtime.conftest import KEY
from tests.support.fake_server import FakeServer, calling, completion, raw, status


def square(x: int) -> int:
    return x * x


def test_a_text_prompt(server: FakeServer) -> None:
    server.answers = [completion("hello")]
    server.extra = {"k"}
    result = prompt(
        "say hello", options={"temperature": 0, "max_tokens": 5, "extra_body": {"k": 1}}
    )
    assert (result.value, result.model) == ("hello", "fake-1")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (11, 7)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "fake",
        "messages": [{"role": "user", "content": "say hello"}],
        "temperature": 0.0,
        "max_tokens": 5,
        "k": 1,
    }


def test_an_object_is_asked_for_as_it_is(server: FakeServer) -> None:
    server.answers = [completion('{"a": 1}')]
    assert prompt("?", returns=dict[str, int]).value == {"a": 1}
    assert server.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "reply",
            "strict": False,
            "schema": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }


def test_a_root_that_is_no_object_is_wrapped_and_unwrapped(server: FakeServer) -> None:
    server.answers = [completion('{"value": [1, 2]}')]
    result = prompt("?", returns=list[int])
    assert result.value == [1, 2]
    assert result.repairs == []
    assert server.bodies[0]["response_format"]["json_schema"] == {
        "name": "reply",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"value": {"type": "array", "items": {"type": "integer"}}},
            "required": ["value"],
            "additionalProperties": False,
        },
    }


def test_a_server_that_ignores_the_schema_may_answer_plainly(server: FakeServer) -> None:
    server.answers = [completion("[1, 2]")]
    assert prompt("?", returns=list[int]).value == [1, 2]


def test_servers_that_enforce_no_schema_are_found_out_once(server: FakeServer) -> None:
    server.answers = [status(400, "unknown field response_format"), completion("1")]
    assert prompt("?", returns=int).value == 1
    assert prompt("?", returns=int).value == 1
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


def test_structured_on_insists_and_off_does_not_ask(server: FakeServer) -> None:
    server.answers = [status(400, "unknown field response_format")]
    with pytest.raises(ProviderError, match="unknown field"):
        prompt("?", returns=int, options={"enforce_schema": "on"})
    assert len(server.requests) == 1
    server.answers = [completion("1")]
    prompt("?", returns=int, options={"enforce_schema": "off"})
    assert "response_format" not in server.bodies[1]


def test_other_mistakes_are_not_taken_for_a_refusal_of_the_schema(server: FakeServer) -> None:
    server.answers = [status(400, "context length exceeded")]
    with pytest.raises(ProviderError, match="context length"):
        prompt("?", returns=int)
    assert len(server.requests) == 1


def test_the_tool_loop_on_the_wire(server: FakeServer) -> None:
    server.answers = [calling(("square", {"x": 3}), ("square", {"x": "4"})), completion("9, 16")]
    result = prompt("{square} of 3 and 4", square=square)
    assert result.value == "9, 16"
    assert [call.result for call in result.tool_calls] == ["9", "16"]
    first, second = server.bodies
    assert [tool["function"]["name"] for tool in first["tools"]] == ["square"]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "tool", "tool"]
    ids = [call["id"] for call in second["messages"][1]["tool_calls"]]
    assert ids == [m["tool_call_id"] for m in second["messages"][2:]]


def test_a_do_prompt_forbids_further_calls_on_the_wire(server: FakeServer) -> None:
    server.answers = [calling(("square", {"x": 3})), completion("9")]
    prompt("{square}", square=square, rounds=1)
    assert server.bodies[1]["tool_choice"] == "none"


def test_fields_of_a_server_without_tools(server: FakeServer) -> None:
    server.answers = [
        status(400, "this model does not support tools"),
        completion('{"name": "Al", "age": 3}'),
    ]
    assert prompt("?", fields={"name": str, "age": int}).value == ("Al", 3)
    assert "tools" in server.bodies[0]
    assert "tools" not in server.bodies[1]
    assert server.bodies[1]["response_format"]["json_schema"]["strict"]
    prompt("?", fields={"name": str, "age": int})
    assert len(server.requests) == 3, "the refusal is remembered"
    with pytest.raises(ToolsUnsupported):
        prompt("{square}", square=square)


def test_odd_forms_of_a_reply(server: FakeServer) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    server.answers = [completion(parts), completion("7", finish=None)]  # type: ignore[arg-type]
    assert prompt("?").value == "ab"
    assert prompt("?", returns=int).value == 7
    server.answers = [raw(b'{"choices":[{"message":{"content":"no usage, no model"}}]}')]
    assert prompt("?").usage.input_tokens == 0


def test_arguments_that_come_parsed_or_without_ids(server: FakeServer) -> None:
    server.answers = [
        raw(
            b'{"choices":[{"finish_reason":"tool_calls","message":{"content":"","tool_calls":['
            b'{"function":{"name":"square","arguments":{"x":3}}},'
            b'{"function":{"name":"square","arguments":null}},"odd"]}}]}'
        ),
        completion("done"),
    ]
    result = prompt("{square}", square=square)
    assert [call.error for call in result.tool_calls] == [
        None,
        "args.x: missing field, expected int",
    ]


def test_a_reply_of_five_megabytes(server: FakeServer) -> None:
    server.answers = [completion("x" * 5_000_000)]
    assert len(prompt("?").value) == 5_000_000
    with pytest.raises(ContractError) as caught:
        prompt("?", returns=int, options={"max_repairs": 0})
    assert len(str(caught.value)) < 1000


def test_many_threads_share_one_client(server: FakeServer) -> None:
    def echo(body: dict[str, Any]) -> Any:
        return completion(body["messages"][0]["content"])

    server.responder = echo
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda n: prompt("{n}", n=n).value, range(60)))
    assert values == [str(n) for n in range(60)]


@pytest.mark.parametrize(
    ("has_new_limit", "name"), [(True, "max_completion_tokens"), (False, "max_tokens")]
)
def test_the_limit_of_tokens_has_another_name_at_openai(has_new_limit: bool, name: str) -> None:
    request = Request(({"role": "user", "content": "?"},), options={"max_tokens": 5})
    form = RequestForm(
        Origin("chat", "", "m"),
        is_openai=has_new_limit,
        enforced=False,
        streamed=False,
        counted=False,
        has_new_limit=has_new_limit,
    )
    path, body = chat.render(request, form)
    assert (path, body) == (
        "chat/completions",
        {"model": "m", "messages": list(request.messages), name: 5},
    )


def test_a_schema_that_a_server_cannot_take_is_remembered_alone(server: FakeServer) -> None:
    server.answers = [
        status(400, "Invalid schema for response_format 'reply'"),
        completion("{}"),
        completion("{}"),
        completion('{"value": 1}'),
    ]
    prompt("?", returns=dict[str, int])
    prompt("?", returns=dict[str, int])
    prompt("?", returns=int)
    sent = ["response_format" in body for body in server.bodies]
    assert sent == [True, False, False, True]


def test_a_mistake_in_a_tool_is_no_refusal_of_tools(server: FakeServer) -> None:
    server.answers = [status(400, "Invalid value for tools[0].function.name")]
    for _ in range(2):
        with pytest.raises(ProviderError, match="Invalid value") as caught:
            prompt("?", fields={"name": str})
        assert type(caught.value) is ProviderError
    assert len(server.requests) == 2


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_further_fields_are_json(server: FakeServer, value: Any) -> None:
    with pytest.raises(ConfigError, match="`extra_body` is not JSON"):
        prompt("?", options={"extra_body": {"k": value}})
    assert not server.requests


def test_effort(server: FakeServer) -> None:
    prompt("?", options={"reasoning_effort": "high"})
    assert server.bodies[0]["reasoning_effort"] == "high" and "effort" not in server.bodies[0]
