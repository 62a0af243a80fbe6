"""The bounds of the examples and of README's script stand in examples/README.md.

`pytest tests/examples/test_bounds.py --update-cases` writes them there.
"""

import re
from pathlib import Path

import pytest

from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from saftc.driver import Checked, check
from saftc.project.scripts import Scripts
from saftc.source import Source
from tests.compiler.support import ROOT, examples

pytestmark = pytest.mark.one_python

PAGE = ROOT / "examples" / "README.md"
_HEAD = "| script | requests at most |\n|---|---|\n"


def row(name: str, checked: Checked) -> str:
    """The line of a script; those that ask for nothing have none."""
    program = ProgramBounds(checked.facts, checked.source, project_limits()).program
    if program.bound.is_zero:
        return ""
    reasons = program.bound.reasons
    told = f"any number: {reasons[0].words}" if reasons else f"`{program.bound.text}`"
    return f"| {name} | {told} |\n"


def of_readme() -> Checked:
    """README's script that becomes a module."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```saft\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (triage,) = (one for one in blocks if "f triage(" in one)
    return check(Source.from_text("triage.saft", triage))


def test_the_table_says_what_check_says(updates_cases: bool) -> None:
    scripts = Scripts()
    rows = [row("README's `triage`", of_readme())]
    for path in sorted(map(Path, examples())):
        rows.append(row(path.stem, scripts.check(str(path))))
    page = PAGE.read_text(encoding="utf-8")
    before, _, behind = page.partition(_HEAD)
    table = "".join(rows)
    if updates_cases:
        rest = re.sub(r"\A(\|[^\n]*\n)*", "", behind)
        PAGE.write_text(before + _HEAD + table + rest, encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
    assert _HEAD + table in page
