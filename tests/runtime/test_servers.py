"""One client for each server: what it sends of itself, what is learnt of the server, and forks."""

from __future__ import annotations

import gc
import json
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from runtime_support import (
    ConfigError,
    ProviderError,
    ToolsUnsupported,
    configure,
    prompt,
    providers,
)
from runtime_support._core.settings import Settings, settings_for
from runtime_support.providers import live_provider
from runtime_support.providers._forms import UnsupportedFeatures
from tests.runtime.conftest import KEY
from tests.support.fake_server import FakeServer, completion, status

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def square(x: int) -> int:
    return x * x


def in_child(work: Callable[[], object]) -> Any:
    """What the work gives in a forked process, or how it fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told: object = work()
        except BaseException as error:
            told = repr(error)
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = json.loads(pipe.read())
    os.waitpid(child, 0)
    return told


def ports(server: FakeServer) -> list[int]:
    """The ports that the requests came from: the same for those of one connection."""
    return [request.port for request in server.requests]


@can_fork
def test_a_forked_process_makes_its_own_connections(server: FakeServer) -> None:
    def echo(body: dict[str, Any]) -> Any:
        return completion(body["messages"][0]["content"])

    server.responder = echo
    assert prompt("parent").value == "parent"
    assert in_child(lambda: prompt("child").value) == "child"
    assert prompt("parent again").value == "parent again"
    first, of_child, again = ports(server)
    assert first == again != of_child


@can_fork
def test_a_provider_that_was_made_before_a_fork_connects_anew(server: FakeServer) -> None:
    provider = live_provider(settings_for())
    configure(provider=provider)
    prompt("parent")
    assert in_child(lambda: prompt("child").value) == "ok"
    first, of_child = ports(server)
    assert first != of_child


@can_fork
def test_a_lock_that_is_held_during_a_fork_does_not_stop_the_child(server: FakeServer) -> None:
    provider: Any = live_provider(settings_for())
    with providers._lock, provider.server._lock:
        assert in_child(lambda: prompt("child").value) == "ok"


@pytest.mark.heavy
@can_fork
def test_a_child_ends_although_its_parent_had_connections(server: FakeServer) -> None:
    script = (
        "import os\n"
        "from runtime_support import prompt\n"
        "prompt('parent')\n"
        "child = os.fork()\n"
        "os.write(1, prompt('again').value.encode())\n"
        "child and os.waitpid(child, 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SAFT_BASE_URL": server.url, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("okok", "")


def test_time_outs_and_retries_share_a_connection(server: FakeServer) -> None:
    for number in range(10):
        prompt("?", options={"timeout": 30 + number / 100, "max_retries": number % 3})
    assert len(set(ports(server))) == 1
    assert len(providers._made) == 1


def test_servers_that_are_used_no_more_are_closed(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt("?")
    (made,) = providers._made.values()
    connections = made[1].client()._client
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-0123456789")
    prompt("?")
    del made
    gc.collect()
    assert connections.is_closed
    assert len(providers._made) == 1


def test_the_servers_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for port in range(1, 100):
        live_provider(Settings(provider="openai", base_url=f"http://127.0.0.1:{port}/v1"))
    assert len(providers._made) == providers._MOST_MADE


def test_a_provider_travels_without_its_key(server: FakeServer) -> None:
    provider = live_provider(settings_for({"timeout": 7.0}))
    packed = pickle.dumps(provider)
    assert KEY.encode() not in packed
    other: Any = pickle.loads(packed)
    assert other.settings.timeout == 7
    configure(provider=other)
    assert prompt("?").value == "ok"


def test_what_is_sent_of_the_program_and_the_machine(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")
    prompt("?", options={"timeout": 7.0})
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["user-agent"].startswith("OpenAI/Python ")
    assert headers["x-stainless-read-timeout"] == "7.0"
    of_the_package = {name for name in headers if name.startswith(("x-", "openai-"))}
    assert of_the_package == {"x-stainless-read-timeout", "x-stainless-retry-count"}


def test_openai_itself_is_told_the_organization(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    provider: Any = live_provider(Settings(provider="openai"))
    headers = provider.server.client().default_headers
    assert headers["OpenAI-Organization"] == "org-mine"


def test_cookies_come_back(server: FakeServer) -> None:
    for value in ("a", "b"):
        answer = completion("ok")
        server.answers = [replace(answer, headers={**answer.headers, "set-cookie": f"k={value}"})]
        prompt("?")
    prompt("?")
    cookies = [request.headers.get("cookie") for request in server.requests]
    assert cookies == [None, "k=a", "k=b"]


def test_a_first_request_that_fails(server: FakeServer) -> None:
    server.answers = [status(503), completion("one"), status(503), completion("two")]
    assert [prompt("?").value, prompt("?").value] == ["one", "two"]
    server.answers = [status(404)]
    with pytest.raises(ProviderError):
        prompt("?")
    assert len(server.requests) == 5


def test_retries_are_counted_for_the_server(server: FakeServer) -> None:
    server.answers = [status(503), completion("at last")]
    assert prompt("?").value == "at last"
    counts = [request.headers["x-stainless-retry-count"] for request in server.requests]
    assert counts == ["0", "1"]


def test_an_address_with_a_user_and_a_parameter(server: FakeServer) -> None:
    address = server.url.replace("://", "://bob:hunter2@") + "?api_key=abc&api-version=2"
    configure(base_url=address)
    server.answers = [status(400, "no hunter2, no Ym9iOmh1bnRlcjI=, no bob")]
    with pytest.raises(ProviderError) as caught:
        prompt("?")
    (request,) = server.requests
    assert request.path == "/v1/chat/completions?api_key=abc&api-version=2"
    assert request.headers["authorization"] == "Basic Ym9iOmh1bnRlcjI="
    assert f"{server.url}/ answered 400: no [redacted], no [redacted], no bob" in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8080/v1",
        "http://",
        "http://127.0.0.1:port/v1",
        "http://[::1/v1",
        "ftp://127.0.0.1/v1",
        "http://bob:hunter2@127.0.0.1:port/v1?key=hunter2",
        "http://a b/v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:65536/v1",
        "http://127.0.0.1:-1/v1",
        "http://127.0.0.1:0/v1",
        "http://[::1]:70000/v1",
        "http://a\nb/v1",
        "\0",
    ],
)
def test_what_is_no_address_is_an_error_of_the_setting(address: str) -> None:
    with pytest.raises(ConfigError, match=r"base_url: .* is not a valid server URL") as caught:
        prompt("?", options={"provider": "openai", "base_url": address})
    assert caught.value.setting == "base_url"
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).isprintable()


def test_an_address_of_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "nowhere")
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL: nowhere is not a valid server URL"):
        prompt("?", options={"provider": "openai"})


@pytest.mark.parametrize("key", ["größe-0123456789", "a\nb", "a\x1bb"])
def test_a_key_that_no_header_takes(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not a valid API key") as caught:
        prompt("?", options={"provider": "openai"})
    assert key not in str(caught.value)


NO_TOOLS = [
    "this model does not support tools",
    "registry.ollama.ai/library/gemma:2b does not support tools",
    "No endpoints found that support tool use. To learn more about provider routing, visit: https",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "tools param requires --jinja flag",
    "tools is not supported in this model. For a list of supported models, refer to https://",
    "Unsupported parameter: 'tools' is not supported with this model.",
    "`tool calling` is not supported with this model",
    "Function calling is not enabled for this model",
    "deepseek-reasoner does not support Function Calling",
    "Unrecognized request argument supplied: tools",
    "[{'loc': ('body', 'tools'), 'msg': 'Extra inputs are not permitted'}]",
]
OTHER_MISTAKES_WITH_TOOLS = [
    "Invalid schema for tool 'look': unknown keyword 'foo'",
    "tools[0].function.parameters: unexpected property",
    "This request had tool messages out of order; unknown tool_call_id",
    "unknown field tools[0].strict",
    "the tool 'square' is not supported",
    "tool_choice 'none' is not supported",
    "does not support tool 'square'",
]
NO_SCHEMA = [
    "unknown field response_format",
    "Unrecognized request argument supplied: response_format",
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`",
    "'response_format.type' must be 'json_object' or 'text'",
    "response_format value as json_schema is enabled only for api versions 2024-08-01-preview",
    "The model does not support structured outputs",
    "[{'loc': ('body', 'response_format'), 'msg': 'Extra inputs are not permitted'}]",
]
NOT_THIS_SCHEMA = [
    "Invalid schema for response_format 'reply': In context=(), 'x' is not permitted",
    "JSON schema conversion failed: unrecognized schema",
    "Failed to parse grammar",
    "The specified schema produces a constraint that has too many states for serving",
]
OTHER_MISTAKES = ["context length exceeded", "there is no model of this name", "no"]


@pytest.mark.parametrize("said", NO_TOOLS)
def test_a_server_without_tools(server: FakeServer, said: str) -> None:
    server.answers = [status(400, said)]
    for _ in range(2):
        with pytest.raises(ToolsUnsupported):
            prompt("{square}", square=square)
    assert len(server.requests) == 1, "it is asked once"


@pytest.mark.parametrize("said", OTHER_MISTAKES_WITH_TOOLS)
def test_a_mistake_with_tools_says_nothing_of_the_server(server: FakeServer, said: str) -> None:
    server.answers = [status(400, said), completion("fine")]
    with pytest.raises(ProviderError) as caught:
        prompt("{square}", square=square)
    assert type(caught.value) is ProviderError
    assert prompt("{square}", square=square).value == "fine"


def enforced(server: FakeServer) -> list[bool]:
    return ["response_format" in body for body in server.bodies]


@pytest.mark.parametrize("said", NO_SCHEMA)
def test_a_server_that_enforces_no_schema(server: FakeServer, said: str) -> None:
    server.answers = [status(400, said), completion("1"), completion("1"), completion("[1]")]
    assert [prompt("?", returns=int).value for _ in range(2)] == [1, 1]
    assert enforced(server) == [True, False, False]
    assert (
        prompt("?", returns=list[int], options={"max_repairs": 0, "enforce_schema": "off"})
        is not None
    )


@pytest.mark.parametrize("said", NOT_THIS_SCHEMA)
def test_a_schema_that_a_server_cannot_enforce(server: FakeServer, said: str) -> None:
    server.answers = [status(400, said), completion("1"), completion("[1]")]
    prompt("?", returns=int)
    prompt("?", returns=list[int])
    assert enforced(server) == [True, False, True]


@pytest.mark.parametrize("said", OTHER_MISTAKES)
def test_a_mistake_says_nothing_of_schemas(server: FakeServer, said: str) -> None:
    server.answers = [status(400, said), completion("1")]
    with pytest.raises(ProviderError):
        prompt("?", returns=int)
    assert prompt("?", returns=int).value == 1
    assert enforced(server) == [True, True]


def test_what_does_not_help_is_not_remembered(server: FakeServer) -> None:
    said = ("the schema service is overloaded", "it still is")
    server.answers = [*(status(400, one) for one in said), completion("1")]
    with pytest.raises(ProviderError, match="it still is"):
        prompt("?", returns=int)
    assert prompt("?", returns=int).value == 1
    assert enforced(server) == [True, False, True]


def test_each_schema_that_is_refused_is_sent_once(server: FakeServer) -> None:
    refusal = status(400, "response_format: no")
    server.answers = [refusal, completion("1"), refusal, completion("[1]"), completion("1")]
    assert prompt("?", returns=int).value == 1
    assert prompt("?", returns=list[int]).value == [1]
    assert prompt("?", returns=int).value == 1
    assert enforced(server) == [True, False, True, False, False]


def test_parts_are_left_out_one_by_one(server: FakeServer) -> None:
    server.answers = [
        status(400, "unknown field stream_options"),
        status(400, "max_tokens: use max_completion_tokens"),
        status(422, "max_completion_tokens is at most 4096"),
        completion("[1]"),
    ]
    options = {"max_tokens": 9000}
    for _ in range(2):
        assert prompt("?", returns=list[int], stream=True, options=options).value == [1]
    *_, last, again = server.bodies
    assert last == again and len(server.requests) == 5
    assert last["max_completion_tokens"] == 4096 and last["stream"] is True
    assert "stream_options" not in last and "response_format" in last


@pytest.mark.parametrize("code", [500, 501, 503])
def test_a_failing_server_is_not_believed(server: FakeServer, code: int) -> None:
    server.answers = [status(code, "does not support tools; unknown field response_format")]
    configure(max_retries=0)
    for ask in (lambda: prompt("?", returns=int), lambda: prompt("{square}", square=square)):
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                ask()
            assert type(caught.value) is ProviderError
    assert len(server.requests) == 4


def test_another_model_of_the_server_is_asked(server: FakeServer) -> None:
    server.answers = [status(400, NO_TOOLS[0]), completion("fine")]
    with pytest.raises(ToolsUnsupported):
        prompt("{square}", square=square)
    assert prompt("{square}", square=square, options={"model": "other"}).value == "fine"


def test_what_was_lacking_is_tried_again_later(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [status(400, NO_TOOLS[0]), completion("fine")]
    with pytest.raises(ToolsUnsupported):
        prompt("{square}", square=square)
    with pytest.raises(ToolsUnsupported):
        prompt("{square}", square=square)
    monkeypatch.setattr(
        UnsupportedFeatures, "now", lambda _: time.monotonic() + UnsupportedFeatures.SECONDS
    )
    assert prompt("{square}", square=square).value == "fine"


def test_what_is_known_of_a_server_is_bounded() -> None:
    lacks = UnsupportedFeatures()
    for number in range(1000):
        lacks.add("schema", str(number))
    assert ("schema", "0") not in lacks
    assert ("schema", "999") in lacks


def test_threads_make_one_client(server: FakeServer) -> None:
    gate = threading.Barrier(8)

    def made(_: int) -> int:
        gate.wait()
        provider: Any = live_provider(settings_for())
        return id(provider.server.client())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(made, range(8)))) == 1


def test_nothing_is_sent_before_there_is_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider: Any = live_provider(Settings(provider="openai"))
    provider.server.client()
