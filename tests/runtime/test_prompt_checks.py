"""The option `check`: a function that fails with the reason where a value does not do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ConfigError, ContractError, Failed, configure, program, prompt
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]


@dataclass(frozen=True)
class Flight:
    price: int


def said(model: Scripted) -> str:
    """What the model was told last."""
    return str(model.requests[-1].messages[-1]["content"])


def test_a_value_that_does_not_do_is_asked_for_again_with_the_reason(scripted: Script) -> None:
    most = 300

    def fits(flight: Flight) -> None:
        if flight.price > most:
            raise AssertionError(f"{flight.price} is more than {most}")

    model = scripted('{"price": 500}', '{"price": 200}')
    result = prompt("?", returns=Flight, options={"check": fits})
    assert result.value == Flight(200) and result.usage.requests == 2
    assert "That reply cannot be used: 500 is more than 300." in said(model)
    assert result.repairs == ["asked again: 500 is more than 300"]


@pytest.mark.parametrize(
    "error", [Failed("say please"), AssertionError("say please"), ValueError("say please")]
)
def test_each_way_to_fail_is_a_reason(scripted: Script, error: Exception) -> None:
    def polite(text: str) -> None:
        if "please" not in text:
            raise error

    model = scripted("go", "please go")
    assert prompt("?", options={"check": polite}).value == "please go"
    assert said(model) == "That reply cannot be used: say please. Please answer again."


def test_an_empty_reply_is_told_as_before(scripted: Script) -> None:
    model = scripted("", "hello")
    assert prompt("?", options={"check": lambda text: None}).value == "hello"
    assert said(model) == "Your reply was empty. Please answer."


def test_it_counts_as_any_other_repair(scripted: Script) -> None:
    def never(value: int) -> None:
        raise Failed("another one")

    scripted("1", "2", "3")
    with pytest.raises(ContractError, match="no usable reply after 3 tries: another one") as caught:
        prompt("?", returns=int, options={"check": never, "max_repairs": 2})
    assert [reason for _, reason in caught.value.attempts] == ["another one"] * 3


def test_what_a_check_does_not_mean_is_raised(scripted: Script) -> None:
    def first(items: list[int]) -> None:
        assert items[3]

    scripted("[1]")
    with pytest.raises(IndexError):
        prompt("?", returns=list[int], options={"check": first})


def test_false_is_no_reason(scripted: Script) -> None:
    scripted("hello", "hello")
    with pytest.raises(ConfigError, match="gives false; fail with a reason"):
        prompt("?", options={"check": lambda text: False})
    assert prompt("?", options={"check": lambda text: True}).value == "hello"


def test_it_is_asked_after_tools_alone(scripted: Script) -> None:
    def look() -> int:
        """Looks."""
        return 3

    def small(value: int) -> None:
        if value > 2:
            raise Failed("less")

    scripted(tool_request("look"), "3", "2")
    assert prompt("{look}", look=look, returns=int, options={"check": small}).value == 2


def test_a_prompt_behind_has_no_check_of_the_one_before(scripted: Script) -> None:
    def never(text: str) -> None:
        if text == "b":
            raise Failed("no")

    scripted("a", "b")
    assert prompt("?", after=prompt("?", options={"check": never})).value == "b"


def test_the_async_form(scripted: Script) -> None:
    def polite(text: str) -> None:
        if "please" not in text:
            raise Failed("say please")

    scripted("go", "please go")
    assert asyncio.run(prompt.aio("?", options={"check": polite})).value == "please go"


def test_kept_answers_are_checked_too(scripted: Script, tmp_path: Path) -> None:
    path, allowed = tmp_path / "run.journal", {"b"}

    def fits(text: str) -> None:
        if text not in allowed:
            raise Failed("another letter")

    model = scripted("a", "b", "c")
    for letters, sent in (("b", 2), ("b", 2)):
        allowed = {letters}
        with journaled(path):
            assert prompt("?", options={"check": fits}).value == letters
        assert len(model.requests) == sent


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda fits: prompt("?", options={"check": "fits"}), "expected a function"),
        (lambda fits: prompt("?", fields={"a": int}, options={"check": fits}), "several fields"),
        (lambda fits: prompt("?", stream=True, options={"check": fits}), "parts of a stream"),
        (lambda fits: program("?", options={"check": fits}), "cannot judge a program"),
    ],
)
def test_where_it_cannot_be(scripted: Script, ask: Callable[[Any], Any], words: str) -> None:
    scripted("hello")
    with pytest.raises(ConfigError, match=words):
        ask(lambda value: None)


def test_it_is_no_setting() -> None:
    with pytest.raises(ConfigError, match="no option `check`"):
        configure(check=print)
