"""A pytest plugin: prompts in tests are answered from recordings.

    def test_triage(saft_replay):
        assert triage("The server is on fire").severity == "high"

The recording stands beside the test, `recordings/test_mail.test_triage.jsonl`. By default it is
replayed and nothing is asked of a model: what is not recorded fails. `pytest --saft-record` asks
for what is missing and records it, `pytest --saft-record=all` records everything anew.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


class UnusedRecording(UserWarning):
    """A recording holds entries that its test did not ask for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--saft-record`."""
    parser.getgroup("saft").addoption(
        "--saft-record",
        nargs="?",
        const="missing",
        default="none",
        choices=("none", "missing", "all"),
        help="record the prompts of tests: those without a recording, or all of them anew",
    )


@pytest.fixture
def saft_replay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replays or records the prompts of this test; gives the path of the recording."""
    from runtime_support.providers.replay import close, counted

    path = _recording_of(request.node)
    mode = request.config.getoption("--saft-record")
    if mode == "all":
        path.unlink(missing_ok=True)
    for variable, is_set in {"SAFT_REPLAY": mode != "all", "SAFT_RECORD": mode != "none"}.items():
        if is_set:
            monkeypatch.setenv(variable, str(path))
        else:
            monkeypatch.delenv(variable, raising=False)
    yield path
    unused = close(str(path))
    if unused:
        warnings.warn(f"{counted(unused)} in {path}", UnusedRecording, stacklevel=2)


def _recording_of(node: pytest.Item) -> Path:
    within_file = node.nodeid.partition("::")[2].replace("::", ".")
    name = re.sub(r"[^\w.-]+", "_", within_file).strip("_")
    return node.path.parent / "recordings" / f"{node.path.stem}.{name}.jsonl"
