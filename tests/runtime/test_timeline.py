"""A run drawn over time: what is noted of it, from live events and from a journal."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    BudgetSpent,
    ConfigError,
    ContractError,
    ProviderError,
    Reply,
    Request,
    configure,
    later,
    overlap,
    program,
    prompt,
    together,
)
from runtime_support._core import notes
from runtime_support._journal.journal import add, entries
from runtime_support._observability import tracing
from runtime_support.runs import journaled
from runtime_support.testing import Scripted, tool_request
from saftc.trace import live
from saftc.trace import timeline as timelines
from saftc.trace.journals import timeline
from saftc.trace.steps import Prompt, Step, explain_time
from saftc.trace.timeline import Timeline, watch, write_timeline
from tests.runtime.conftest import KEY
from tests.support.fake_server import FakeServer, chunk, completion, status, streamed
from tests.support.fake_server import events as parts_of

SECRET = "sk-proj-abcdefghijklmnop1234"
Made = Callable[..., Scripted]


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timelines, "_here", timelines._OfProcess())
    monkeypatch.setattr(notes, "_noted", set())
    monkeypatch.setenv("SAFT_TIMELINE", str(tmp_path / "run.html"))


def drawn() -> dict[str, Any]:
    """What the page of the run until now holds."""
    path = Path(os.environ["SAFT_TIMELINE"])
    write_timeline()
    return data_of(path.read_bytes())


def test_a_timeline_is_for_its_owner_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Made
) -> None:
    chrome = tmp_path / "run.json"
    monkeypatch.setenv("SAFT_CHROME", str(chrome))
    chrome.touch()
    chrome.chmod(0o640)
    scripted("ok")
    prompt("?")
    drawn()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "run.html", chrome)]
    assert modes == [0o600, 0o640], "one that is there keeps its permissions"


def data_of(page: bytes) -> dict[str, Any]:
    data = page.decode().partition('<script type="application/json" id="run">')[2]
    return json.loads(data.partition("</script>")[0])


def kinds(prompt: dict[str, Any]) -> list[str]:
    return [step["kind"] for step in prompt["steps"]]


def greet(name: str) -> str:
    return f"hello {name}"


def event(key: int, start: float, seconds: float, **more: Any) -> list[dict[str, Any]]:
    """A request and its reply."""
    base = {
        "key": key,
        "within": None,
        "place": "a.saft:1:1",
        "began": start,
        "waited": 0.0,
        **more,
    }
    request = {**base, "event": "request", "messages": [], "new_from": 0}
    reply = {**base, "event": "reply", "duration": seconds * 1000, "tool_calls": (), "text": "x"}
    return [request, reply]


def seen(*events: dict[str, Any]) -> dict[str, Any]:
    made = Timeline("test")
    for one in events:
        made.see(one)
    return data_of(made.page())


def test_a_prompt_with_a_tool_and_what_it_says(scripted: Made) -> None:
    scripted(tool_request("greet", name="Ada"), Reply("done", (), "stop", "m-1", 30, 4))
    prompt("{greet} with </script>", greet=greet, options={"temperature": 0})
    run = drawn()
    (one,) = run["prompts"]
    first, call, last = one["steps"]
    assert kinds(one) == ["request", "tool", "request"]
    assert first["told"]["messages"] == [["user", "greet with </script>"]]
    assert first["told"]["calls"] == [["greet", '{"name": "Ada"}']]
    assert first["told"]["tools"] == ["greet"]
    assert first["told"]["options"] == {"temperature": 0.0}
    assert call["told"] == {"tool": "greet", "args": {"name": "Ada"}, "result": "hello Ada"}
    assert last["told"]["messages"] == [["tool", "hello Ada"]], "each message is told once"
    assert (last["told"]["reply"], last["told"]["model"], last["tokens"]) == (
        "done",
        "m-1",
        [30, 4],
    )
    assert first["start"] <= call["start"] <= last["start"]
    assert run["places"][0]["place"].startswith("test_timeline.py:")
    sums = run["sums"]
    assert (sums["prompts"], sums["requests"], sums["tools"], sums["repairs"]) == (1, 2, 1, 0)
    assert sums["tokens"] == [30, 4] and sums["cost"] is None


def test_the_line_of_the_script(scripted: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    scripted("a")
    prompt("the line is shown")
    assert drawn()["places"][0]["line"] == 'prompt("the line is shown")'


@pytest.mark.parametrize(
    ("script", "place", "shown"),
    [
        ("reply = $ a {mail}. $\nprint(reply)\n", "1:9", "reply = $ a {mail}. $"),
        ("reply = $\n    a mail\n$\n", "1:9", "reply = $ a mail"),
        ("reply = $ a\nmail $\n", "1:9", "reply = $ a"),
        ('x = $ is "{a["$"]}" it? $\nprint(x)\n', "1:5", 'x = $ is "{a["$"]}" it? $'),
        ("x = $ for \\$5 $\nprint(x)\n", "1:5", "x = $ for \\$5 $"),
        ("x = $ for \\$5 and \\$\nmore $\n", "1:5", "x = $ for \\$5 and \\$"),
        ("x = [$ a $, $ b $]\nprint(x)\n", "1:13", "x = [$ a $, $ b $]"),
        ("x = [$ a $, $\nb $]\n", "1:13", "x = [$ a $, $ b $]"),
        ('y = "5$" + str($ a $)\nprint(1)\n', "1:16", 'y = "5$" + str($ a $)'),
        ('y = "5$"\nprint(1)\n', "1:1", 'y = "5$"'),
        ("y = f(1)  // for 5$\nprint(1)\n", "1:5", "y = f(1)  // for 5$"),
        ("print(1)\nx = $ a $", "2:5", "x = $ a $"),
        ("x = 1\n", "7:1", ""),
        ("x = 1\n", "here", ""),
    ],
)
def test_the_line_of_a_prompt_is_no_more_than_that(
    script: str, place: str, shown: str, tmp_path: Path
) -> None:
    (tmp_path / "a.saft").write_text(script)
    run = seen(*event(1, 0.0, 1.0, place=f"{tmp_path / 'a.saft'}:{place}"))
    assert run["places"][0]["line"] == shown


def test_no_secret_is_in_it(scripted: Made) -> None:
    long = SECRET + "x" * 30_000
    scripted(tool_request("greet", name=SECRET), f"done with {SECRET}", long)
    prompt("{greet} with {key}", greet=greet, key=SECRET, options={"system": f"use {SECRET}"})
    cut = "." * (live.MOST_SHOWN - 8) + " " + SECRET
    prompt(cut)
    text = json.dumps(drawn())
    assert "sk-proj" not in text and "[redacted]" in text
    assert "characters more" in text


def test_what_is_asked_again_and_what_fails(scripted: Made) -> None:
    scripted("no number", "7", "none", "none", ProviderError("gone"))
    assert prompt("how many?", returns=int).value == 7
    with pytest.raises(ContractError):
        prompt("how many?", returns=int)
    with pytest.raises(ProviderError):
        prompt("who?")
    run = drawn()
    assert [kinds(one) for one in run["prompts"]] == [
        ["request", "repair"],
        ["request", "repair"],
        ["request"],
    ]
    assert run["prompts"][2]["steps"][0]["failed"]
    assert run["prompts"][2]["steps"][0]["told"]["error"] == "ProviderError: gone"
    assert (run["sums"]["failed"], run["sums"]["repairs"]) == (2, 2)
    assert run["sums"]["failed_prompts"] == 2
    good, contract, provider = run["prompts"]
    assert good["error"] is None and not any(step["failed"] for step in good["steps"])
    assert contract["error"].startswith("ContractError: no usable reply after 2 tries")
    assert [step["failed"] for step in contract["steps"]] == [False, True]
    assert provider["error"] == "ProviderError: gone"


def test_who_fails_in_a_tool_and_who_goes_on(scripted: Made) -> None:
    def ask(name: str) -> int:
        return prompt("how old is {name}?", name=name, returns=int).value

    scripted(tool_request("ask", name="Ada"), "none", "none", "never mind")
    assert prompt("{ask}", ask=ask).value == "never mind"
    outer, inner = drawn()["prompts"]
    assert inner["error"].startswith("ContractError") and inner["steps"][-1]["failed"]
    assert outer["error"] is None and not outer["steps"][-1]["failed"]


def test_who_is_interrupted_is_drawn(scripted: Made) -> None:
    class Interrupted:
        def complete(self, request: Request) -> Reply:
            raise KeyboardInterrupt

    configure(provider=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        prompt("who?")
    (one,) = drawn()["prompts"]
    assert one["error"] == "interrupted"
    assert [(step["kind"], step["failed"]) for step in one["steps"]] == [("request", True)]


def test_what_has_no_reply_when_the_run_ends_is_drawn() -> None:
    run = seen(event(1, 0.0, 1.0)[0])
    (one,) = run["prompts"]
    assert one["error"] == "no answer: the run ended before it" and one["steps"][0]["failed"]
    assert run["sums"]["failed_prompts"] == 1


def test_who_is_asked_in_another_way_has_not_failed() -> None:
    first, reply = event(1, 0.0, 1.0)
    over = {**first, "event": "over", "time": 1.0, "error": "ToolsUnsupported: none there"}
    again = event(1, 1.0, 1.0)
    run = seen(first, reply, over, *again, {**over, "error": None})
    (one,) = run["prompts"]
    assert one["error"] is None and not any(step["failed"] for step in one["steps"])


def test_the_error_has_no_secrets() -> None:
    first, reply = event(1, 0.0, 1.0)
    over = {**first, "event": "over", "time": 1.0, "error": f"ValueError: {SECRET}"}
    made = Timeline("test")
    for one in (first, reply, over):
        made.see(one)
    made.how, made.error = "failed", f"error: {SECRET}"
    for text in (made.page().decode(), made.chrome().decode()):
        assert "sk-proj" not in text and "[redacted]" in text


def test_a_prompt_inside_of_a_tool(scripted: Made) -> None:
    def ask(name: str) -> str:
        return prompt("who is {name}?", name=name).value

    scripted(tool_request("ask", name="Ada"), "a mathematician", "done", "after")
    prompt("{ask}", ask=ask)
    prompt("after it")
    outer, inner, after = drawn()["prompts"]
    assert (outer["within"], inner["within"], after["within"]) == (None, 0, None)
    tool = outer["steps"][1]
    assert [tool["critical"], inner["steps"][0]["critical"]] == [False, True]


def test_calls_of_a_program_are_told(scripted: Made) -> None:
    scripted('{"greet": {"name": "Ada"}}')
    assert program("{greet}", greet=greet).value == "hello Ada"
    (one,) = drawn()["prompts"]
    assert kinds(one) == ["request", "tool"]
    assert one["steps"][1]["told"]["result"] == "hello Ada"


class Always:
    """Has one answer, whoever asks first."""

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(self, request: Request) -> Reply:
        return Reply(self.text)


class OwnClock:
    """A function of which three calls run at the same time, and that notes itself when they do."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(3)
        self.ran: dict[int, tuple[float, float]] = {}

    def work(self, n: int) -> int:
        began = time.time()
        self.barrier.wait(30)
        self.ran[n] = began, time.time()
        return n


def check_times(ran: dict[int, tuple[float, float]], told: dict[int, tuple[float, float]]) -> None:
    """What is told of each call covers the time in which its function ran."""
    assert told.keys() == ran.keys()
    for n, (began, ended) in ran.items():
        assert told[n][0] <= began + 0.001 and ended <= told[n][1] + 0.001
    # All have met, so each began before one of them ended.
    assert max(start for start, _ in told.values()) < min(end for _, end in told.values())


@pytest.mark.parametrize("asked", ["tools", "program"])
def test_calls_at_the_same_time_are_drawn_when_they_ran(
    scripted: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str
) -> None:
    monkeypatch.setenv("SAFT_CHROME", str(tmp_path / "trace.json"))
    clock = OwnClock()
    if asked == "tools":
        scripted([tool_request("work", n=n) for n in (1, 2, 3)], "done")
        prompt("?", tools=[clock.work], pure=[clock.work])
    else:
        configure(provider=Always(json.dumps([{"work": {"n": n}} for n in (1, 2, 3)])))
        assert program("?", tools=[clock.work], pure=[clock.work]).value == [1, 2, 3]
    run = drawn()
    steps = [one for one in run["prompts"][0]["steps"] if one["kind"] == "tool"]
    starts = {one["told"]["args"]["n"]: run["begun"] + one["start"] for one in steps}
    ends = {one["told"]["args"]["n"]: one["start"] + one["seconds"] for one in steps}
    check_times(clock.ran, {n: (start, run["begun"] + ends[n]) for n, start in starts.items()})
    traced = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    calls = {one["args"]["args"]["n"]: one for one in traced if one.get("cat") == "tool"}
    began = {n: run["begun"] + one["ts"] / 1_000_000 for n, one in calls.items()}
    lasted = {n: one["dur"] / 1_000_000 for n, one in calls.items()}
    check_times(clock.ran, {n: (start, start + lasted[n]) for n, start in began.items()})


def test_prompts_are_held_to_what_they_allow_themselves() -> None:
    for most in (2, 3):
        with configure(provider=Scripted(["fine"]), max_in_flight=most):
            prompt("hello")
    assert drawn()["most"] == [2, 3]
    prompts = [
        Prompt(0, "a.saft:1:1", start, None, (), most, [Step("request", start, 1, 0, {})])
        for start, most in ((0, 2), (0, 2), (1, 3), (1, 3), (2, 3), (2, 3), (2, 3))
    ]
    said = "For 67% of the time, all requests that `max_in_flight` allows (2 to 3) were in flight"
    assert explain_time(prompts, {}).startswith(said)


class Meeting:
    """Answers when as many requests are under way as are to meet."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count)

    def complete(self, request: Request) -> Reply:
        self.barrier.wait(30)
        return Reply("met")


def test_prompts_at_the_same_time_have_lanes_of_their_own() -> None:
    configure(provider=Meeting(3), max_in_flight=3)
    together(*(later(prompt, f"number {number}") for number in range(3)))
    run = drawn()
    lanes = {(one["place"], one["lane"]) for one in run["prompts"]}
    assert len(lanes) == 3 and run["sums"]["prompts"] == 3


def test_waiting_for_the_server_is_told_apart(server: FakeServer) -> None:
    server.answers = [status(429, retry_after_ms=20), completion("fine")]
    prompt("hello")
    (step,) = drawn()["prompts"][0]["steps"]
    assert 0 < step["waited"] <= step["seconds"]


def test_the_critical_path() -> None:
    run = seen(
        *event(1, 0.0, 1.0),
        *event(2, 0.0, 3.0),
        *event(3, 1.0, 1.0),
        *event(4, 3.0, 2.0, place="a.saft:2:1"),
        *event(5, 3.0, 1.5, place="a.saft:2:1"),
    )
    critical = [one["steps"][0]["critical"] for one in run["prompts"]]
    assert critical == [False, True, False, True, False]
    assert run["sums"]["critical"] == 5.0 and run["sums"]["wall"] == 5.0
    assert run["sums"]["requesting"] == 8.5


@pytest.mark.parametrize("scale", [0.001, 0.01, 1.0])
def test_what_ran_at_the_same_time_is_no_path_however_short(scale: float) -> None:
    run = seen(
        *event(1, 0.0, 2.1 * scale),
        *event(2, 0.4 * scale, 0.5 * scale),
        *event(3, 0.0, 0.2 * scale),
        *event(4, 1.5 * scale, 0.2 * scale),
    )
    critical = [one["steps"][0]["critical"] for one in run["prompts"]]
    assert sorted(critical) == [False, False, False, True]
    assert run["sums"]["critical"] <= run["sums"]["wall"]


def test_what_follows_closely_is_a_path_though_clocks_differ() -> None:
    run = seen(*event(1, 0.0, 1.001), *event(2, 1.0, 1.0), *event(3, 2.0, 0.1))
    assert [one["steps"][0]["critical"] for one in run["prompts"]] == [True, True, True]


def test_who_waits_for_another_is_behind_it_on_the_path() -> None:
    run = seen(*event(1, 0.0, 2.0), *event(2, 0.0, 3.0, waited=2000.0))
    assert [one["steps"][0]["critical"] for one in run["prompts"]] == [True, True]
    assert run["sums"]["waiting"] == 2.0


def test_a_cost_by_the_prices_of_the_project() -> None:
    configure(prices={"m": {"input": 1.0, "output": 10.0}})
    request, reply = event(1, 0.0, 1.0)
    run = seen(request, {**reply, "model": "m", "input_tokens": 1000, "output_tokens": 100})
    assert run["prompts"][0]["steps"][0]["cost"] == run["sums"]["cost"] == pytest.approx(0.002)


def test_the_trace_for_chrome(
    scripted: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The place is named from the working directory.
    monkeypatch.chdir(Path(__file__).parent)
    monkeypatch.setenv("SAFT_CHROME", str(tmp_path / "trace.json"))
    scripted(tool_request("greet", name="Ada"), "done")
    prompt("{greet}", greet=greet)
    write_timeline()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = [one for one in events if one["ph"] == "X"]
    named = [one["name"] for one in slices]
    assert named == ["test_the_trace_for_chrome: greet", "request", "greet", "request"]
    assert events[0]["args"]["name"].startswith("test_the_trace_for_chrome test_timeline.py:")
    whole, *steps = slices
    assert all(one["ts"] >= whole["ts"] for one in steps)
    assert steps[1]["args"]["result"] == "hello Ada"


def trace(*events: dict[str, Any]) -> list[dict[str, Any]]:
    made = Timeline("test")
    for one in events:
        made.see(one)
    return json.loads(made.chrome())["traceEvents"]


def test_a_trace_counts_what_is_in_flight() -> None:
    events = trace(*event(1, 0.0, 2.0), *event(2, 1.0, 2.0, waited=500.0))
    counted = [(one["ts"], one["args"]["requests"]) for one in events if one["ph"] == "C"]
    assert counted == [(0.0, 1), (1_500_000.0, 2), (2_000_000.0, 1), (3_000_000.0, 0)]


def test_a_trace_leads_through_an_item_and_into_tools() -> None:
    first = event(1, 0.0, 1.0, item=(1, 0))
    other = event(2, 0.0, 1.0, item=(1, 1), place="a.saft:2:1")
    behind = event(3, 2.0, 1.0, item=(1, 0), place="a.saft:2:1")
    inside = event(4, 0.5, 0.2, within=2, place="a.saft:3:1")
    events = trace(*first, *other, *behind, *inside)
    by_id: dict[int, list[dict[str, Any]]] = {}
    for one in events:
        if one.get("cat") == "flow":
            by_id.setdefault(one["id"], []).append(one)
    arrows = {
        tuple((end["ph"], end["pid"], round(end["ts"] / 1e6, 3)) for end in pair)
        for pair in by_id.values()
    }
    assert arrows == {
        (("s", 1, 1.0), ("f", 2, 2.0)),
        (("s", 2, 0.5), ("f", 3, 0.5)),
    }


@pytest.mark.parametrize(
    ("script", "around", "function"),
    [
        ("x = $ a $\n", "", ""),
        ("for n in [1]:\n    x = $ a $\n", "ask_n", ""),
        ("f ask():\n    for n in [1]:\n        x = $ a $\n", "ask.ask_n", "ask"),
        ("f ask():\n    f inner():\n        ret $ a $\n", "ask.inner", "inner"),
        ("conv class(): ret $ a $\n", "class_", "class"),
        ("x = $ a $\n", "main", ""),
        (None, "ask.inner", "inner"),
    ],
)
def test_the_function_of_a_place(
    script: str | None, around: str, function: str, tmp_path: Path
) -> None:
    """It is one of the script, and none that the module has for itself."""
    if script is not None:
        (tmp_path / "a.saft").write_text(script)
    place = f"{tmp_path / 'a.saft'}:1:1"
    run = seen(*event(1, 0.0, 1.0, place=place, function=around))
    assert run["places"][0].get("function", "") == function


def test_a_journal_has_the_same(scripted: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(name: str) -> str:
        return prompt("who is {name}?", name=name).value

    scripted(tool_request("ask", name="Ada"), "a mathematician", "no number", "7")
    with journaled("a.journal"):
        prompt("{ask}", ask=ask, returns=int)
    live, kept = drawn(), data_of(timeline("a.journal").page())
    shown = [
        [(one["within"], step["kind"], step["told"].get("reply")) for step in one["steps"]]
        for run in (live, kept)
        for one in run["prompts"]
    ]
    assert shown[:2] == shown[2:]
    assert [one[0] for one in shown[0]] == [None] * 4
    assert kept["marks"] == [] and kept["places"] == live["places"]
    functions = [one["function"] for one in kept["places"]]
    assert functions == ["test_a_journal_has_the_same", "ask"]


def test_a_journal_has_the_failures(scripted: Made) -> None:
    scripted("none", "none", "7")
    with pytest.raises(ContractError), journaled("a.journal"):
        prompt("how many?", returns=int)
    found = data_of(timeline("a.journal").page())
    assert found["how"] == "failed"
    assert found["prompts"][0]["error"].startswith("ContractError")
    assert [one["failed"] for one in found["prompts"][0]["steps"]] == [False, True]
    with journaled("a.journal"):
        prompt("how many?", returns=int)
    found = data_of(timeline("a.journal").page())
    assert found["how"] == "ok" and found["prompts"][0]["error"] is None
    assert found["sums"]["failed"] == 0


def test_between_the_processes_of_a_journal_no_time_is_left(scripted: Made) -> None:
    def run(*questions: str) -> None:
        with journaled("a.journal"):
            for question in questions:
                prompt(question)

    scripted("a", "b")
    run("one")
    before = len(list(entries("a.journal")))
    later_by = 100_000
    run("one", "two")
    later = list(entries("a.journal"))[before:]
    with closing(sqlite3.connect("a.journal")) as database, database:
        database.execute("delete from entry where id > ?", (before,))
    for entry in later:
        at = entry.pop("at", (None, None, None, entry.pop("process", ""), "process"))
        add("a.journal", at, {**entry, "time": entry.get("time", 0) + later_by}, lambda: None)
    found = data_of(timeline("a.journal").page())
    assert len(found["prompts"]) == 2 and len(found["marks"]) == 1
    assert found["sums"]["wall"] < later_by / 2


def test_a_page_without_prompts() -> None:
    page = data_of(Timeline("empty").page())
    assert (page["prompts"], page["why"]) == ([], "No request was sent.")


@pytest.mark.parametrize("variable", ["SAFT_TIMELINE", "SAFT_CHROME"])
@pytest.mark.parametrize(
    ("path", "reason"),
    [("nowhere/run.html", "there is no folder nowhere"), (".", "it is a folder")],
)
def test_nothing_is_sent_when_it_could_not_be_drawn(
    variable: str, path: str, reason: str, scripted: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, path)
    provider = scripted("a")
    with pytest.raises(ConfigError, match=f"cannot write the timeline {path}: {reason}"):
        prompt("one")
    assert not provider.requests


SCRIPT = """
import os, sys
from runtime_support import configure, prompt
configure(provider="mock")
prompt("one")
if sys.argv[1] == "fork":
    child = os.fork()
    if not child:
        prompt("two")
        sys.exit()
    os.waitpid(child, 0)
elif sys.argv[1] == "fail":
    raise ValueError("no such value")
elif sys.argv[1] == "interrupt":
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize(
    "how",
    [
        "ok",
        "fail",
        "interrupt",
        pytest.param(
            "fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
        ),
    ],
)
def test_a_process_writes_it_at_its_end(how: str, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    subprocess.run(
        [sys.executable, "-c", SCRIPT, how],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        check=how not in ("fail", "interrupt"),
    )
    run = data_of((tmp_path / "run.html").read_bytes())
    assert run["sums"]["prompts"] == 1
    ended = {
        "fail": ("failed", "ValueError: no such value"),
        "interrupt": ("interrupted", "KeyboardInterrupt"),
    }
    assert (run["how"], run["error"]) == ended.get(how, ("ok", ""))


@pytest.mark.parametrize(
    ("more", "how", "error"),
    [
        ("print(a)", "ok", ""),
        ("assert a == 5", "failed", "assertion failed"),
        ("exit(3)", "failed", "exit code 3"),
        ("stop()", "interrupted", ""),
    ],
)
def test_how_a_script_has_ended(more: str, how: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text(
        "import sys\ndef exit(code): sys.exit(code)\ndef stop(): raise KeyboardInterrupt\n"
    )
    text = f"from helping import exit, stop\na = $ a number $\n{more}\n"
    subprocess.run(
        [sys.executable, "-m", "saftc", "run", "-"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "SAFT_PROVIDER": "mock"},
        input=text.encode(),
        cwd=tmp_path,
        capture_output=True,
    )
    run = data_of((tmp_path / "run.html").read_bytes())
    assert run["how"] == how and error in run["error"]
    if "assert" in more:
        assert "<stdin>:3:" in run["error"]
    # The text of a script that is in no file is at hand.
    reason = "by itself, as there is no other prompt beside it (line 2)"
    assert run["places"] == [
        {"place": "<stdin>:2:5", "line": "a = $ a number $", "overlap": reason}
    ]


def test_without_saftc_it_is_said_once_that_none_is_drawn(
    scripted: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tracing, "entry_points", lambda group: ())
    tracing._drawing.cache_clear()
    scripted("a", "b")
    assert prompt("one").value == "a"
    assert prompt("two").value == "b"
    tracing._drawing.cache_clear()
    assert capsys.readouterr().err == (
        "saftc: no timeline: saftc, which draws it, is not installed in this environment; "
        "SAFT_LOG=FILE writes the same events without it\n"
    )
    assert not Path(os.environ["SAFT_TIMELINE"]).exists()


LONGEST = "The run waited longest for a.saft:1:1, 3.0 s"


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([], "No request was sent."),
        ([(0, 1, 0)], ""),
        ([(0, 1, 0), (1, 3, 0)], f"{LONGEST} of 4.0 s: in order, as it needs"),
        ([(0, 1, 0), (9, 1, 0)], "For 80% of the time, no request was in flight"),
        ([(0, 2, 0)] * 3, "For 100% of the time, all requests that `max_in_flight` allows (3)"),
        ([(0, 4, 3), (4, 0, 0)], "For 75% of the time, requests waited"),
        ([(0, 3, 0), (1, 1, 0), (1, 1, 0), (2, 1, 0)], LONGEST),
    ],
)
def test_one_sentence_says_what_bounded_the_run(
    steps: list[tuple[float, float, float]], why: str
) -> None:
    prompts = [
        Prompt(0, "a.saft:1:1", start, None, (), 3, [Step("request", start, seconds, waited, {})])
        for start, seconds, waited in steps
    ]
    for one in prompts:
        one.steps[0].is_critical = one.steps[0].seconds == max(seconds for _, seconds, _ in steps)
    reasons = {"a.saft:1:1": "in order, as it needs `a` (line 1)"}
    found = explain_time(prompts, reasons)
    assert found.startswith(why) and bool(found) == bool(why)


# While the run goes on


def asked(key: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"question {key}"}]
    base = {"key": key, "within": None, "place": "a.saft:1:1", "began": 0.0, "waited": 0.0, **more}
    return {**base, "event": "request", "messages": messages, "new_from": 0, "model": "m"}


def answered(key: int, **more: Any) -> dict[str, Any]:
    reply = {**asked(key), "event": "reply", "duration": 500.0, "text": "yes", **more}
    return {**reply, "tool_calls": (), "input_tokens": 5, "output_tokens": 2}


def test_the_page_grows_while_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    seen = threading.Event()

    def replace(path: str, data: bytes, **_: Any) -> None:
        written.append(data)
        seen.set()

    monkeypatch.setattr(timelines, "_PAUSE", 0.001)
    monkeypatch.setattr(timelines, "replace_file", replace)
    see = watch()
    assert see is not None
    for event in (asked(1), answered(1), asked(2)):
        see(event)
    while not written or len(data_of(written[-1])["prompts"]) < 2:
        assert seen.wait(60)
        seen.clear()
    run = data_of(written[-1])
    assert run["how"] == "running"
    texts = [one["steps"][-1]["told"]["reply"] for one in run["prompts"]]
    assert texts == ["yes", "(not yet)"] and not any(one["error"] for one in run["prompts"])
    # What was drawn until now is no part of what is drawn then.
    see(answered(2))
    write_timeline()
    run = data_of(written[-1])
    assert run["how"] == "ok"
    assert [len(one["steps"]) for one in run["prompts"]] == [1, 1]


class Talking:
    """A provider that answers in two pieces."""

    def complete(self, request: Request) -> Reply:
        return Reply("three", input_tokens=1_000_000, model="m")

    def stream(self, request: Request) -> Generator[str, None, Reply]:
        yield "one "
        yield "two"
        return Reply("one two")


def test_prompts_of_one_item_are_known_as_such() -> None:
    configure(provider=Talking())

    def of_item(number: int) -> str:
        return str(prompt(f"first {number}")) + str(prompt(f"second {number}"))

    list(overlap(of_item, [1, 2]))
    prompt("alone")
    items: dict[str, list[str]] = {}
    for one in drawn()["prompts"]:
        text = one["steps"][0]["told"]["messages"][0][1]
        items.setdefault(str(one["item"]), []).append(text)
    assert sorted(map(sorted, items.values())) == [
        ["alone"],
        ["first 1", "second 1"],
        ["first 2", "second 2"],
    ]


def test_what_happens_is_written_as_it_happens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "live.jsonl"
    monkeypatch.delenv("SAFT_TIMELINE")
    monkeypatch.setenv("SAFT_LIVE", str(path))
    configure(provider=Talking(), prices={"m": {"input": 3, "output": 2}})

    def events() -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text().splitlines()]

    pieces = iter(prompt("?", stream=True).pieces())
    first = next(pieces)
    assert [one["event"] for one in events()] == ["request", "piece"]
    assert first == events()[1]["text"] == "one "
    assert events()[0]["whole"]["messages"] == [{"role": "user", "content": "?"}]
    assert first + "".join(pieces) == "one two"
    prompt(f"again {SECRET}")
    told = events()
    assert [one["event"] for one in told if one["event"] != "piece"] == [
        *("request", "reply", "over"),
        *("request", "reply", "over"),
    ]
    assert SECRET not in path.read_text() and told[-3]["whole"] is None
    assert told[-2]["text"] == "three" and told[-2]["seconds"] >= 0 and told[-2]["cost"] == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def live_events(monkeypatch: pytest.MonkeyPatch, path: Path) -> Callable[[], list[dict[str, Any]]]:
    monkeypatch.delenv("SAFT_TIMELINE")
    monkeypatch.setenv("SAFT_LIVE", str(path))
    return lambda: [json.loads(line) for line in path.read_text().splitlines()]


def test_whoever_watches_hears_the_pieces_of_every_reply(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.answers = [completion("[1, 2]")]
    asked = {"returns": list[int], "greet": greet}
    assert prompt("list {greet}", **asked).value == [1, 2]
    events = live_events(monkeypatch, tmp_path / "live.jsonl")
    server.answers = [streamed("[1,", " 2]")]
    assert prompt("list {greet}", **asked).value == [1, 2]
    told = [(one["event"], one.get("text")) for one in events()]
    assert told == [
        ("request", None),
        ("piece", "[1, "),
        ("piece", "2]"),
        ("reply", "[1, 2]"),
        ("over", None),
    ]
    plain, heard = server.bodies
    assert heard.pop("stream") is True and heard.pop("stream_options") == {"include_usage": True}
    assert heard == plain, "nothing else that is sent changes"


def test_a_key_that_comes_in_pieces_is_not_shown(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events = live_events(monkeypatch, tmp_path / "live.jsonl")
    pieces = ["the key ", f"is {KEY[:5]}", KEY[5:12], f"{KEY[12:]}, and no", "thing more"]
    server.answers = [streamed(*pieces)]
    assert "".join(prompt("?", stream=True).pieces()) == "".join(pieces)
    shown = "".join(one["text"] for one in events() if one["event"] == "piece")
    assert shown == "the key is [redacted], and nothing more"
    assert not any(KEY[at : at + 6] in shown for at in range(len(KEY) - 6))


def test_a_reply_that_breaks_while_it_is_heard_is_asked_for_again(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events = live_events(monkeypatch, tmp_path / "live.jsonl")
    # It has no end.
    broken = parts_of([chunk({"role": "assistant", "content": "one"})])
    server.answers = [broken, completion("one two")]
    assert prompt("count").value == "one two"
    assert [one["event"] for one in events()] == ["request", "piece", "reply", "over"]
    assert "stream" not in server.bodies[1]


def test_a_reply_that_breaks_while_it_is_heard_counts(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    live_events(monkeypatch, tmp_path / "live.jsonl")
    server.answers = [parts_of([chunk({"role": "assistant", "content": "one"})]), completion("no")]
    with configure(budget_requests=1), pytest.raises(BudgetSpent):
        prompt("count")
    assert len(server.requests) == 1


def test_who_does_not_stream_is_heard_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events = live_events(monkeypatch, tmp_path / "live.jsonl")
    configure(provider=Talking())
    prompt("?")
    assert [one["event"] for one in events()] == ["request", "reply", "over"]
