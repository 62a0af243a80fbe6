"""Runs the parts of a tier of the tests, all of them whatever fails, and counts them together.

`make test` runs `tiers.py test`, `make check` runs `tiers.py check NEWEST_PYTHON`. The last line of
each counts all of its parts; `tiers.py count` counts those of both again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
# What was found, by parts in the format of JUnit, and by tiers in a line.
FOUND = ROOT / ".tests"
# How many of all tests `make test` may leave to `make check`.
MOST_HEAVY = 0.03


@dataclass(frozen=True)
class Part:
    """A checker, which passes or fails, or tests, which pytest counts in a report."""

    title: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict[str, str])
    report: Path | None = None


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def all(self) -> int:
        return self.passed + self.failed + self.skipped

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def checker(title: str, program: str, *arguments: str) -> Part:
    return Part(title, [str(BIN / program), *arguments])


def tests(name: str, title: str, *arguments: str, python: str = sys.executable) -> Part:
    report = FOUND / f"{name}.xml"
    return Part(
        f"{title}: {python}",
        [python, "-m", "pytest", *arguments, f"--junitxml={report}"],
        {"SAFT_ORACLE_EXAMPLES": "40", "SAFT_OVERLAP_SCRIPTS": "50"} if name == "newest" else {},
        report,
    )


# Each process has its share of the tests, in order, and takes over some of another's.
SPREAD = ("-n", "auto", "--dist", "worksteal")
# One process more than there are processors: some of the fast tests wait, for a child or a server.
_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
ONE_MORE = ("-n", str((_PROCESSORS or 1) + 1), "--dist", "worksteal")
CHECKERS = [
    checker("ruff", "ruff", "check"),
    tests("house", "the house: sizes, imports, what is loaded", "tests/structure", "-m", "heavy"),
    checker(
        "pyright, strict, of the compiled examples too",
        *("pyright", "--project", "pyproject.toml", "--pythonpath", sys.executable),
    ),
    checker("mypy --strict, of the compiled examples", "mypy"),
]
LIGHT = tests("light", "fast tests", *ONE_MORE, "-m", "not heavy and not slow")
HEAVY = tests(
    "heavy", "heavy tests", *SPREAD, "-m", "heavy and not slow", "--ignore=tests/structure"
)


def newest(python: str) -> Part:
    """What may depend on the Python, of both tiers, and with fewer generated scripts."""
    marks = "not local_model and not one_python and not slow"
    return tests("newest", "tests with the newest Python", *SPREAD, "-m", marks, python=python)


def main(tier: str, newest_python: str = "") -> int:
    match tier:
        case "lint":
            counts = run_all("lint", [], CHECKERS)
        case "test":
            counts = run_all("test", [LIGHT], CHECKERS)
        case "check":
            counts = run_all("check", [HEAVY, *([newest(newest_python)] if newest_python else [])])
        case "count":
            counts = counted("test")
            counts.add(counted("check"))
            counts.add(share_of_heavy())
        case _:
            raise SystemExit(__doc__)
    print(counts)
    return 1 if counts.failed or not counts.passed else 0


def run_all(tier: str, parts: list[Part], aside: list[Part] | None = None) -> Counts:
    """Runs parts one after another, with others beside them that are shown at the end."""
    FOUND.mkdir(exist_ok=True)
    (FOUND / tier).unlink(missing_ok=True)
    counts = Counts()
    with ThreadPoolExecutor(max_workers=1) as executor:
        others = [executor.submit(run, part, captured=True) for part in aside or ()]
        for part in parts:
            print(f"== {part.title}", flush=True)
            counts.add(run(part)[1])
        for part, other in zip(aside or (), others, strict=True):
            said, found = other.result()
            print(f"== {part.title}\n{said}", end="", flush=True)
            counts.add(found)
    (FOUND / tier).write_text(f"{counts}\n", encoding="utf-8")
    return counts


def run(part: Part, captured: bool = False) -> tuple[str, Counts]:
    """What a part said, if that was captured, and what it counted."""
    if part.report is not None:
        part.report.unlink(missing_ok=True)
    output = subprocess.PIPE if captured else None
    environment = {**os.environ, **part.environment}
    try:
        done = subprocess.run(
            part.command, cwd=ROOT, env=environment, stdout=output, stderr=output, text=True
        )
    except OSError as error:
        return "", _failed(part, str(error))
    counts = read(part.report) if part.report else Counts(passed=int(done.returncode == 0))
    # An exit that the counts do not explain is a failure, and so is a run of nothing.
    if not counts.passed or (done.returncode and not counts.failed):
        counts.add(_failed(part, f"it ended with {done.returncode}"))
    return f"{done.stdout}{done.stderr}" if captured else "", counts


def _failed(part: Part, how: str) -> Counts:
    print(f"{part.title}: {how}", flush=True)
    return Counts(failed=1)


def read(report: Path) -> Counts:
    """What a report of JUnit counts; nothing where there is none, or no whole one."""
    counts = Counts()
    try:
        suites = list(ElementTree.parse(report).iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return counts
    for suite in suites:
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        counts.add(Counts(int(suite.get("tests", 0)) - failed - skipped, failed, skipped))
    return counts


def counted(tier: str) -> Counts:
    """What a tier has counted; one that did not end counts as a failure."""
    try:
        text = (FOUND / tier).read_text(encoding="utf-8")
    except OSError:
        print(f"make {tier} did not end")
        return Counts(failed=1)
    return Counts(*(int(word) for word in text.split() if word.isdigit()))


def share_of_heavy() -> Counts:
    """A failure when more tests are `heavy` than may be."""
    light, heavy = (read(FOUND / f"{name}.xml").all for name in ("light", "heavy"))
    if heavy <= MOST_HEAVY * (light + heavy):
        return Counts(passed=1)
    print(f"{heavy} of {light + heavy} tests are heavy, more than {MOST_HEAVY:.0%}")
    return Counts(failed=1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
