"""The recordings of the examples: each is replayed, and prints what it printed then.

`pytest tests/examples/test_recordings.py --update-cases` records anew, with the provider that
examples/README.md names.
"""

import json
import re
import runpy
from pathlib import Path

import pytest

from runtime_support import _recordings as replay
from runtime_support._local.provider import is_available
from runtime_support._mock.provider import MODEL
from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax.nodes import Prompt
from saftc.syntax.parser import parse
from saftc.syntax.walk import walk

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
RECORDINGS = FOLDER / "recordings"
ANSWERED_BY = dict(
    re.findall(r"^\| (\w+) \| \w+ \| `(\w+)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
)


def prompts_of(script: Path) -> int:
    module = parse(Source.from_bytes(script.name, script.read_bytes()), Collector())
    return sum(isinstance(node, Prompt) for node in walk(module))


def test_every_script_with_prompts_has_a_recording() -> None:
    asking = {script.stem for script in FOLDER.glob("*.saft") if prompts_of(script)}
    assert set(ANSWERED_BY) == asking
    assert set(ANSWERED_BY.values()) == {"local", "mock"}
    for suffix in (".jsonl", ".txt"):
        assert {path.stem for path in RECORDINGS.glob(f"*{suffix}")} == asking


@pytest.mark.parametrize("name", ANSWERED_BY)
def test_each_reply_says_whether_a_model_gave_it(name: str) -> None:
    lines = (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines()
    replies = [entry["reply"] for entry in map(json.loads, lines) if "refused" not in entry]
    models = {reply["model"] for reply in replies}
    assert len(models) == 1
    assert (MODEL in models) == (ANSWERED_BY[name] == "mock")


@pytest.mark.parametrize("name", ANSWERED_BY)
def test_the_recording_gives_the_same_again(
    name: str,
    updates_cases: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording, output = RECORDINGS / f"{name}.jsonl", RECORDINGS / f"{name}.txt"
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.syspath_prepend(ROOT / "build")
    if updates_cases:
        if ANSWERED_BY[name] == "local" and not is_available():
            pytest.skip("needs the extra `local` and weights")
        recording.unlink(missing_ok=True)
        monkeypatch.setenv("SAFT_RECORD", str(recording))
        monkeypatch.setenv("SAFT_PROVIDER", ANSWERED_BY[name])
    else:
        monkeypatch.setenv("SAFT_REPLAY", str(recording))
        monkeypatch.setenv("SAFT_PROVIDER", "unset")
    runpy.run_path(str(ROOT / "build" / f"{name}.py"), run_name="__main__")
    assert replay.close(str(recording)) == []
    printed = capsys.readouterr().out
    if updates_cases:
        output.write_text(printed, "utf-8")
    assert printed == output.read_text("utf-8")
