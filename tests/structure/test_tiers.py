"""A tier runs all of its parts, and counts what failed, what did not run, and what ran nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import tiers
from tests.tiers import Counts, Part

pytestmark = pytest.mark.one_python

REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tiers, "FOUND", tmp_path)
    return tmp_path


def run_of_a_checker(status: int) -> Part:
    return Part("a checker", [sys.executable, "-c", f"print('said'); exit({status})"])


def run_of_pytest(found: Path, status: int, *counts: int) -> Part:
    """A run of pytest that ends with a status, and leaves a report if there are counts."""
    report = found / "part.xml"
    text = REPORT.format(*counts) if counts else ""
    code = (
        f"import pathlib; text = {text!r}\nif text: pathlib.Path({str(report)!r}).write_text(text)"
    )
    return Part("tests", [sys.executable, "-c", f"{code}\nraise SystemExit({status})"], {}, report)


def test_all_parts_run_and_are_counted(found: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parts = [run_of_pytest(found, 1, 9, 2, 1, 3), run_of_pytest(found, 0, 5, 0, 0, 0)]
    counts = tiers.run_all("test", parts, [run_of_a_checker(1), run_of_a_checker(0)])
    assert (counts.passed, counts.failed, counts.skipped) == (3 + 5 + 1, 3 + 1, 3)
    assert capfd.readouterr().out.count("said") == 2
    assert tiers.counted("test") == counts


@pytest.mark.parametrize(
    "counts",
    [(), (0, 0, 0, 0), (7, 0, 0, 7)],
    ids=["no report", "nothing collected", "all skipped"],
)
def test_a_run_of_nothing_has_failed(found: Path, counts: tuple[int, ...]) -> None:
    assert tiers.run(run_of_pytest(found, 0, *counts))[1].failed == 1


def test_an_exit_that_no_test_explains_is_a_failure(found: Path) -> None:
    assert tiers.run(run_of_pytest(found, 3, 4, 0, 0, 0))[1] == Counts(passed=4, failed=1)
    assert tiers.run(Part("gone", [str(found / "nowhere")]))[1] == Counts(failed=1)


def test_a_tier_that_did_not_end_has_failed() -> None:
    assert tiers.counted("check") == Counts(failed=1)


@pytest.mark.parametrize(("heavy", "failed"), [(3, 0), (4, 1)])
def test_few_tests_are_heavy(found: Path, heavy: int, failed: int) -> None:
    (found / "light.xml").write_text(REPORT.format(97, 0, 0, 0))
    (found / "heavy.xml").write_text(REPORT.format(heavy, 0, 0, 0))
    assert tiers.share_of_heavy().failed == failed
