"""The lessons of `saftc play`: their texts, and the recorded answers that they come with."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest

from saftc.api import run_source
from tests.compiler.support import ROOT
from tests.play.lessons import ANSWERS, LESSONS, TYPED, record

pytestmark = pytest.mark.one_python


def test_the_tour_has_ten_lessons() -> None:
    assert [path.name[:8] for path in LESSONS] == [f"lesson{n:02}" for n in range(1, 11)]
    titles = [path.read_text().splitlines()[0] for path in LESSONS]
    # They are entries of a menu.
    assert all(title.startswith("// ") and len(title) < 42 for title in titles)
    # The page of the documentation lists them.
    page = (ROOT / "docs" / "tour.md").read_text()
    assert [title[3:] for title in titles] == re.findall(r"^\d+\. \*\*(.+)\*\*", page, re.M)
    assert [path.stem for path in LESSONS] == list(ANSWERS)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_with_its_own_answers_and_with_the_mock(
    lesson: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    updates_cases: bool,
) -> None:
    if updates_cases:
        record(lesson)
    text = lesson.read_text(encoding="utf-8")
    monkeypatch.setenv("SAFT_PROVIDER", "mock")
    # What the recording lacks is an error.
    for replay in (str(lesson.with_suffix(".jsonl")), ""):
        monkeypatch.setenv("SAFT_REPLAY", replay)
        monkeypatch.setattr("sys.stdin", StringIO(TYPED))
        run_source(text)
        said = capsys.readouterr()
        assert said.out and not said.err
        if lesson.stem == "lesson03_records" and replay:
            assert said.out == "medium Wrong invoice\nhigh Server on fire\n"
