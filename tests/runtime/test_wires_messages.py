"""Anthropic's Messages: what is sent, what is read, and when this wire is taken."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, get_type_hints

import pytest
from anthropic.types.message_create_params import MessageCreateParamsBase

from runtime_support import ConfigError, ProviderError, configure, prompt
from runtime_support._core.messages import Origin, Reply, Request
from runtime_support._core.settings import Settings, settings_for
from runtime_support._media import file, image
from runtime_support.errors import RateLimited, Refused
from runtime_support.providers import live_provider, provider_and_model
from runtime_support.providers._openai import OpenAIProvider
from runtime_support.providers._wires import RequestForm
from runtime_support.providers._wires import messages as _messages
from runtime_support.providers._wires.events import event_reader
from tests.runtime.conftest import KEY
from tests.support.fake_server import Answer, FakeServer, events, raw
from tests.support.wires import MESSAGES, Say, Speaker
from tests.support.wires.messages import sent

Message = dict[str, Any]
TEXT: Message = {"role": "user", "content": "x"}
MARK: Message = {"cache_control": {"type": "ephemeral"}}


def double(number: int) -> int:
    return 2 * number


@pytest.fixture
def messages(server: FakeServer) -> FakeServer:
    configure(api="messages")
    return server


def form(**changes: Any) -> RequestForm:
    parts: dict[str, Any] = {"enforced": False, "streamed": False, "counted": True}
    parts |= {"is_openai": False, **changes}
    return RequestForm(Origin("messages", "", "m"), **parts)


def text(said: str) -> Message:
    return {"type": "text", "text": said}


def used(identity: str, **input_: Any) -> Message:
    return {"type": "tool_use", "id": identity, "name": "double", "input": input_}


def read(*content: Message, **parts: Any) -> Reply:
    """The reply in a message with these blocks."""
    body = {"type": "message", "content": content, "stop_reason": "end_turn", **parts}
    return _messages.MessagesReader(Request((TEXT,)), form(), None).read(json.dumps(body).encode())


def error(status: int, kind: str, said: str, **headers: str) -> Answer:
    """An error in Anthropic's form."""
    body = {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_1"}
    known = {"content-type": "application/json", "request-id": "req_1"}
    return Answer(status, json.dumps(body).encode(), {**known, **headers})


# What is sent


def test_a_request(messages: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # The package reads these where nothing else is given to it.
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    messages.responder = Speaker(MESSAGES, [Say('{"value": 3}')])
    result = prompt(
        "Use {double}.",
        double=double,
        returns=int,
        options={
            "system": "Be brief.",
            "max_tokens": 5,
            "reasoning_effort": "low",
            "stop": "END",
            "extra_body": {"output_config": {}, "metadata": {"user_id": "7"}},
        },
    )
    assert result.value == 3 and result.finish == "stop" and result.model == "fake-1"
    (request,) = messages.requests
    assert request.path == "/v1/messages"
    assert KEY in (request.headers.get("x-api-key"), request.headers["authorization"][7:])
    assert request.headers["anthropic-version"]
    assert "another" not in str(request.headers)
    assert not [name for name in request.headers if "arch" in name or "-os" in name]
    body = request.body
    format_ = body["output_config"].pop("format")
    assert format_["type"] == "json_schema" and format_["schema"]["required"] == ["value"]
    form_of_it = "Use double.\n\nReply with JSON only, no other text, of this form: int"
    assert body == {
        "model": "fake",
        "max_tokens": 5,
        "stop_sequences": ["END"],
        "tools": [
            {
                "name": "double",
                "input_schema": {
                    "type": "object",
                    "properties": {"number": {"type": "integer"}},
                    "required": ["number"],
                    "additionalProperties": False,
                },
            }
        ],
        "system": [{**text("Be brief."), **MARK}],
        "messages": [{"role": "user", "content": [text(form_of_it)]}],
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low"},
        "metadata": {"user_id": "7"},
    }


def test_the_limit_that_this_api_needs(messages: FakeServer) -> None:
    messages.responder = Speaker(MESSAGES, [Say("hello"), Say("hello")])
    configure(budget_tokens=50_000)
    assert prompt("hi").value == "hello"
    with configure(budget_tokens=1_000):  # it has fewer tokens than a reply may need
        assert prompt("hi there").value == "hello"
    assert [one["max_tokens"] for one in messages.bodies] == [16_384, pytest.approx(980, abs=20)]


def test_the_address_may_end_before_the_version(messages: FakeServer) -> None:
    messages.responder = Speaker(MESSAGES, [Say("hello")])
    for address in (messages.url, messages.url.removesuffix("/v1"), messages.url + "/"):
        with configure(base_url=address):
            assert prompt("hi").value == "hello"
    assert [one.path for one in messages.requests] == ["/v1/messages"] * 3


def test_rounds_of_tools(messages: FakeServer) -> None:
    def fail(number: int) -> int:
        raise LookupError("no such number")

    calls = (("double", {"number": 1}), ("fail", {"number": 2}), ("double", {"number": "x"}))
    messages.responder = Speaker(MESSAGES, [Say("Both.", calls), Say("2")])
    assert prompt("{double} {fail}", double=double, fail=fail, rounds=1).value == "2"
    first, second = messages.bodies
    assert "tool_choice" not in first and second["tool_choice"] == {"type": "none"}
    # With no system message, the tools are the end of what is always the same.
    assert [MARK.items() <= tool.items() for tool in first["tools"]] == [False, True]
    assert "cache_control" not in json.dumps(first["messages"])
    assert json.dumps(second).count("cache_control") == 2
    one, two, three = second["messages"][-1]["content"]
    assert one == {"type": "tool_result", "tool_use_id": "toolu_0_0", "content": "2"}
    assert two.pop("is_error") is True and "no such number" in two["content"]
    assert three.pop("is_error") is True and three.pop("cache_control")
    assert [two["tool_use_id"], three["tool_use_id"]] == ["toolu_0_1", "toolu_0_2"]


def test_a_value_that_is_refused_is_an_error(messages: FakeServer) -> None:
    name = "__saft_return_a"
    says = [Say(calls=((name, {"value": "x"}),)), Say(calls=((name, {"value": 1}),))]
    messages.responder = Speaker(MESSAGES, says)
    assert prompt("a?", fields={"a": int}).value == (1,)
    (result,) = messages.bodies[-1]["messages"][-1]["content"]
    assert result["is_error"] is True


def test_calls_that_nobody_made_get_an_answer_before_the_text(messages: FakeServer) -> None:
    calls = (("__saft_return_a", {"value": 1}), ("double", {"number": 1}))
    messages.responder = Speaker(MESSAGES, [Say(calls=calls), Say("more")])
    options = {"max_tool_calls": 0}
    first = prompt("{double}", double=double, fields={"a": int}, options=options)
    assert prompt("And?", after=first).value == "more"
    kept, left, asked = messages.bodies[-1]["messages"][-1]["content"]
    assert (kept["tool_use_id"], left["tool_use_id"]) == ("toolu_0_0", "toolu_0_1")
    assert left["content"] == "not called: nothing was missing any more"
    assert asked == {**text("And?"), **MARK}


def test_pictures_and_files(messages: FakeServer) -> None:
    messages.responder = Speaker(MESSAGES, [Say("ok")])
    far = image("https://example.com/a.png")
    with open("paper.pdf", "wb") as paper:
        paper.write(b"%PDF-1.4 ...")
    prompt("{a} and {b}", a=far, b=file("paper.pdf"))
    blocks = [one for one in messages.bodies[0]["messages"][0]["content"] if one["type"] != "text"]
    assert blocks == [
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {
            "type": "document",
            "source": {
                "type": "base64",
                "media_type": "application/pdf",
                "data": "JVBERi0xLjQgLi4u",
            },
            "title": "paper.pdf",
        },
    ]


def test_a_sound_has_no_field() -> None:
    audio: Message = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    with pytest.raises(ProviderError, match="no field for a sound"):
        _messages.render(Request(({"role": "user", "content": [audio]},)), form())


def body_of(*said: Message, **parts: Any) -> Message:
    return _messages.render(Request(said or (TEXT,), **parts), form(enforced=True))[1]


def test_texts_that_have_nothing_in_them_are_not_sent() -> None:
    silent: Message = {"role": "assistant", "content": ""}
    body = body_of(TEXT, silent, {"role": "user", "content": "y"})
    assert body["messages"] == [{"role": "user", "content": [text("x\n\ny")]}]


def test_how_much_it_thinks() -> None:
    assert body_of(options={"reasoning_effort": "none"})["thinking"] == {"type": "disabled"}
    assert "output_config" not in body_of(options={"reasoning_effort": "none"})
    assert body_of(options={"reasoning_effort": "max"})["output_config"] == {"effort": "max"}
    with pytest.raises(ConfigError, match=r"no effort `minimal`; the nearest is \"low\""):
        body_of(options={"reasoning_effort": "minimal"})
    assert not {"thinking", "output_config"} & set(body_of())


def test_a_schema_that_is_not_strict_is_not_sent() -> None:
    schema: Message = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert "output_config" not in body_of(schema=schema)
    assert "format" in body_of(schema=schema, enforce_schema="on")["output_config"]
    strict = body_of(
        schema={"type": "integer"}, is_strict=True, options={"reasoning_effort": "low"}
    )
    assert set(strict["output_config"]) == {"effort", "format"}


def test_a_model_that_does_not_adapt_is_found_out_once(messages: FakeServer) -> None:
    speaker = Speaker(MESSAGES, [Say("hello")])

    def answer(body: Message) -> Any:
        if "thinking" in body:
            said = "adaptive thinking is not supported on this model"
            return error(400, "invalid_request_error", said)
        return speaker(body)

    messages.responder = answer
    configure(reasoning_effort="high")
    assert [prompt("hi").value, prompt("hi").value] == ["hello", "hello"]
    assert ["thinking" in body for body in messages.bodies] == [True, False, False]
    assert all(body["output_config"] == {"effort": "high"} for body in messages.bodies)


def test_a_schema_that_the_server_does_not_take(messages: FakeServer) -> None:
    speaker = Speaker(MESSAGES, [Say("3")])

    def answer(body: Message) -> Any:
        if "output_config" in body:
            said = "output_config.format.schema: For 'integer' type, 'x' is not supported"
            return error(400, "invalid_request_error", said)
        return speaker(body)

    messages.responder = answer
    assert [prompt("hi", returns=int).value for _ in range(2)] == [3, 3]
    assert ["output_config" in body for body in messages.bodies] == [True, False, False]


# What is read


def test_replies() -> None:
    reply = read({"type": "thinking", "thinking": "Hm", "signature": "S"}, text("a"), text("b"))
    assert (reply.text, reply.finish, reply.origin) == ("ab", "stop", form().origin)
    called = read(text("x"), used("t1", number=3), stop_reason="tool_use")
    assert [(one.name, one.arguments, one.id) for one in called.tool_calls] == [
        ("double", '{"number": 3}', "t1")
    ]
    assert called.finish == "tool_calls"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"), ("refusal", "refusal"),
        (None, "stop"),
    ],
)  # fmt: skip
def test_how_replies_end(reason: str | None, finish: str) -> None:
    assert read(text("x"), stop_reason=reason).finish == finish


def test_a_refusal_without_words_is_explained() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    reply = read(stop_reason="refusal", stop_details=details)
    assert (reply.text, reply.finish) == ("Not this.", "refusal")


def test_tokens_of_a_cache_are_added() -> None:
    usage = {
        "input_tokens": 5000,
        "cache_read_input_tokens": 1920,
        "cache_creation_input_tokens": 64,
        "output_tokens": 300,
        "output_tokens_details": {"thinking_tokens": 256},
    }
    reply = read(text("x"), usage=usage)
    assert (reply.input_tokens, reply.cached_tokens, reply.cache_write_tokens) == (6984, 1920, 64)
    assert (reply.output_tokens, reply.reasoning_tokens) == (300, 256)


@pytest.mark.parametrize("ids", [["a", "a"], ["", "b"]])
def test_calls_whose_ids_are_of_no_use_go_back_with_ours(ids: list[str]) -> None:
    reply = read(*map(used, ids))
    assert reply.origin is None and {call.id for call in reply.tool_calls} == {""}
    assert [call.name for call in reply.tool_calls] == ["double", "double"]


def test_what_is_not_a_message(messages: FakeServer) -> None:
    for body in ('{"object": "chat.completion", "choices": []}', "[]"):
        messages.answers = [raw(body.encode())]
        with pytest.raises(ProviderError, match="did not return a message") as caught:
            prompt("hi")
        assert "`api" in str(caught.value)
    messages.answers = [raw(b"<html>")]
    with pytest.raises(ProviderError, match="is not JSON"):
        prompt("hi")


# Streams


def begun(*blocks: Message) -> list[bytes]:
    """The events of a message until these blocks are begun."""
    usage = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 4}
    head: Message = {"id": "m", "type": "message", "role": "assistant", "model": "fake-1"}
    head |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    starts = [
        sent({"type": "content_block_start", "index": place, "content_block": block})
        for place, block in enumerate(blocks)
    ]
    return [sent({"type": "message_start", "message": head}), *starts]


def delta(place: int, kind: str, **parts: Any) -> bytes:
    change = {"type": f"{kind}_delta", **parts}
    return sent({"type": "content_block_delta", "index": place, "delta": change})


def ended(reason: str = "end_turn") -> bytes:
    usage = {"output_tokens": 9, "input_tokens": None}
    change = {"stop_reason": reason, "stop_sequence": None}
    return sent({"type": "message_delta", "delta": change, "usage": usage})


def test_a_stream_is_to_the_byte_what_a_whole_reply_is(messages: FakeServer) -> None:
    messages.responder = speaker = Speaker(MESSAGES, [Say("A fox \U0001f98a slept.")])
    result = prompt("x", stream=True)
    assert list(result.pieces()) == ["A", " fox", " \U0001f98a", " slept."]
    said: Any = result.transcript.messages[-1]
    assert said.reply.opaque == {"content": speaker.document(0)["content"]}


def test_what_is_counted_at_the_end_of_a_stream(messages: FakeServer) -> None:
    messages.answers = [events([*begun(text("")), delta(0, "text", text="Yes."), ended()])]
    result = prompt("x", stream=True)
    assert result.value == "Yes."
    assert (result.usage.input_tokens, result.usage.cached_tokens) == (7, 4)
    assert result.usage.output_tokens == 9


def test_arguments_that_were_cut() -> None:
    gathered = event_reader("messages", _messages.MessagesReader(Request((TEXT,)), form(), None))
    block: Message = {"type": "tool_use", "id": "t", "name": "double", "input": {}}
    start: Message = {"type": "content_block_start", "index": 0, "content_block": block}
    piece = {"type": "input_json_delta", "partial_json": '{"number": '}
    gathered.add(start)
    gathered.add({"type": "content_block_delta", "index": 0, "delta": piece})
    assert not gathered.is_whole
    gathered.add({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}})
    reply = gathered.reply()
    assert gathered.is_whole and reply.finish == "length" and reply.opaque is None
    assert reply.tool_calls[0].arguments == '{"number": '


def broken(kind: str, said: str) -> bytes:
    body = {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_1"}
    return f"event: error\ndata: {json.dumps(body)}\n\n".encode()


@pytest.mark.parametrize("is_async", [False, True])
def test_an_overload_inside_of_a_stream(messages: FakeServer, is_async: bool) -> None:
    speaker = Speaker(MESSAGES, [Say("hello")])
    failures = [broken("overloaded_error", "Overloaded"), broken("api_error", "It broke")]

    def answer(body: Message) -> Any:
        return events([*begun(), failures.pop()]) if failures else speaker(body)

    messages.responder = answer

    async def pieces() -> str:
        return "".join([piece async for piece in prompt.aio("x", stream=True).pieces()])

    said = asyncio.run(pieces()) if is_async else prompt("x", stream=True).value
    assert (said, len(messages.requests)) == ("hello", 3)


def test_a_stream_that_breaks_off(messages: FakeServer) -> None:
    parts = [*begun(text("")), delta(0, "text", text="A fox")]
    messages.answers = [events(parts)]
    with pytest.raises(ProviderError, match="it has no end; 5 characters of the reply had come"):
        prompt("hi", stream=True).value  # noqa: B018
    configure(max_retries=0, max_wait=0)
    messages.answers = [events([*parts, broken("rate_limit_error", "Slow down")])]
    with pytest.raises(RateLimited, match="Slow down; 5 characters of the reply had come") as late:
        prompt("hi", stream=True).value  # noqa: B018
    assert late.value.request_id == "req_1"


# Errors


def test_errors_have_the_words_and_the_id_of_the_request(messages: FakeServer) -> None:
    messages.answers = [error(404, "not_found_error", "model: claude-nope")]
    with pytest.raises(ProviderError, match="answered 404: model: claude-nope") as caught:
        prompt("hi")
    assert caught.value.request_id == "req_1"
    configure(max_retries=0, max_wait=0)
    messages.answers = [error(429, "rate_limit_error", "Too many", **{"retry-after": "7"})]
    with pytest.raises(RateLimited) as limited:
        prompt("hi")
    assert (limited.value.retry_after, limited.value.request_id) == (7.0, "req_1")


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 16384 > 200000",
    ],
)
def test_a_context_window_that_is_exceeded(messages: FakeServer, said: str) -> None:
    messages.answers = [error(400, "invalid_request_error", said)]
    with pytest.raises(ProviderError, match="send less, or choose a model"):
        prompt("hi", returns=int)
    assert len(messages.requests) == 1


def test_a_filter_of_the_provider(messages: FakeServer) -> None:
    said = "Output blocked by content filtering policy"
    messages.answers = [error(400, "invalid_request_error", said)]
    with pytest.raises(Refused, match="declined the prompt: Output blocked"):
        prompt("hi")


# Which wire, and its package


def test_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for settings in (
        Settings(provider="anthropic", model="claude-opus-5"),
        Settings(model="claude-opus-5"),
    ):
        provider: Any = live_provider(settings)
        assert isinstance(provider, OpenAIProvider) and provider.wire is _messages.WIRE
        assert provider.server.address == "https://api.anthropic.com/v1/"
        assert provider.server.client().api_key == KEY
    chat: Any = live_provider(Settings(provider="anthropic", model="claude-opus-5", api="chat"))
    assert chat.wire.name == "chat" and chat.server is not provider.server
    with pytest.raises(ConfigError, match="has no default model"):
        live_provider(Settings(provider="anthropic"))
    # A key alone sends nobody's prompts anywhere, and an earlier one goes first.
    assert provider_and_model(Settings(model="qwen3.gguf"))[0] in ("local", "unset")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai: Any = live_provider(Settings(model="claude-opus-5"))
    assert openai.server.address == "https://api.openai.com/v1/"


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    options = {"provider": "anthropic", "model": "claude-opus-5"}
    with pytest.raises(ConfigError, match="needs the package anthropic") as caught:
        prompt("hi", options=options)
    assert "pip install anthropic" in str(caught.value)


def test_options_that_the_wire_lacks(messages: FakeServer) -> None:
    for name in ("seed", "temperature", "top_p"):
        with pytest.raises(ConfigError, match=f"the API `messages` has no option `{name}`"):
            prompt("hi", options={name: 1})
    assert not set(_messages.WIRE.lacks) & set(get_type_hints(MessageCreateParamsBase))
    assert messages.requests == [] and settings_for().api == "messages"
