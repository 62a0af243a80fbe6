"""The setting `fallback`: the next model, where one fails by its provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    BudgetSpent,
    ConfigError,
    ContractError,
    ProviderError,
    RateLimited,
    Refused,
    configure,
    prompt,
)
from runtime_support.events import ReplyReceived, add_listener
from runtime_support.runs import journaled
from tests.support.fake_server import (
    Answer,
    FakeServer,
    calling,
    chunk,
    completion,
    cut,
    events,
    raw,
    status,
    streamed,
)

OPTIONS = {"model": "a", "fallback": ["b", "c"], "max_retries": 0, "max_wait": 0}


def answer_by(server: FakeServer, **answers: Answer | list[Answer]) -> Callable[[], str]:
    """Has the server answer by the model that is asked; gives the models that were, in order."""
    left = {model: one if isinstance(one, list) else [one] * 9 for model, one in answers.items()}

    def respond(body: dict[str, Any]) -> Answer:
        return left[body["model"]].pop(0)

    server.responder = respond
    return lambda: "".join(body["model"] for body in server.bodies)


@pytest.mark.parametrize(
    "failure",
    [
        status(404, "no such model"),
        status(401, "no"),
        status(500, "broken"),
        status(503, "full"),
        status(429, retry_after="100"),
        raw(b"<html>"),
        cut(),
    ],
)
def test_the_next_model_answers(server: FakeServer, failure: Answer) -> None:
    asked = answer_by(server, a=failure, b=completion("hello"))
    result = prompt("?", options=OPTIONS)
    assert (result.value, result.model, asked()) == ("hello", "fake-1", "ab")


def test_each_model_has_all_its_tries(server: FakeServer) -> None:
    asked = answer_by(server, a=status(500), b=[status(500), completion("hello")])
    assert prompt("?", options={**OPTIONS, "max_retries": 2, "max_wait": 300}).value == "hello"
    assert asked() == "aaabb"


def test_where_all_fail_the_error_names_them(server: FakeServer) -> None:
    answer_by(server, a=status(404, "gone"), b=status(500, "broken"), c=status(503, "full"))
    with pytest.raises(ProviderError) as caught:
        prompt("?", options=OPTIONS)
    words = str(caught.value)
    assert caught.value.status == 503
    assert words.index("full") < words.index("before, a: ") < words.index("before, b: ")
    assert "gone" in words and "broken" in words


def test_what_a_model_says_is_no_failure(server: FakeServer) -> None:
    asked = answer_by(server, a=[completion("many"), completion("4")])
    assert prompt("?", returns=int, options=OPTIONS).value == 4
    answer_by(server, a=completion("many"))
    with pytest.raises(ContractError):
        prompt("?", returns=int, options=OPTIONS)
    answer_by(server, a=completion("I cannot", finish="content_filter"))
    with pytest.raises(Refused):
        prompt("?", options=OPTIONS)
    assert set(asked()) == {"a"}


def test_a_spent_budget_asks_no_other_model(server: FakeServer) -> None:
    asked = answer_by(server, a=completion("one"), b=completion("two"))
    with configure(budget_requests=1):
        prompt("?", options=OPTIONS)
        with pytest.raises(BudgetSpent):
            prompt("?", options=OPTIONS)
    assert asked() == "a"


def test_the_conversation_stays_with_the_model_that_answers(server: FakeServer) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    asked = answer_by(
        server, a=status(404), b=[calling(("look", {})), completion("no"), completion("5")]
    )
    assert prompt("{look}", look=look, returns=int, options=OPTIONS).value == 5
    assert asked() == "abbb"


def test_it_goes_on_with_the_same_choice(server: FakeServer) -> None:
    asked = answer_by(server, a=status(404), b=completion("hello"))
    first = prompt("?", options=OPTIONS)
    assert prompt("And?", after=first, options={"max_retries": 0}).value == "hello"
    assert asked() == "abab"


def test_a_stream_falls_back_before_its_first_piece_alone(server: FakeServer) -> None:
    asked = answer_by(server, a=status(500), b=streamed("he", "llo"))
    assert "".join(prompt("?", options=OPTIONS, stream=True).pieces()) == "hello"
    assert asked() == "ab"
    answer_by(server, a=events([chunk({"content": "he"})]), b=streamed("he", "llo"))
    with pytest.raises(ProviderError):
        "".join(prompt("?", options=OPTIONS, stream=True).pieces())
    assert asked() == "aba"


def test_the_async_form(server: FakeServer) -> None:
    asked = answer_by(server, a=status(500), b=completion("hello"))
    assert asyncio.run(prompt.aio("?", options=OPTIONS)).value == "hello"
    assert asked() == "ab"


def test_a_journal_keeps_who_answered(server: FakeServer, tmp_path: Path) -> None:
    asked = answer_by(server, a=status(500), b=completion("hello"))
    for _ in range(2):
        with journaled(str(tmp_path / "run.journal")):
            assert prompt("?", options=OPTIONS).value == "hello"
    assert asked() == "ab"


def test_a_recording_answers_without_the_model_that_failed(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer_by(server, a=status(500), b=completion("4"))
    path = tmp_path / "replies.jsonl"
    with monkeypatch.context() as patch:
        patch.setenv("SAFT_RECORD", str(path))
        prompt("?", returns=int, options=OPTIONS)
    monkeypatch.setenv("SAFT_REPLAY", str(path.rename(tmp_path / "kept.jsonl")))
    result = prompt("?", returns=int, options=OPTIONS)
    assert (result.value, result.model, asked()) == (4, "fake-1", "ab")


def test_costs_are_those_of_the_model_that_answered(server: FakeServer) -> None:
    prices = {"a": {"input": 1000.0, "output": 0.0}, "b": {"input": 0.0, "output": 1.0}}
    answer_by(server, a=status(404), b=completion("hello"))
    with configure(budget_cost=1.0, prices=prices):
        for _ in range(3):
            assert prompt("?", options={**OPTIONS, "fallback": ["b"], "max_tokens": 9}).value


def test_listeners_hear_who_answered(server: FakeServer) -> None:
    answer_by(server, a=status(404), b=completion("hello"))
    heard: list[Any] = []
    remove = add_listener(lambda one: heard.append(one))
    prompt("?", options=OPTIONS)
    remove()
    [reply] = [one.reply for one in heard if isinstance(one, ReplyReceived)]
    assert reply.fallback == "b"


def test_it_is_told_once(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    answer_by(server, told=status(404, "gone"), b=completion("hello"))
    for _ in range(2):
        prompt("?", options={**OPTIONS, "model": "told"})
    told = capsys.readouterr().err
    assert told.count('"told" did not answer, so "b" is asked: ') == 1 and "gone" in told


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "names no model"),
        (["b", "b"], '"b" is named twice'),
        ("b", r"expected list"),
        ([1], "expected string"),
    ],
)
def test_wrong_values(value: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        configure(fallback=value)


def test_a_busy_model_says_so_where_none_is_behind_it(server: FakeServer) -> None:
    answer_by(server, a=status(429, retry_after="100"))
    with pytest.raises(RateLimited):
        prompt("?", options={**OPTIONS, "fallback": ["a"]})
