"""Tokens as servers count them, what they cost, and where they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime_support import Result, Usage, _recordings, add_observer, configure, prompt
from runtime_support._budgets import current_usage, report_usage
from runtime_support._core import spending
from runtime_support._core.spending import current_meter
from runtime_support._journal.hook import journaled
from runtime_support._journal.journal import entries
from runtime_support._observability.tracing import trace_text
from saftc.trace.journals import summary
from saftc.trace.timeline import Timeline
from tests.support.fake_server import Answer, FakeServer, chunk, event, events, raw


def counting(usage: Any, text: str = "ok") -> Answer:
    """A reply with this usage."""
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return raw(json.dumps({"model": "fake-1", "choices": [choice], "usage": usage}).encode())


OF_OPENAI = {
    "prompt_tokens": 2048,
    "completion_tokens": 300,
    "total_tokens": 2348,
    "prompt_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 256},
}
ALL = Usage(2048, 300, 1, 1920, 64, 256)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (OF_OPENAI, ALL),
        # OpenRouter, with what it charges
        ({**OF_OPENAI, "cost": 0.95, "cost_details": {"upstream_inference_cost": 19}}, ALL),
        # DeepSeek
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(100, 20, 1, 64, 0, 15),
        ),
        # Moonshot
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 64},
            Usage(100, 20, 1, 64),
        ),
        # xAI counts what was thought beside the output
        (
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            Usage(32, 103, 1, 0, 0, 94),
        ),
        # Gemini, too, and does not say how much that was
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 500},
            Usage(10, 490, 1),
        ),
        # Both: the input without what was cached, the output without what was thought
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 165,
                "cache_read_input_tokens": 100,
                "completion_tokens_details": {"reasoning_tokens": 50},
            },
            Usage(110, 55, 1, 100, 0, 50),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 200,
                "prompt_tokens_details": {"cached_tokens": 40},
                "completion_tokens_details": {"reasoning_tokens": 50},
            },
            Usage(140, 60, 1, 40, 0, 50),
        ),
        # More was thought than answered, and there is no total to tell
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 50},
            },
            Usage(10, 55, 1, 0, 0, 50),
        ),
        # Anthropic's names; the input is without what was cached
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 115,
                "cache_read_input_tokens": 80,
                "cache_creation_input_tokens": 20,
            },
            Usage(110, 5, 1, 80, 20),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 80},
            Usage(90, 5, 1, 80),
        ),
        # both ways of saying it are the same
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_cache_hit_tokens": 64,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            Usage(100, 5, 1, 64),
        ),
        ({"prompt_tokens": 7, "completion_tokens": 5}, Usage(7, 5, 1)),
        (
            {"prompt_tokens": 7, "completion_tokens": 5, "prompt_tokens_details": None},
            Usage(7, 5, 1),
        ),
        ({"prompt_tokens": "7", "completion_tokens": True}, Usage(0, 0, 1)),
        ({"prompt_tokens": -7, "completion_tokens": 1.5, "total_tokens": None}, Usage(0, 0, 1)),
        ({"tokens": 12, "prompt_tokens_details": {"cached": 3}}, Usage(0, 0, 1)),
        (None, Usage(0, 0, 1)),
        ([], Usage(0, 0, 1)),
    ],
)
def test_how_servers_count(server: FakeServer, usage: Any, expected: Usage) -> None:
    server.answers = [counting(usage)]
    assert prompt("x").usage == expected
    end = [event({"choices": [], "usage": usage})] if usage else []
    server.answers = [events([chunk({"content": "ok"}, "stop"), *end])]
    streamed = prompt("x", stream=True)
    assert streamed.usage == expected


def test_the_parts_are_added_up(server: FakeServer) -> None:
    server.answers = [counting(OF_OPENAI, "no"), counting(OF_OPENAI, "1")]
    assert prompt("x", returns=int).usage == ALL + ALL == Usage(4096, 600, 2, 3840, 128, 512)


# What it costs

PRICE = {"input": 100.0, "output": 1000.0}


@pytest.mark.parametrize(
    ("price", "told"),
    [
        # 64 plain tokens, 1,920 cached, 64 written, 300 out
        ({**PRICE, "cached_input": 10, "cache_write": 200}, "cost $0.3384"),
        ({**PRICE, "cached_input": 10}, "cost at most $0.3336"),
        ({**PRICE, "cache_write": 200}, "cost at most $0.5112"),
        (PRICE, "cost at most $0.5064"),
        ({"input": 0.0, "output": 0.0, "cached_input": 0.0}, None),
    ],
)
def test_prices(server: FakeServer, price: dict[str, float], told: str | None) -> None:
    server.answers = [counting(OF_OPENAI)]
    configure(prices={"fake": price})
    prompt("x")
    assert str(current_usage()) == ", ".join(
        ["1 request", "2,348 tokens (1,920 cached)", *([told] if told else [])]
    )


def test_a_cost_without_all_prices_is_a_lower_bound(server: FakeServer) -> None:
    server.responder = lambda _: counting({"prompt_tokens": 10, "completion_tokens": 1})
    configure(prices={"fake": PRICE})
    prompt("x")
    prompt("x", options={"model": "unlisted"})
    assert str(current_usage()) == "2 requests, 22 tokens, cost at least $0.002"


def test_what_nothing_is_cached_of_is_told_exactly(server: FakeServer) -> None:
    server.answers = [counting({"prompt_tokens": 10, "completion_tokens": 1})]
    configure(prices={"fake": PRICE})
    prompt("x")
    assert str(current_usage()) == "1 request, 11 tokens, cost $0.002"


def test_a_budget_that_counted_what_was_cached_too_dear(server: FakeServer) -> None:
    usage = {**OF_OPENAI, "completion_tokens": 5, "total_tokens": 2053}
    usage["prompt_tokens_details"] = {"cached_tokens": 1920}
    server.answers = [counting(usage)]
    configure(prices={"fake": {**PRICE, "cached_input": 10}}, budget_cost=0.4, max_tokens=5)
    for _ in range(10):
        prompt("x")
    assert current_usage().cost == pytest.approx(10 * 0.037)


@pytest.mark.parametrize(
    "wrong", [{"input": 1}, {**PRICE, "cached": 1}, {**PRICE, "cached_input": -1}]
)
def test_prices_that_are_none(wrong: dict[str, float]) -> None:
    with pytest.raises(Exception, match="prices"):
        configure(prices={"fake": wrong})


def test_prices_of_a_project(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.saft.prices]\n"
        "fake = { input = 100, output = 1000, cached_input = 10, cache_write = 200 }\n"
    )
    server.answers = [counting(OF_OPENAI)]
    prompt("x")
    assert str(current_usage()).endswith("cost $0.3384")


def test_the_sum_by_model_and_place(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The models are told, also those without a price, and the places that took most."""
    monkeypatch.setenv("SAFT_USAGE", "1")
    tokens = iter([1, 10, 100, 1_000, 5])
    server.responder = lambda _: counting({"prompt_tokens": next(tokens), "completion_tokens": 0})
    configure(prices={"fake": PRICE})
    prompt("a")
    prompt("b")
    prompt("c")
    prompt("d", options={"model": "unlisted"})
    prompt("e")
    report_usage()
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("saftc: 5 prompts: 5 requests, 1,116 tokens, cost at least $0.0116, ")
    assert told[1:3] == [
        "saftc:   fake: 4 requests, 116 tokens, cost $0.0116",
        "saftc:   unlisted: 1 request, 1,000 tokens",
    ]
    assert [one.partition(": ")[2].partition(": ")[2] for one in told[3:]] == [
        "1 request, 100 tokens, cost $0.01",
        "1 request, 10 tokens, cost $0.001",
        "1 request, 5 tokens, cost $0.0005",
    ]


def test_prompts_that_have_not_ended_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after Ctrl-C, when nobody knows what they cost."""
    monkeypatch.setenv("SAFT_USAGE", "1")
    configure(provider="mock")
    pieces = iter(prompt("Say {text}", text="a b c", stream=True).pieces())
    next(pieces)
    report_usage()
    told = capsys.readouterr().err
    assert told.startswith("saftc: 0 prompts: ")
    assert told.endswith(" s; 1 in flight\n")


# Where it is told


def test_journals(server: FakeServer, tmp_path: Path) -> None:
    path = str(tmp_path / "run.journal")
    configure(prices={"fake": PRICE})
    server.answers = [counting(OF_OPENAI)]
    results: list[Result[str]] = []
    for _ in range(2):
        with journaled(path):
            results.append(prompt("x"))
    assert [one.usage for one in results] == [ALL, ALL] and len(server.requests) == 1
    spending._of_process = spending.UsageMeter()  # pyright: ignore[reportPrivateUsage]
    assert summary(path).spent.usage == ALL
    with journaled(path):
        assert str(current_usage()).startswith("1 request, 2,348 tokens (1,920 cached)")
    assert current_meter().taken()[0].longest == 300


def test_journals_of_before(server: FakeServer, tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with journaled(str(path)):
        prompt("x")
    text = json.dumps(list(entries(str(path))))
    assert '"used": ["fake", 11, 7]' in text and "cached" not in text
    with journaled(str(path)):
        assert prompt("x").usage == Usage(11, 7, 1)
    assert len(server.requests) == 1


def test_recordings(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "r.jsonl")
    monkeypatch.setenv("SAFT_RECORD", path)
    server.answers = [counting(OF_OPENAI)]
    prompt("x")
    _recordings.close(path)
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", path)
    assert prompt("x").usage == ALL


def test_traces_and_timelines(server: FakeServer) -> None:
    told: list[dict[str, Any]] = []
    remove = add_observer(told.append)
    server.answers = [counting(OF_OPENAI)]
    configure(prices={"fake": PRICE})
    prompt("x")
    remove()
    request, reply = told
    assert "2048+300 tokens, 1920 cached" in trace_text(reply)
    assert (reply["cache_write_tokens"], reply["reasoning_tokens"]) == (64, 256)
    timeline = Timeline("x")
    about = {"key": 1, "within": None, "place": None, "began": 1.0, "waited": 0.0}
    for one in (request, reply):
        timeline.see({**one, **about})
    page = timeline.page().decode()
    assert '"cached": 1920' in page or '"cached":1920' in page
