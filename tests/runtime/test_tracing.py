"""The trace, the log, and observers of one's own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    ConfigError,
    RateLimited,
    ToolsUnsupported,
    approve,
    configure,
    events,
    prompt,
)
from runtime_support._core import notes
from runtime_support._core.messages import Reply, Request
from runtime_support._observability.tracing import add_observer
from runtime_support.testing import Scripted, tool_request
from tests.support.maps import LineMap

SECRET = "sk-proj-abcdefghijklmnop1234"


@pytest.fixture(autouse=True)
def nothing_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_noted", set())


def greet(name: str) -> str:
    return f"hello {name}"


def run(scripted: Callable[..., Scripted]) -> None:
    scripted(tool_request("greet", name="Ada"), f"done with {SECRET}")
    prompt("{greet} with {key}", greet=greet, key=SECRET, options={"temperature": 0})


def test_the_trace_is_readable_and_redacted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Scripted],
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    run(scripted)
    told = capsys.readouterr().err
    assert SECRET not in told
    lines = told.splitlines()
    assert re.fullmatch(
        r"\[\d+\] test_tracing\.py:\d+ -> \{\"temperature\": 0\.0\}, tools: greet", lines[0]
    )
    assert lines[1:3] == ["  user:", '    greet with "[redacted]"']
    without_number = [line.partition("] ")[2] or line for line in lines[3:]]
    assert re.fullmatch(r"<- scripted, tool_calls, 0\+0 tokens, [\d.]+ ms", without_number[0])
    assert without_number[1] == '    call greet {"name": "Ada"}'
    assert re.fullmatch(r'tool greet \{"name": "Ada"\}, [\d.]+ ms', without_number[2])
    assert without_number[3] == "    hello Ada"
    assert "hello Ada" not in "".join(without_number[4:]), "each message is shown once"
    assert without_number[-1] == "    done with [redacted]"


def test_on_a_terminal_the_trace_has_colours(
    monkeypatch: pytest.MonkeyPatch, scripted: Callable[..., Scripted]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("SAFT_VERBOSE", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    scripted("[bold]not markup[/bold] " + "long " * 50)
    prompt("say {x}", x=SECRET)
    told = terminal.getvalue()
    assert "\x1b[1;36m[" in told
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told)
    assert "    [bold]not markup[/bold] " + "long " * 49 in plain
    assert SECRET not in plain


def test_what_return_tools_answer_is_shown(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Scripted],
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    scripted(
        tool_request("__saft_return_age", value="old"), tool_request("__saft_return_age", value=3)
    )
    prompt("?", fields={"age": int})
    assert 'tool:\n    error: value: expected int, got string "old"' in capsys.readouterr().err


def test_a_prompt_that_begins_anew_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class WithoutTools(Scripted):
        def complete(self, request: Request) -> Reply:
            if request.tools:
                raise ToolsUnsupported("no tools here")
            return super().complete(request)

    monkeypatch.setenv("SAFT_VERBOSE", "1")
    configure(provider=WithoutTools(['{"age": 3}']))
    prompt("how old?", fields={"age": int})
    assert capsys.readouterr().err.count("  user:\n    how old?") == 2


def test_the_place_is_that_of_the_script(scripted: Callable[..., Scripted]) -> None:
    seen: list[dict[str, Any]] = []
    remove = add_observer(seen.append)
    scripted("hello")
    names = {"__saft_source_map__": LineMap(), "__name__": "triage", "prompt": prompt}
    exec("value = prompt('hi').value", names)
    remove()
    assert [event["place"] for event in seen] == ["triage.saft:1:8"] * 2


def test_the_log_is_json_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Scripted]
) -> None:
    path = tmp_path / "saft.jsonl"
    monkeypatch.setenv("SAFT_LOG", str(path))
    run(scripted)
    assert SECRET not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["request", "reply", "tool", "request", "reply"]
    assert len({event["prompt"] for event in events}) == 1
    assert all(event["place"].startswith("test_tracing.py:") for event in events)
    assert all(event["time"] > 0 and event["process"] == os.getpid() for event in events)
    assert events[2]["result"] == "hello Ada"


def test_silence_is_the_default(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    scripted: Callable[..., Scripted],
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "0")
    run(scripted)
    assert capsys.readouterr().err == ""


def test_an_observer_of_ones_own(scripted: Callable[..., Scripted]) -> None:
    seen: list[dict[str, Any]] = []
    remove = add_observer(seen.append)
    run(scripted)
    remove()
    run(scripted)
    assert [event["event"] for event in seen] == ["request", "reply", "tool", "request", "reply"]


def test_an_observer_that_raises_costs_no_answer(
    capsys: pytest.CaptureFixture[str], scripted: Callable[..., Scripted]
) -> None:
    def broken(event: dict[str, Any]) -> None:
        raise KeyError(event["event"])

    seen: list[dict[str, Any]] = []
    removals = [add_observer(broken), add_observer(seen.append)]
    scripted("one", "two")
    assert [prompt("hi").value, prompt("hi").value] == ["one", "two"]
    for remove in removals:
        remove()
    assert len(seen) == 4
    assert re.fullmatch(
        r"saftc: observer 1 \(.*broken\): KeyError: 'request'\n", capsys.readouterr().err
    )


def test_an_interrupt_in_an_observer_is_one(scripted: Callable[..., Scripted]) -> None:
    def interrupting(event: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    remove = add_observer(interrupting)
    scripted("one")
    with pytest.raises(KeyboardInterrupt):
        prompt("hi")
    remove()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("no/such/log.jsonl", "there is no folder no/such"), (".", "it is a folder")],
)
def test_nothing_is_sent_when_the_log_cannot_be_written(
    path: str, reason: str, monkeypatch: pytest.MonkeyPatch, scripted: Callable[..., Scripted]
) -> None:
    monkeypatch.setenv("SAFT_LOG", path)
    provider = scripted("one")
    with pytest.raises(ConfigError, match=f"cannot write the log {path}: {reason}"):
        prompt("hi")
    assert not provider.requests


def test_a_log_that_is_lost_on_the_way_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Scripted],
    tmp_path: Path,
) -> None:
    path = tmp_path / "logs" / "log.jsonl"
    path.parent.mkdir()
    monkeypatch.setenv("SAFT_LOG", str(path))

    class Removing(Scripted):
        def complete(self, request: Request) -> Reply:
            shutil.rmtree(path.parent)
            return super().complete(request)

    configure(provider=Removing(["one"]))
    assert prompt("hi").value == "one"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"saftc: log {path}: ")


def test_without_standard_error_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Scripted],
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    monkeypatch.setattr("sys.stderr", None)
    scripted("one")
    assert prompt("hi").value == "one"
    assert capsys.readouterr().out == ""


def test_half_surrogates_can_be_logged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Scripted]
) -> None:
    path = tmp_path / "saft.jsonl"
    monkeypatch.setenv("SAFT_LOG", str(path))
    scripted("half \ud800")
    prompt("hi")
    assert json.loads(path.read_text().splitlines()[1])["text"] == "half \ud800"


def test_a_failure_is_an_event(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class Busy:
        def complete(self, request: Request) -> Reply:
            raise RateLimited("too many requests", status=429, hint="wait")

    path = tmp_path / "saft.jsonl"
    monkeypatch.setenv("SAFT_LOG", str(path))
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    configure(provider=Busy())
    with pytest.raises(RateLimited):
        prompt("hi")
    _, failure = [json.loads(line) for line in path.read_text().splitlines()]
    assert (failure["event"], failure["error"], failure["status"]) == (
        "failure",
        "RateLimited",
        429,
    )
    assert failure["message"] == "too many requests; wait" and failure["duration"] >= 0
    told = capsys.readouterr().err
    assert re.search(r"\] failed, [\d.]+ ms\n    RateLimited: too many requests; wait\n", told)


def test_control_characters_of_a_reply_do_not_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Scripted],
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    scripted("\x1b[2Jgone\x9b")
    prompt("hi")
    assert "    \\x1b[2Jgone\\x9b\n" in capsys.readouterr().err


def test_events_have_ids_parents_and_times(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []
    monkeypatch.setattr(events, "_makers", (lambda prompt: heard.append,))

    def ask(name: str) -> str:
        return prompt("who is {name}?", name=name).value

    scripted(tool_request("ask", name="Ada"), "a mathematician", "done", approver=lambda call: True)
    prompt("{ask}", ask=approve(ask))
    assert [type(one).__name__ for one in heard] == [
        *("PromptStarted", "RequestSent", "ReplyReceived", "CallStarted", "CallDecided"),
        *("PromptStarted", "RequestSent", "ReplyReceived", "PromptEnded"),
        *("CallEnded", "RequestSent", "ReplyReceived", "PromptEnded"),
    ]
    outer, sent, _, call, decided, inner, *_ = heard
    assert (outer.parent, sent.parent, call.parent) == (None, outer.id, outer.id)
    assert (inner.parent, decided.id) == (call.id, call.id)
    assert decided.call.approval.decision.verdict == "yes"
    ends = {type(one).__name__ + str(one.id): one for one in heard}
    call_ended, inner_ended = ends[f"CallEnded{call.id}"], ends[f"PromptEnded{inner.id}"]
    assert call.began <= inner.began
    assert inner_ended.seconds <= call_ended.seconds <= ends[f"PromptEnded{outer.id}"].seconds
