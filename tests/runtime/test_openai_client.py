"""What our client sends beside what the openai package sends: the same, but for its description of
the machine.

The package builds the first request of a client, and ours takes over from it; so each test looks
at a later one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest

from runtime_support import ProviderError, prompt
from runtime_support.providers.openai_client import ChatClient
from tests.runtime.conftest import KEY
from tests.support.fake_server import Answer, FakeServer, completion, status


@pytest.fixture
def client(server: FakeServer) -> Iterator[ChatClient]:
    """A client that has sent its first request."""
    with ChatClient(api_key=KEY, base_url=server.url, timeout=7, max_retries=1) as client:
        client.send(b'{"number": 1}')
        yield client


def test_later_requests_are_the_packages(server: FakeServer, client: ChatClient) -> None:
    body = {"model": "fake", "messages": [{"role": "user", "content": "größer 😀"}]}
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    response = client.send(content)
    with openai.OpenAI(api_key=KEY, base_url=server.url, timeout=7, max_retries=1) as package:
        package.post("/chat/completions", cast_to=httpx2.Response, body=body)
    _, ours, theirs = server.requests
    of_the_machine = set(theirs.headers) - set(ours.headers)
    assert of_the_machine == {
        *("x-stainless-arch", "x-stainless-lang", "x-stainless-os"),
        *("x-stainless-package-version", "x-stainless-runtime", "x-stainless-runtime-version"),
    }
    headers = {k: value for k, value in theirs.headers.items() if k not in of_the_machine}
    assert ours == replace(theirs, headers=headers)
    assert ours.headers["authorization"] == f"Bearer {KEY}"
    assert ours.headers["x-stainless-read-timeout"] == "7"
    assert response.json()["choices"][0]["message"]["content"] == "ok"


def test_a_retry_is_the_packages(server: FakeServer, client: ChatClient) -> None:
    server.answers = [status(503), completion("at last")]
    response = client.send(b'{"number": 2}')
    assert response.json()["choices"][0]["message"]["content"] == "at last"
    assert [body["number"] for body in server.bodies] == [1, 2, 2]
    counts = [request.headers["x-stainless-retry-count"] for request in server.requests]
    assert counts == ["0", "0", "1"]


def test_a_first_request_that_fails(server: FakeServer) -> None:
    server.answers = [status(503), completion("one"), status(503), completion("two")]
    assert [prompt("?").value, prompt("?").value] == ["one", "two"]
    server.answers = [status(404)]
    with pytest.raises(ProviderError):
        prompt("?")
    assert len(server.requests) == 5


def test_the_time_out_holds_for_later_requests(server: FakeServer) -> None:
    settings: dict[str, Any] = {"api_key": KEY, "base_url": server.url, "max_retries": 0}
    with ChatClient(timeout=0.2, **settings) as client:
        client.send(b"{}")
        server.answers = [replace(completion("late"), delay=1)]
        with pytest.raises(openai.APITimeoutError):
            client.send(b"{}")


def test_cookies_come_back(server: FakeServer, client: ChatClient) -> None:
    for value in ("a", "b"):
        answer = completion("ok")
        server.answers = [replace(answer, headers={**answer.headers, "set-cookie": f"k={value}"})]
        client.send(b"{}")
    client.send(b"{}")
    cookies = [request.headers.get("cookie") for request in server.requests]
    assert cookies == [None, None, "k=a", "k=b"]


def test_a_redirect_is_followed(server: FakeServer, client: ChatClient) -> None:
    server.answers = [Answer(307, headers={"location": "/elsewhere"}), completion("there")]
    response = client.send(b'{"number": 2}')
    assert response.json()["choices"][0]["message"]["content"] == "there"
    assert [(request.path, request.body["number"]) for request in server.requests[1:]] == [
        ("/v1/chat/completions", 2),
        ("/elsewhere", 2),
    ]
