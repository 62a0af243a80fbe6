"""The rules are those of the runtime: with all that a model can answer, it takes just so many.

Every sequence of answers is tried, each answer one of a few that are as different as can be; the
longest conversation is what the rule says, so that a change of the runtime is noticed here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from runtime_support import Reply, Request, configure, program
from runtime_support import prompt as ask
from runtime_support._core.messages import ToolRequest
from runtime_support.errors import SaftError
from runtime_support.programs import ambiguous, option
from runtime_support.programs._evaluation import DEFAULT_LIMITS
from runtime_support.testing import tool_request
from saftc.cost.bound import number
from saftc.cost.rules import Fields, Settings, program_calls, program_replies, replies, tool_calls
from saftc.cost.settings import project_limits

pytestmark = pytest.mark.one_python

Act = Callable[[int], Reply]
_LIMITS = [
    {"max_repairs": repairs, "max_tool_rounds": rounds, "max_tool_calls": calls}
    for repairs, rounds, calls in ((0, 0, 2), (1, 1, 1), (0, 2, 1), (1, 2, 3), (2, 1, 0), (0, 3, 3))
]


class _Open(BaseException):
    """The conversation goes on."""


class _Playing:
    def __init__(self, acts: tuple[Act, ...]) -> None:
        self.acts = iter(acts)
        self.count = itertools.count(1)

    def complete(self, request: Request) -> Reply:
        act = next(self.acts, None)
        if act is None:
            raise _Open
        return act(next(self.count))


class Most(NamedTuple):
    """The most requests, and calls of tools, in one conversation."""

    requests: int
    calls: int


def most_of(asking: Callable[[list[str]], object], acts: Mapping[str, Act]) -> Most:
    """Tries every sequence of the acts, as long as the conversation goes on."""
    pending: list[tuple[Act, ...]] = [()]
    requests = calls = 0
    while pending:
        tried = pending.pop()
        made: list[str] = []
        try:
            with configure(provider=_Playing(tried)):
                asking(made)
        except _Open:
            pending += [(*tried, act) for act in acts.values()]
            continue
        except SaftError:
            pass
        requests, calls = max(requests, len(tried)), max(calls, len(made))
    return Most(requests, calls)


def calling(*calls: ToolRequest) -> Act:
    """A reply with calls."""
    return lambda _: Reply("", tool_calls=calls, finish="tool_calls")


def saying(text: str) -> Act:
    """A reply with text."""
    return lambda _: Reply(text)


def settings_with(limits: Mapping[str, int], *, enforce_schema: bool = False) -> Settings:
    """The settings of a prompt with these options."""
    repairs, rounds, calls = (number(one) for one in limits.values())
    return Settings(repairs, rounds, calls, calls, enforce_schema)


_TEXTS = {"good": saying("5"), "bad": saying("")}
_CALLS = {
    "one": calling(tool_request("look", place="a")),
    "two": calling(tool_request("look", place="a"), tool_request("look", place="b")),
    "other": calling(tool_request("unknown")),
}


@pytest.mark.parametrize("limits", _LIMITS)
@pytest.mark.parametrize("returns", [str, int])
@pytest.mark.parametrize("is_do", [False, True])
@pytest.mark.parametrize("has_tools", [False, True])
def test_a_prompt(limits: dict[str, int], returns: Any, is_do: bool, has_tools: bool) -> None:
    def asking(made: list[str]) -> object:
        def look(place: str) -> str:
            made.append(place)
            return "here"

        given = {"look": look} if has_tools else {}
        text = "use {look}" if has_tools else "how many?"
        rounds = 1 if is_do else None
        return ask(text, **given, returns=returns, rounds=rounds, options=limits).value

    settings = settings_with(limits)
    found = most_of(asking, {**_TEXTS, **_CALLS})
    most = replies(settings, has_tools=has_tools, is_do=is_do, fields=None)
    assert found.requests == most.number
    if has_tools:
        # A round that passes the bound is not called, and `do` may have the last calls in one.
        assert found.calls <= (tool_calls(settings).number or 0)
        reach = min(limits["max_tool_calls"], 2 * (1 if is_do else limits["max_tool_rounds"]))
        assert found.calls == (reach if limits["max_tool_rounds"] else 0)


def handing(**values: Any) -> Act:
    """A reply that hands in fields."""
    calls = (tool_request(f"__saft_return_{name}", value=one) for name, one in values.items())
    return calling(*calls)


@pytest.mark.parametrize("limits", _LIMITS)
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("is_do", [False, True])
@pytest.mark.parametrize("has_tools", [False, True])
def test_a_destructuring(
    limits: dict[str, int], optional: bool, is_do: bool, has_tools: bool
) -> None:
    fields = {"a": str, "b": int | None if optional else int}

    def asking(made: list[str]) -> object:
        def look(place: str) -> str:
            return "here"

        given = {"look": look} if has_tools else {}
        text = "use {look}" if has_tools else "who?"
        return ask(text, **given, fields=fields, rounds=1 if is_do else None, options=limits).value

    acts = {
        "a": handing(a="x"),
        "b": handing(b=1),
        "wrong": handing(b="x"),
        "one": _CALLS["one"],
        "text": saying("no"),
    }
    most = replies(
        settings_with(limits), has_tools=has_tools, is_do=is_do, fields=Fields(2, optional)
    )
    assert most_of(asking, acts).requests == most.number


@pytest.mark.parametrize("limits", _LIMITS[:4])
def test_fields_as_one_object(limits: dict[str, int]) -> None:
    def asking(made: list[str]) -> object:
        fields = {"a": str, "b": int}
        return ask("who?", fields=fields, options={**limits, "enforce_schema": "on"}).value

    acts = {"good": saying('{"a": "x", "b": 1}'), "bad": saying("no"), **_CALLS}
    settings = settings_with(limits, enforce_schema=True)
    most = replies(settings, has_tools=False, is_do=False, fields=Fields(2, has_optional=False))
    assert most_of(asking, acts).requests == most.number


def _programs(made: list[str]) -> object:
    def look(place: str) -> str:
        made.append(place)
        return "here"

    def choose(place: str) -> str:
        made.append(place)
        return ambiguous("which?", [option("the first", "1"), option("the second", "2")])

    return look, choose


@pytest.mark.parametrize("limits", [one for one in _LIMITS if one["max_tool_calls"]])
def test_a_program(limits: dict[str, int]) -> None:
    def asking(made: list[str]) -> object:
        look, choose = _programs(made)  # type: ignore[misc]
        return program("use {look} {choose}", look=look, choose=choose, options=limits).value

    def choosing(count: int) -> Reply:
        # As many calls as a run may make, the last of which is not decided; each is a new one.
        calls = limits["max_tool_calls"]
        places = [f"{count}-{one}" for one in range(calls)]
        parts = [{"look": {"place": one}} for one in places[:-1]]
        return Reply(json.dumps([*parts, {"choose": {"place": places[-1]}}]))

    acts: dict[str, Act] = {
        "good": saying("5"),
        "wrong": lambda count: Reply(json.dumps({f"unknown{count}": {"a": 1}})),
        "choosing": choosing,
        "other": _CALLS["other"],
    }
    settings = settings_with(limits)
    found = most_of(asking, acts)
    assert found.requests == program_replies(settings).number
    assert found.calls == program_calls(settings).number


def test_a_run_of_a_program_makes_no_more_calls_than_its_limits() -> None:
    assert project_limits().program_calls == DEFAULT_LIMITS.calls
    made: list[str] = []
    look, _ = _programs(made)  # type: ignore[misc]
    over = {"over": list(range(DEFAULT_LIMITS.calls + 9)), "as": "one"}
    calls = json.dumps({"$map": {**over, "do": {"look": {"place": "a"}}}})
    with configure(provider=_Playing((saying(calls),))), pytest.raises(SaftError):
        program("use {look}", look=look)
    assert len(made) == DEFAULT_LIMITS.calls


def test_the_settings_are_those_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_MAX_REPAIRS", "3")
    monkeypatch.setenv("SAFT_MAX_TOOL_ROUNDS", "5")
    monkeypatch.setenv("SAFT_BUDGET_REQUESTS", "70")
    limits = project_limits()
    assert (limits.max_repairs, limits.max_tool_rounds, limits.max_tool_calls) == (3, 5, 32)
    assert (limits.budget_requests, limits.max_retries) == (70, 2)
