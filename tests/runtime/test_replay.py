"""Recording and replaying exchanges."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ConfigError, ReplayMiss, ToolsUnsupported, configure, prompt
from runtime_support.exchange import Reply, Request
from runtime_support.providers import replay
from runtime_support.providers.scripted import Scripted, tool_request

Script = Callable[..., Scripted]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "recordings" / "file.jsonl"
    yield path
    replay.close(str(path))


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, path: Path) -> Path:
    monkeypatch.setenv("SAFT_RECORD", str(path))
    return path


def start_replay(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    replay.close(str(path))
    monkeypatch.delenv("SAFT_RECORD", raising=False)
    monkeypatch.setenv("SAFT_REPLAY", str(path))


def square(x: int) -> int:
    return x * x


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_recorded_is_replayed_without_a_model(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    def script() -> list[Any]:
        result = prompt("{square} of 3", square=square, returns=int, options={"temperature": 0})
        return [result.value, result.tool_calls[0].result, result.usage, prompt("hi").value]

    scripted(tool_request("square", x=3), "not yet", "9", "hello")
    recorded = script()
    model = scripted()
    start_replay(monkeypatch, recording)
    assert script() == recorded
    assert model.requests == []


def test_replay_needs_no_provider_at_all(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("hello")
    prompt("hi")
    configure(provider="none")
    start_replay(monkeypatch, recording)
    assert prompt("hi").value == "hello"


def test_repeats_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("one", "two")
    assert [prompt("hi").value for _ in range(2)] == ["one", "two"]
    start_replay(monkeypatch, recording)
    assert [prompt("hi").value for _ in range(2)] == ["one", "two"]
    with pytest.raises(ReplayMiss, match="the same request, but more often"):
        prompt("hi")


def test_a_miss_shows_the_difference_to_the_nearest_entry(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("a", "b")
    prompt("something else entirely", options={"seed": 3})
    prompt("greet Ada", options={"temperature": 0})
    start_replay(monkeypatch, recording)
    with pytest.raises(ReplayMiss) as caught:
        prompt("greet Bob", options={"temperature": 0})
    said = str(caught.value)
    assert '-   "content": "greet Ada",' in said
    assert '+   "content": "greet Bob",' in said
    assert "seed" not in said
    assert "SAFT_RECORD" in said
    assert caught.value.nearest is not None


@pytest.mark.parametrize("change", ["model", "temperature", "returns", "tools", "system"])
def test_everything_that_decides_the_answer_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script, change: str
) -> None:
    changed: dict[str, Any] = {
        "model": {"options": {"model": "other"}},
        "temperature": {"options": {"temperature": 1}},
        "returns": {"returns": int},
        "system": {"options": {"system": "be brief"}},
    }
    scripted("1")
    prompt("hi")
    start_replay(monkeypatch, recording)
    with pytest.raises(ReplayMiss):
        if change == "tools":
            prompt("{hi}", hi=square)
        else:
            prompt("hi", **changed[change])


def test_what_does_not_decide_the_answer_is_not(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("1")
    prompt("hi", options={"timeout": 5, "retries": 1})
    start_replay(monkeypatch, recording)
    assert prompt("hi", options={"provider": "mock", "timeout": 6}).value == "1"


def test_both_variables_record_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("old")
    prompt("known")
    replay.close(str(recording))
    monkeypatch.setenv("SAFT_REPLAY", str(recording))
    model = scripted("new")
    assert [prompt("known").value, prompt("unknown").value] == ["old", "new"]
    assert len(model.requests) == 1
    replay.close(str(recording))
    assert len(entries(recording)) == 2


def test_recording_again_refreshes_what_is_asked(recording: Path, scripted: Script) -> None:
    scripted("old", "kept")
    prompt("asked again")
    prompt("not asked again")
    replay.close(str(recording))
    scripted("new")
    prompt("asked again")
    replay.close(str(recording))
    assert sorted(entry["reply"]["text"] for entry in entries(recording)) == ["kept", "new"]


def test_the_file_is_sorted_and_the_same_each_time(recording: Path, scripted: Script) -> None:
    texts: list[str] = []
    for order in (range(6), reversed(range(6))):
        recording.unlink(missing_ok=True)
        scripted(*["x"] * 6)
        for number in order:
            prompt("{n}", n=number)
        replay.close(str(recording))
        texts.append(recording.read_text())
    assert texts[0] == texts[1]
    keys = [entry["key"] for entry in entries(recording)]
    assert keys == sorted(keys)


def test_an_entry_is_plain_data_without_headers(recording: Path, scripted: Script) -> None:
    scripted(Reply("hello", model="m", input_tokens=1, output_tokens=2))
    prompt("hi", options={"temperature": 0})
    (entry,) = entries(recording)
    assert entry == {
        "key": entry["key"],
        "repeat": 0,
        "request": {
            "messages": [{"role": "user", "content": "hi"}],
            "options": {"temperature": 0.0},
        },
        "reply": {
            "text": "hello",
            "tool_calls": [],
            "finish": "stop",
            "model": "m",
            "input_tokens": 1,
            "output_tokens": 2,
        },
    }


def test_a_secret_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    password = 'correct "horse"\\battery'
    monkeypatch.setenv("MAIL_PASSWORD", password)
    for secret in ("sk-proj-abcdefghijklmnop1234", password, f"{{\n{password}"):
        scripted("ok")
        with pytest.raises(ConfigError, match="something like a key"):
            prompt("log in with {secret}", secret=secret)
    assert not recording.exists()


def test_unused_entries_are_told(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("a", "b")
    prompt("used")
    prompt("not used")
    start_replay(monkeypatch, recording)
    prompt("used")
    (unused,) = replay.close(str(recording))
    assert unused["request"]["messages"][0]["content"] == "not used"


def test_concurrent_use(monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script) -> None:
    class Echo:
        def complete(self, request: Request) -> Reply:
            return Reply(request.messages[0]["content"])

    def all_of_them() -> list[str]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda n: prompt("{n}", n=n % 25).value, range(100)))

    configure(provider=Echo())
    recorded = all_of_them()
    start_replay(monkeypatch, recording)
    assert all_of_them() == recorded
    assert len(entries(recording)) == 100


def test_a_provider_without_tools_replays_as_one(
    monkeypatch: pytest.MonkeyPatch, recording: Path
) -> None:
    class WithoutTools(Scripted):
        def complete(self, request: Request) -> Reply:
            if request.tools:
                raise ToolsUnsupported("no tools here")
            return super().complete(request)

    configure(provider=WithoutTools(['{"name": "Al"}']))
    assert prompt("?", fields={"name": str}).value == ("Al",)
    start_replay(monkeypatch, recording)
    assert prompt("?", fields={"name": str}).value == ("Al",)


def test_a_damaged_recording_is_a_config_error(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    path.parent.mkdir()
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    for text in ("{oops", "[1]", '{"key": "x"}'):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"file\.jsonl"):
            prompt("hi")


def test_a_recording_that_is_not_there_is_a_miss(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    with pytest.raises(ReplayMiss, match="has no entries"):
        prompt("hi")


def test_at_exit_the_file_is_sorted_and_unused_entries_are_reported(path: Path) -> None:
    root = Path(__file__).parents[2]
    script = (
        "import sys; from runtime_support import prompt\n"
        "[prompt('{n}', n=n, options={'provider': 'mock'}) for n in map(int, sys.argv[1:])]"
    )

    def run(*numbers: str, **variables: str) -> str:
        command = [sys.executable, "-c", script, *numbers]
        environment = {"PYTHONPATH": str(root), **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert run("1", "2", "3", SAFT_RECORD=str(path)) == ""
    keys = [entry["key"] for entry in entries(path)]
    assert keys == sorted(keys)
    assert "2 unused entries" in run("2", SAFT_REPLAY=str(path))
