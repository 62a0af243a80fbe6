"""OpenAI's Responses: what is sent, what is read, and when this wire is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from openai.types.chat import CompletionCreateParams
from openai.types.responses import ResponseCreateParams

from runtime_support import ConfigError, ProviderError, configure, file, overlap, prompt
from runtime_support._core import notes
from runtime_support._core.messages import Origin, Reply, Request
from runtime_support._core.settings import PROVIDERS, Effort, Settings, WireName, settings_for
from runtime_support.errors import RateLimited, Refused
from runtime_support.providers import live_provider
from runtime_support.providers._openai import OpenAIProvider, suitable_wire
from runtime_support.providers._server import Server
from runtime_support.providers._wires import RequestForm, Wire, wire_named
from runtime_support.providers._wires import chat as _chat
from runtime_support.providers._wires import responses as _responses
from saftc.types import results
from tests.runtime.conftest import KEY
from tests.support.fake_server import FakeServer, event, events, raw, status
from tests.support.wires import RESPONSES, Say, Speaker

Message = dict[str, Any]
TEXT: Message = {"role": "user", "content": "x"}
AUDIO: Message = {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}
TOOL: Message = {"type": "function", "function": {"name": "double", "parameters": {}}}


def double(number: int) -> int:
    return 2 * number


@pytest.fixture
def responses(server: FakeServer) -> FakeServer:
    configure(api="responses")
    return server


def form(**changes: Any) -> RequestForm:
    parts: dict[str, Any] = {"enforced": False, "streamed": False, "counted": True}
    parts |= {"is_openai": False, **changes}
    return RequestForm(Origin("responses", "", "m"), **parts)


def item(kind: str, **parts: Any) -> Message:
    return {"type": kind, **parts}


def message(text: str, **parts: Any) -> Message:
    content: list[Message] = [{"type": "output_text", "text": text, "annotations": []}]
    return item("message", role="assistant", content=content, **parts)


def read(*output: Message, **parts: Any) -> Reply:
    """The reply in a response with these items."""
    body = {"status": "completed", "output": output, "error": None, **parts}
    reader = _responses.ResponsesReader(Request((TEXT,)), form(), None)
    return reader.read(json.dumps(body).encode())


# What is sent


def test_a_request(responses: FakeServer) -> None:
    responses.responder = Speaker(RESPONSES, [Say('{"value": 3}')])
    result = prompt(
        "Use {double}.",
        double=double,
        returns=int,
        options={
            "system": "Be brief.",
            "max_tokens": 5,
            "reasoning_effort": "low",
            "temperature": 0,
            "extra_body": {"text": {"verbosity": "low"}, "reasoning": {"summary": "auto"}},
        },
    )
    assert result.value == 3 and result.finish == "stop" and result.model == "fake-1"
    (request,) = responses.requests
    assert request.path == "/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.body
    assert body.pop("tools") == [
        {
            "type": "function",
            "name": "double",
            "parameters": {
                "type": "object",
                "properties": {"number": {"type": "integer"}},
                "required": ["number"],
                "additionalProperties": False,
            },
            "strict": False,
        }
    ]
    format_ = body["text"].pop("format")
    assert (format_["type"], format_["name"], format_["strict"]) == ("json_schema", "reply", True)
    text = "Use double.\n\nReply with JSON only, no other text, of this form: int"
    assert body == {
        "model": "fake",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": text}],
        "max_output_tokens": 5,
        "temperature": 0.0,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"verbosity": "low"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_further_fields_take_nothing_away(responses: FakeServer) -> None:
    responses.responder = Speaker(RESPONSES, [Say('{"value": 1}')])
    more = {"include": ["message.output_text.logprobs"], "text": {"verbosity": "low"}}
    assert prompt("1?", returns=int, options={"extra_body": more}).value == 1
    (body,) = responses.bodies
    assert body["include"] == ["reasoning.encrypted_content", "message.output_text.logprobs"]
    assert set(body["text"]) == {"format", "verbosity"}


def test_no_more_calls(responses: FakeServer) -> None:
    responses.responder = Speaker(RESPONSES, [Say(calls=(("double", {"number": 1}),)), Say("2")])
    assert prompt("{double}", double=double, rounds=1).value == "2"
    assert [body.get("tool_choice") for body in responses.bodies] == [None, "none"]


def test_calls_that_nobody_made_get_an_answer(responses: FakeServer) -> None:
    calls = (("__saft_return_a", {"value": 1}), ("double", {"number": 1}))
    responses.responder = Speaker(RESPONSES, [Say(calls=calls), Say("more")])
    options = {"max_tool_calls": 0}
    first = prompt("{double}", double=double, fields={"a": int}, options=options)
    assert first.value == (1,)
    assert prompt("And?", after=first).value == "more"
    assert responses.bodies[-1]["input"][-2] == {
        "type": "function_call_output",
        "call_id": "call_0_1",
        "output": "not called: nothing was missing any more",
    }


def test_a_model_that_thinks_nothing_is_found_out_once(responses: FakeServer) -> None:
    speaker = Speaker(RESPONSES, [Say("hello")])

    def answer(body: Message) -> Any:
        if "include" in body:
            return status(400, "Encrypted content is not supported with this model.")
        return speaker(body)

    responses.responder = answer
    assert [prompt("hi").value, prompt("hi").value] == ["hello", "hello"]
    assert ["include" in body for body in responses.bodies] == [True, False, False]


@pytest.mark.parametrize(
    ("model", "asks"),
    [
        ("gpt-4o-mini", False), ("ft:gpt-4o:me", False), ("gpt-4.1", False),
        ("gpt-3.5-turbo", False), ("gpt-5.2-chat-latest", False),
        ("gpt-5.6-sol", True), ("o4-mini", True), ("gpt-oss-120b", True),
    ],
)  # fmt: skip
def test_models_of_openai_that_think_nothing_are_not_asked_for_it(model: str, asks: bool) -> None:
    for is_openai in (True, False):
        about = RequestForm(Origin("responses", "", model), is_openai, False, False, True)
        _, body = _responses.render(Request((TEXT,)), about)
        assert ("include" in body) == (asks or not is_openai)


# What is read


def test_what_a_model_says_on_its_way_is_not_its_answer() -> None:
    aside = message("Let me see.", phase="commentary")
    assert read(aside, message("3", phase="final_answer")).text == "3"
    assert read(aside).text == "Let me see."
    assert read(message("a"), item("web_search_call", id="ws"), message("b")).text == "ab"


def test_an_aside_is_no_part_of_a_stream(responses: FakeServer) -> None:
    def part(kind: str, place: int, **more: Any) -> bytes:
        return event({"type": f"response.{kind}", "output_index": place, **more})

    aside, answer = message("Hm.", phase="commentary"), message("Yes.", phase="final_answer")
    whole: Message = {"status": "completed", "output": [], "model": "m"}
    responses.answers = [
        events(
            [
                part("output_item.added", 0, item=aside),
                part("output_text.delta", 0, delta="Hm."),
                part("output_item.done", 0, item=aside),
                part("output_item.added", 1, item=answer),
                part("output_text.delta", 1, delta="Y"),
                part("output_text.delta", 1, delta="es."),
                part("output_item.done", 1, item=answer),
                event({"type": "response.completed", "response": whole}),
            ]
        )
    ]
    result = prompt("x", stream=True)
    assert list(result.pieces()) == ["Y", "es."]
    assert (result.value, result.text) == ("Yes.", "Yes.")
    said: Any = result.transcript.messages[-1]
    assert said.reply.opaque == {"output": [aside, answer]}


@pytest.mark.parametrize(
    ("details", "finish"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "content_filter"),
        ({"reason": "steered"}, "steered"),
        (None, "length"),
    ],
)
def test_replies_that_are_incomplete(details: Message | None, finish: str) -> None:
    reply = read(message("x"), status="incomplete", incomplete_details=details)
    assert reply.finish == finish


def test_tokens() -> None:
    usage = {
        "input_tokens": 2048,
        "input_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 64},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 256},
        "total_tokens": 2348,
    }
    reply = read(message("x"), usage=usage)
    assert (reply.input_tokens, reply.cached_tokens, reply.cache_write_tokens) == (2048, 1920, 64)
    assert (reply.output_tokens, reply.reasoning_tokens) == (300, 256)


@pytest.mark.parametrize("ids", [["a", "a"], ["", "b"], [None, "b"], [7, "b"]])
def test_calls_whose_ids_are_of_no_use_go_back_with_ours(ids: list[Any]) -> None:
    parts = {"name": "double", "arguments": "{}"}
    calls = [item("function_call", **({"call_id": one} if one else {}), **parts) for one in ids]
    reply = read(item("reasoning", id="rs"), *calls)
    assert [call.name for call in reply.tool_calls] == ["double", "double"]
    assert reply.origin is None and reply.opaque is None
    assert {call.id for call in reply.tool_calls} == {""}


def test_what_is_not_a_response(responses: FakeServer) -> None:
    completion = {"object": "chat.completion", "choices": [{"message": {"content": "x"}}]}
    for body in (json.dumps(completion), "[]"):
        responses.answers = [raw(body.encode())]
        with pytest.raises(ProviderError, match="did not return a response") as caught:
            prompt("hi")
        assert "`api" in str(caught.value)
    responses.answers = [raw(b"<html>")]
    with pytest.raises(ProviderError, match=r"is not JSON: .*; check `base_url`"):
        prompt("hi")


def failed(code: str, words: str = "It broke.") -> Message:
    return {"status": "failed", "output": [], "error": {"code": code, "message": words}}


@pytest.mark.parametrize("stream", [False, True])
def test_failures_that_another_try_may_mend(responses: FakeServer, stream: bool) -> None:
    speaker = Speaker(RESPONSES, [Say("hello")])
    broken = [failed("server_error"), failed("rate_limit_exceeded")]

    def answer(body: Message) -> Any:
        if not broken:
            return speaker(body)
        failure = broken.pop()
        if not stream:
            return raw(json.dumps(failure).encode())
        return events([event({"type": "response.failed", "response": failure})])

    responses.responder = answer
    result = prompt("hi", stream=stream) if stream else prompt("hi")
    assert (result.value, len(responses.requests)) == ("hello", 3)


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_is_declined_later(responses: FakeServer, stream: bool) -> None:
    failure = failed("bio_policy", "It was flagged.")
    responses.answers = [raw(json.dumps(failure).encode())]
    if stream:
        responses.answers = [events([event({"type": "response.failed", "response": failure})])]
    with pytest.raises(Refused, match=r"declined the prompt: It was flagged\."):
        prompt("hi", stream=stream).value  # noqa: B018
    assert len(responses.requests) == 1


def test_failures_that_stay(responses: FakeServer) -> None:
    responses.answers = [raw(json.dumps(failed("invalid_image_url", "No such image.")).encode())]
    with pytest.raises(ProviderError, match="the server reports: No such image"):
        prompt("hi")
    assert len(responses.requests) == 1
    configure(max_retries=0, max_wait=0)
    slow = {"code": "rate_limit_exceeded", "message": "Slow down.", "param": None}
    for said in ({"type": "error", **slow}, {"type": "error", "error": slow}):
        responses.answers = [events([event(said)])]
        with pytest.raises(RateLimited, match="Slow down"):
            prompt("hi", stream=True).value  # noqa: B018


def test_a_stream_that_breaks_off(responses: FakeServer) -> None:
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "A fox"}
    responses.answers = [events([event(delta)])]
    with pytest.raises(ProviderError, match="it has no end; 5 characters of the reply had come"):
        prompt("hi", stream=True).value  # noqa: B018


def test_halves_of_characters(responses: FakeServer) -> None:
    output = [item("reasoning", id="rs", encrypted_content="\udc00"), message("a\ud83d")]
    whole = {"status": "completed", "output": output, "model": "m"}
    responses.answers = [raw(json.dumps(whole).encode())]
    first = prompt("x")
    prompt("y", after=first)
    sent = json.loads(json.dumps(output).replace(r"\udc00", "\ufffd").replace(r"\ud83d", "\ufffd"))
    assert responses.bodies[-1]["input"][1:3] == sent, "no server reads halves"
    responses.requests.clear()


# Which wire


def chosen(server: Server, *messages: Message, **parts: Any) -> str:
    return suitable_wire(server, Request(messages or (TEXT,), **parts)).name


def test_the_wire_for_openai_is_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider: Any = live_provider(Settings(provider="openai"))
    assert isinstance(provider, OpenAIProvider) and provider.wire is None
    server = provider.server
    tools = (TOOL,)
    assert chosen(server) == "responses"
    assert (
        chosen(server, tools=tools, options={"reasoning_effort": "low", "temperature": 0})
        == "responses"
    )
    # What only chat completions have a field for.
    only: list[Message] = [{"seed": 1}, {"stop": "x"}, {"extra_body": {"logit_bias": {}}}]
    for options in only:
        assert chosen(server, options=options) == "chat"
        assert chosen(server, options={**options, "reasoning_effort": "low"}) == "chat"
        assert chosen(server, tools=tools, options=options) == "chat"
        thinking = {**options, "reasoning_effort": "low"}
        assert chosen(server, tools=tools, options=thinking) == "responses"
    assert chosen(server, AUDIO) == "chat"
    assert chosen(server, options={"extra_body": {"service_tier": "flex"}}) == "responses"
    assert chosen(Server("https://eu.api.openai.com/v1", KEY)) == "responses"
    for other in ("http://127.0.0.1:9/v1", "https://notapi.openai.com/v1"):
        assert chosen(Server(other, KEY)) == "chat"
    assert chosen(Server("https://api.openai.com.example/v1", KEY)) == "chat"


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_the_wire_that_was_chosen(monkeypatch: pytest.MonkeyPatch, name: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for provider in (Settings(provider="openai", api=name), Settings(api=name)):
        found: Any = live_provider(provider)
        used: Wire = found.wire
        assert used is wire_named(name)


def fields_of(union: Any) -> set[str]:
    """The names of the fields of a request, by the package."""
    return {name for kind in get_args(union) for name in get_type_hints(kind)}


def test_fields_of_chat_completions_alone() -> None:
    only = fields_of(CompletionCreateParams) - fields_of(ResponseCreateParams)
    assert only == _responses.OF_CHAT


# Options that it lacks


def test_an_option_that_the_wire_lacks(responses: FakeServer) -> None:
    with pytest.raises(ConfigError, match="the API `responses` has no option `seed`") as caught:
        prompt("hi", options={"seed": 1})
    assert caught.value.setting == "seed" and 'set `api` to "chat"' in str(caught.value)
    with configure(stop=["x"]), pytest.raises(ConfigError, match="no option `stop`"):
        prompt("hi")
    assert responses.requests == []


def test_one_of_the_environment_is_left_out_and_told_once(
    responses: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notes, "_noted", set[str]())
    monkeypatch.setenv("SAFT_SEED", "1")
    responses.responder = Speaker(RESPONSES, [Say("hello")])
    assert [prompt("hi").value, prompt("hi").value] == ["hello", "hello"]
    assert all("seed" not in body for body in responses.bodies)
    assert capsys.readouterr().err.count("the API `responses` has no option `seed`") == 1
    with configure(api="chat"):
        responses.responder = None
        prompt("hi")
    assert responses.bodies[-1]["seed"] == 1


def test_a_sound_is_not_sent_where_there_is_no_field_for_it(responses: FakeServer) -> None:
    Path("a.wav").write_bytes(b"RIFF....WAVE")
    with pytest.raises(ConfigError, match="the API `responses` takes no sounds"):
        prompt("{sound}", sound=file("a.wav"))
    assert responses.requests == []


def test_effort_with_tools_on_chat_names_the_wire(server: FakeServer) -> None:
    said = "Function tools with reasoning_effort are not supported. Please use /v1/responses."
    server.answers = [status(400, said)]
    with pytest.raises(ProviderError, match='set `api` to "responses"'):
        prompt("{double}", double=double, options={"reasoning_effort": "high"})


def test_a_path_that_is_not_there(responses: FakeServer) -> None:
    responses.answers = [status(404, "Not Found")]
    with pytest.raises(ProviderError, match="check `model`, `base_url` and `api`"):
        prompt("hi")
    assert _chat.WIRE.lacks == ()


# Keys of caches


def ask_elsewhere() -> str:
    return prompt("Greet Eve.").value


def test_the_key_of_a_cache_is_the_place_of_the_prompt(server: FakeServer) -> None:
    provider: Any = live_provider(settings_for())
    provider.server.is_openai = True

    def ask(name: str) -> str:
        return prompt("Greet {name}.", name=name).value

    server.responder = Speaker(RESPONSES, [Say("hello")])
    assert [ask("Ada"), *overlap(ask, ["Bo", "Cy"]), (lambda: ask("Di"))()] == ["hello"] * 4
    ask_elsewhere()
    test = "test_wires_responses.test_the_key_of_a_cache_is_the_place_of_the_"
    keys = [body["prompt_cache_key"] for body in server.bodies]
    assert len({*keys[:4]}) == 1 and keys[4] == "test_wires_responses.ask_elsewhere"
    assert len(keys[0]) == 64 and test.startswith(keys[0][:47])
    configure(api="chat")
    server.responder = None
    ask("Fay")
    assert server.bodies[-1]["prompt_cache_key"] == keys[0]
    provider.server.is_openai = False
    ask("Gil")
    assert "prompt_cache_key" not in server.bodies[-1]


def test_the_compiler_has_the_same_lists() -> None:
    assert {one: wire_named(one).lacks for one in results.WIRES} == results.WIRES
    assert get_args(Effort) == results.EFFORTS
    assert PROVIDERS == results.PROVIDERS
    assert get_args(WireName) == tuple(results.WIRES)
