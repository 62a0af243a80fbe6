"""Pages that a reader follows from top to bottom: files are written, commands give their output.

A fence with the name of a file (```` ```saft mail.saft ````) is that file; the block `text` below a
block `sh` is all that the commands print, and `pytest --update-cases` writes it there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

ROOT = Path(__file__).parents[2]
PAGES = (
    *("tutorial.md", "python.md", "cost.md", "agents.md", "approval.md", "web.md", "versions.md"),
    *("classify.md", "extract.md", "evaluate.md", "coming-from.md", "recipes.md"),
)

_FENCE = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def environment(place: Path) -> dict[str, str]:
    """What a reader's terminal has: saftc on its path, no key, no settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SAFT_")}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{place}{os.pathsep}{ROOT}",
        "PYTEST_ADDOPTS": "-p no:cacheprovider -p runtime_support.pytest_plugin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # As on a terminal: what is printed and what is reported come in their order.
        "PYTHONUNBUFFERED": "1",
    }


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, tmp_path: Path, updates_cases: bool) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    written = page
    printed: str | None = None
    for match in _FENCE.finditer(page):
        language, file, text = match.groups()
        if file is not None:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "sh":
            done = subprocess.run(
                ["bash", "-ec", text],
                cwd=tmp_path,
                env=environment(tmp_path),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.returncode == 0, done.stdout
            printed = done.stdout
            continue
        elif language == "text" and printed is not None:
            if updates_cases:
                written = written.replace(match[0], f"```text\n{printed}```")
            else:
                assert printed == text, f"{name}: {text}"
        printed = None
    if updates_cases:
        (ROOT / "docs" / name).write_text(written, encoding="utf-8")


def test_the_comparison_shows_the_programs_that_were_run() -> None:
    folder = ROOT / "benchmarks" / "why"
    page = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    shown = {file: text for _, file, text in _FENCE.findall(page) if file}
    files = [*folder.glob("with_*.py"), folder / "triage.saft", folder / "baml_src" / "main.baml"]
    assert shown == {path.name: path.read_text(encoding="utf-8") for path in files}
