"""`saftc run --record`, `--replay`, `--verbose` and `--log`: from the command to what is left."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_support import _recordings as replay
from runtime_support import providers
from runtime_support._journal import json_lines as lines
from tests.cli.conftest import Command, Ended

SCRIPT = """/// The length of a word.
f length(word: string) -> int:
    ret len(word)

for name in ["Al", "Barbara"]:
    print($ greet {name} $)
print($ the {length} of {"word"} $)
"""


@pytest.fixture
def process(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command as a process of its own would: nothing is left of the run before."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(replay, "_open", lines.OpenFiles())
        monkeypatch.setattr(providers, "_made", {})
        return saftc(*arguments)

    return run


def test_what_was_recorded_is_replayed_without_a_model(process: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(SCRIPT)
    recorded = process("run", "in.saft", "--provider", "mock", "--record", "in.jsonl")
    assert recorded.code == 0, recorded.err
    assert len((folder / "in.jsonl").read_text().splitlines()) == 4
    replayed = process("run", "in.saft", "--provider", "unset", "--replay", "in.jsonl")
    assert (replayed.code, replayed.out) == (0, recorded.out)


def test_a_script_that_asks_nothing_has_no_unused_entries(process: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(SCRIPT)
    process("run", "in.saft", "--provider", "mock", "--record", "in.jsonl")
    (folder / "in.saft").write_text("print(1)\n")
    command = [sys.executable, "-m", "saftc", "run", "in.saft", "--replay", "in.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_miss_is_told_at_the_prompt_with_the_nearest_entry(
    process: Command, folder: Path
) -> None:
    (folder / "in.saft").write_text('print($ greet {"Ada"} in one line $)\n')
    process("run", "in.saft", "--provider", "mock", "--record", "in.jsonl")
    (folder / "in.saft").write_text('print($ greet {"Ada"} in two lines $)\n')
    done = process("run", "in.saft", "--replay", "in.jsonl")
    assert done.code == 1
    assert "ReplayMiss" in done.err
    assert "one line" in done.err and "two lines" in done.err
    assert "--> in.saft:1:7" in done.err
    assert "add `--record in.jsonl` to record what is missing" in done.err
    both = ("--replay", "in.jsonl", "--record", "in.jsonl")
    assert process("run", "in.saft", "--provider", "mock", *both).code == 0


CAUGHT = {
    "try": """
try:
    print($ greet {"Ada"} in one line $)
except error:
    print("waits for a person:", error.kind)
print("the end")
""",
    "a loop that overlaps": """
f reply(name: string) -> string:
    try: ret $ greet {name} in one line $
    except: ret "nobody"
for name in ["Ada", "Al"]:
    print(reply(name))
""",
    "a tool": """
/// A greeting.
f greeting(name: string) -> string: ret $ greet {name} in one line $
try: print($ call the {greeting} of "Ada" $)
except: print("none")
""",
    "a stream": """
try:
    for piece in stream $ greet {"Ada"} in one line $: print(piece)
except: print("none")
""",
}


@pytest.mark.parametrize("script", CAUGHT.values(), ids=CAUGHT)
def test_no_try_of_a_script_catches_a_miss(script: str, process: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(script)
    recorded = process("run", "in.saft", "--provider", "mock", "--record", "in.jsonl")
    assert recorded.code == 0, recorded.err
    same = process("run", "in.saft", "--replay", "in.jsonl")
    assert (same.code, same.out) == (0, recorded.out), same.err
    (folder / "in.saft").write_text(script.replace("one line", "two lines"))
    done = process("run", "in.saft", "--replay", "in.jsonl")
    assert (done.code, done.out) == (1, "")
    assert "ReplayMiss: the recording" in done.err and "two lines" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--replay", "torn.jsonl"], "torn.jsonl:1: not JSON: "),
        (["--record", "torn.jsonl"], "torn.jsonl:1: not JSON: "),
        (["--record", "torn.jsonl/in.jsonl"], "cannot write the recording "),
    ],
)
def test_no_try_of_a_script_catches_a_recording_that_cannot_be_used(
    options: list[str], problem: str, process: Command, folder: Path
) -> None:
    (folder / "torn.jsonl").write_text("<<<<<<< HEAD\n")
    text = 'try:\n    print($ greet {"Ada"} $)\nexcept error:\n    print("caught")\n'
    (folder / "in.saft").write_text(text)
    ended = process("run", "in.saft", "--provider", "mock", *options)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("saftc: ") and problem in ended.err


def test_trace_and_log(process: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(SCRIPT)
    done = process("run", "in.saft", "--provider", "mock", "--verbose", "--log", "in.log")
    assert done.code == 0
    assert "in.saft:6:11" in done.err and 'greet "Barbara"' in done.err and "length" in done.err
    events = [json.loads(line) for line in (folder / "in.log").read_text().splitlines()]
    assert [event["event"] for event in events[:2]] == ["request", "reply"]
    assert {event["place"] for event in events} == {"in.saft:6:11", "in.saft:7:7"}
    assert any(event["event"] == "tool" and event["tool"] == "length" for event in events)
