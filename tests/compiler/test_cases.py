"""Every case gives the module and the diagnostics that stand beside it.

`pytest tests/compiler/test_cases.py --update-cases` rewrites them.
"""

import re
from pathlib import Path

import pytest

from saftc.cost.rendering import too_many
from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from saftc.diagnostics.render import render_text
from tests.compiler.support import Case, all_cases

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_case(case: Case, updates_cases: bool) -> None:
    compiled = case.compile()
    checked = compiled.checked
    # An empty file `strict` asks for what `check --strict` tells.
    hints = checked.hints() if (case.folder / "strict").exists() else ()
    # A file `bound` with a number asks for what `check --bound` tells.
    bounded = case.folder / "bound"
    if bounded.exists():
        bounds = ProgramBounds(checked.facts, checked.source, project_limits())
        passed = too_many(bounds, int(bounded.read_text()))
        hints = (*hints, *([] if passed is None else [passed]))
    text = render_text((*checked.diagnostics, *hints), checked.source)
    found = {
        case.out: compiled.text,
        case.errors: _anywhere(text, case) or None,
    }
    if updates_cases:
        for path, text in found.items():
            _rewrite(path, text)
    for path, text in found.items():
        assert text == (path.read_text(encoding="utf-8") if path.exists() else None)


def _anywhere(text: str, case: Case) -> str:
    """The text without the places of this machine."""
    text = text.replace(f"{case.folder}/", "").replace(str(case.folder), "this folder")
    return re.sub(r"looked in this folder.*", "looked in this folder, ...", text)


def _rewrite(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def test_there_are_cases() -> None:
    assert len(all_cases()) > 200
