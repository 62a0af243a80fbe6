"""What docs/overlap.md says: its module is what saftc writes, and its list of examples holds."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pytest

from saftc.api import compile_source
from saftc.driver import check
from saftc.overlap.plan import plan
from saftc.overlap.settings import Overlapping
from saftc.project.settings import Project
from saftc.source import Source
from tests.compiler.support import ROOT, compile_text, examples

_PAGE = (ROOT / "docs" / "overlap.md").read_text(encoding="utf-8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The first of each language.
_BLOCKS = {language: text for language, text in reversed(_FENCE.findall(_PAGE))}


# A script with its name, and the module that it becomes.
_MODULES = re.findall(
    r"^`(\w+\.saft)`:\n\n```saft\n(.*?)^```$.*?^```python\n(.*?)^```$",
    _PAGE,
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(("name", "script", "module"), _MODULES, ids=[one[0] for one in _MODULES])
def test_the_modules_are_what_saftc_writes(name: str, script: str, module: str) -> None:
    assert compile_text(script, name).text == module


def test_so_is_the_async_module() -> None:
    below = _PAGE.partition("## In an event loop")[2]
    async_block = next(text for language, text in _FENCE.findall(below) if language == "python")
    module = compile_source(_BLOCKS["saft"], name="paper.saft", is_async=True)
    for lines in async_block.split("\n\n"):
        assert indent(lines.strip(), "    ") in module


def test_the_settings_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(_BLOCKS["toml"])
    monkeypatch.chdir(tmp_path)
    assert Project().compiling() == Overlapping(True, ("geo.distance", "units.*"))


def test_the_examples_that_overlap_are_listed() -> None:
    overlapping = {
        path.stem
        for path in examples()
        if re.search(r"\b(overlap|together)\(", (ROOT / "build" / f"{path.stem}.py").read_text())
    }
    table = _PAGE.split("## In the examples")[1].split("The others")[0]
    assert set(re.findall(r"`(\w+)`", table)) == overlapping


def test_the_scripts_of_the_readme_overlap() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scripts = [text for language, text in _FENCE.findall(readme) if language == "saft"]
    overlapping = 0
    for script in scripts:
        checked = check(Source.from_text("readme.saft", script))
        notes = plan(checked.facts).notes
        # Whatever may be asked beside something else there is.
        assert [note.reason for note in notes if note.reason is not None] == []
        overlapping += bool(notes)
    assert overlapping >= 2
