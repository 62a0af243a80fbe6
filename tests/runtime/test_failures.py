"""A server that misbehaves: each failure has its class and its words, none hangs or leaks a key."""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from runtime_support import (
    AuthenticationFailed,
    CheckError,
    ContractError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
    SaftError,
    ToolLimitError,
    TruncatedReply,
    configure,
    prompt,
)
from tests.runtime.conftest import KEY, RequestClock
from tests.support.fake_server import (
    Answer,
    FakeServer,
    calling,
    completion,
    cut,
    message,
    raw,
    status,
)
from tests.support.maps import LineMap

__saft_source_map__ = LineMap()


def failure(kind: type[SaftError], text: str = "hello", **arguments: Any) -> Any:
    """The error of a prompt: of exactly this class, and with the prompt's place."""
    with pytest.raises(kind) as caught:
        prompt(text, **arguments)
    assert type(caught.value) is kind
    line = failure.__code__.co_firstlineno + 3
    assert caught.value.saft_position == f"triage.saft:{line}:8"
    assert caught.value.__notes__ == [f"at triage.saft:{line}:8"]
    return caught.value


@pytest.fixture(autouse=True)
def no_key_in_any_error() -> Iterator[None]:
    """Every error that a test lets out of `prompt` is looked at, with all that hangs on it."""
    seen: list[BaseException] = []
    original = SaftError.__init__

    def remember(self: SaftError, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        seen.append(self)

    SaftError.__init__ = remember  # type: ignore[method-assign]
    yield
    SaftError.__init__ = original  # type: ignore[method-assign]
    for error in seen:
        assert KEY not in "".join(traceback.format_exception(error)) + repr(vars(error))


@pytest.mark.parametrize("code", [400, 404, 413, 422])
def test_client_errors_are_not_retried(server: FakeServer, code: int) -> None:
    server.answers = [status(code, f"you sent {KEY} and nonsense")]
    error = failure(ProviderError)
    assert (error.status, error.request_id) == (code, "req-123")
    assert f"answered {code}" in str(error)
    assert "[redacted] and nonsense" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key(server: FakeServer, code: int) -> None:
    server.answers = [status(code, f"Incorrect API key provided: {KEY}")]
    error = failure(AuthenticationFailed)
    assert error.status == code
    assert "api_key_env" in str(error)
    assert len(server.requests) == 1


def test_429_is_retried_as_the_server_asks(server: FakeServer) -> None:
    server.answers = [status(429, retry_after_ms=30), completion("ok")]
    assert prompt("hello").value == "ok"
    assert len(server.requests) == 2


def test_429_without_retry_after_is_retried_and_then_an_error(server: FakeServer) -> None:
    server.answers = [status(429, "slow down")]
    error = failure(RateLimited, options={"max_wait": 0.1})
    assert error.retry_after is None
    assert "slow down" in str(error)
    assert len(server.requests) > 3


def test_a_wait_that_is_too_long_is_not_waited(server: FakeServer) -> None:
    server.answers = [status(429, retry_after="3600")]
    error = failure(RateLimited)
    assert error.retry_after == 3600
    assert len(server.requests) == 1


def test_500_once_is_no_obstacle(server: FakeServer) -> None:
    server.answers = [status(500), status(503), completion("ok")]
    assert prompt("hello").value == "ok"


def test_500_for_ever_is_an_error(server: FakeServer) -> None:
    server.answers = [status(500, "broken")]
    assert failure(ProviderError).status == 500
    assert len(server.requests) == 3


def test_retries_is_an_option(server: FakeServer) -> None:
    server.answers = [status(500, "broken")]
    failure(ProviderError, options={"max_retries": 0})
    assert len(server.requests) == 1


def test_a_time_out(server: FakeServer, request_clock: RequestClock) -> None:
    may_answer = threading.Event()

    def answer_late(_: dict[str, Any]) -> Answer:
        may_answer.wait(60)
        return completion("late")

    server.responder = answer_late
    # By this clock there is time to send it, however long that takes, and then the answer is late.
    error = failure(ProviderTimeout, options={"timeout": 0.1, "max_retries": 1})
    assert isinstance(error, TimeoutError)
    assert "within 0.1 s" in str(error)
    server.wait_for_requests(2)
    may_answer.set()
    assert len(server.requests) == 2


def test_a_refused_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    configure(provider="openai", base_url=url, max_retries=0)
    error = failure(ProviderError)
    assert f"cannot reach {url}" in str(error)


def test_a_cut_body_is_asked_for_again(server: FakeServer) -> None:
    server.answers = [cut(), completion("ok")]
    assert prompt("hello").value == "ok"
    assert len(server.requests) == 2


def test_bodies_that_are_always_cut(server: FakeServer) -> None:
    server.answers = [cut()]
    said = str(failure(ProviderError))
    assert "cannot be read" in said and "cut off" in said and "cannot reach" not in said
    assert len(server.requests) == 3


def test_a_body_that_is_not_compressed_as_it_says(server: FakeServer) -> None:
    server.answers = [Answer(body=b"no gzip at all", headers={"content-encoding": "gzip"})]
    said = str(failure(ProviderError, options={"max_retries": 0}))
    assert "cannot be read" in said and "cannot reach" not in said


@pytest.mark.parametrize(
    ("content", "returns"), [(7, int), (1.5, float), (True, bool), ({"a": 1}, dict[str, int])]
)
def test_a_reply_that_is_sent_as_data(server: FakeServer, content: Any, returns: Any) -> None:
    server.answers = [completion(content)]
    assert prompt("hello", returns=returns).value == content


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raw(b"<html>Bad gateway</html>"), "not JSON: <html>"),
        (raw(b'{"choices": [{"message": {"content": "\xff"}}]}'), "not JSON"),
        (raw(b"[1]"), "did not return a chat completion: [1]"),
        (raw(b'{"choices": [{"message": null}]}'), "did not return a chat completion"),
    ],
)
def test_answers_that_are_none_are_asked_for_again(
    server: FakeServer, answer: Answer, said: str
) -> None:
    server.answers = [answer]
    assert said in str(failure(ProviderError, options={"max_retries": 1}))
    assert len(server.requests) == 2


def test_an_error_that_is_reported_with_a_status_of_200(server: FakeServer) -> None:
    server.answers = [raw(b'{"error": {"message": "overloaded"}}')]
    assert "the server reports: overloaded" in str(failure(ProviderError))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raw(b""), "it is empty"),
        (raw(b" \n"), "it is empty"),
        (raw(b'{"choices": []}'), "it has no choice"),
        (raw(b'{"choices": null}'), "it has no choice"),
        (completion("half", finish="error"), "the server stopped in the middle of it"),
    ],
)
def test_answers_that_break_off_are_asked_for_again(
    server: FakeServer, answer: Answer, said: str
) -> None:
    server.answers = [answer]
    assert said in str(failure(ProviderError))
    assert len(server.requests) == 3
    server.answers = [answer, completion("whole")]
    assert prompt("hello").value == "whole"


def test_null_content_is_asked_again_and_then_an_error(server: FakeServer) -> None:
    server.answers = [completion(None)]
    assert "the reply is empty" in str(failure(ContractError))
    assert len(server.requests) == 2


def test_an_unknown_finish_reason(server: FakeServer) -> None:
    server.answers = [completion("ok", finish="mysterious")]
    assert prompt("hello").value == "ok"


def test_a_refusal(server: FakeServer) -> None:
    server.answers = [message({"role": "assistant", "content": None, "refusal": "I will not."})]
    assert failure(Refused, returns=int).text == "I will not."
    server.answers = [completion("", finish="content_filter")]
    failure(Refused)


def test_an_endless_tool_loop(server: FakeServer) -> None:
    def again() -> str:
        return "again"

    server.answers = [calling(("again", {}))]
    error = failure(ToolLimitError, "{again}", again=again, options={"max_tool_rounds": 3})
    assert error.limit == 3
    assert [call.result for call in error.tool_calls] == ["again"] * 3
    assert len(server.requests) == 4


def test_calls_with_broken_json_unknown_names_and_no_ids(server: FakeServer) -> None:
    def square(x: int) -> int:
        return x * x

    server.answers = [calling(("square", '{"x": 3'), ("sqare", {"x": 3})), completion("ok")]
    errors = [call.error or "" for call in prompt("{square}", square=square).tool_calls]
    assert "not JSON" in errors[0]
    assert "did you mean `square`" in errors[1]


def test_two_tools_under_one_name_are_refused_before_any_request(server: FakeServer) -> None:
    def one() -> int:
        return 1

    def two() -> int:
        return 2

    with pytest.raises(CheckError, match="two different functions under the tool name `tool_1`"):
        prompt("{tool_1} {0}", one, tool_1=two)
    assert server.requests == []


def test_a_typed_reply_that_is_cut(server: FakeServer) -> None:
    server.answers = [completion('{"a": 1, "b"', finish="length")]
    error = failure(TruncatedReply, returns=dict[str, int])
    assert error.text == '{"a": 1, "b"'
    assert len(server.requests) == 1


def test_a_reply_of_five_megabytes_that_is_no_value(server: FakeServer) -> None:
    server.answers = [completion("no " * 1_700_000)]
    error = failure(ContractError, returns=int, options={"max_repairs": 0})
    assert len(str(error)) < 1000


def test_a_failed_tool_call_is_no_failure_of_the_prompt(server: FakeServer) -> None:
    def fails(x: int) -> int:
        raise RuntimeError(f"no {x}")

    server.answers = [calling(("fails", {"x": 3})), completion("ok")]
    result = prompt("{fails}", fails=fails)
    assert (result.value, result.tool_calls[0].error) == ("ok", "RuntimeError: no 3")
    assert server.bodies[1]["messages"][-1]["content"] == "error: RuntimeError: no 3"
