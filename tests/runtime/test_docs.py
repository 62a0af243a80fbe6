"""The pages on the runtime: every block runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str, str | None]]:
    """Language and text of each block, and the output that stands below it."""
    found = _FENCE.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    following = [*found[1:], ("", "")]
    return [
        (language, text, below if below_language == "text" else None)
        for (language, text), (below_language, below) in zip(found, following, strict=True)
        if language != "text"
    ]


def heading(text: str) -> str:
    return text.splitlines()[-1][:40]


_OF_PYTHON = [
    *blocks("runtime.md"),
    *blocks("runtime-concurrency.md"),
    *(block for block in blocks("runs.md") if block[0] == "python"),
]


@pytest.mark.parametrize(
    ("language", "text", "printed"),
    _OF_PYTHON,
    ids=[heading(text) for _, text, _ in _OF_PYTHON],
)
def test_pages_of_python(language: str, text: str, printed: str | None) -> None:
    assert language == "python"
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "runtime.md", "exec", dont_inherit=True), {"__name__": "__main__"})
    assert output.getvalue() == printed


@pytest.mark.heavy
def test_testing_page(tmp_path: Path) -> None:
    files = iter(("triage.saft", "test_triage.py", "orders.saft", "test_orders.py"))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "-q -p no:cacheprovider -p runtime_support.pytest_plugin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "SAFT_PROVIDER": "mock",
    }
    for language, text, printed in blocks("testing.md"):
        if language != "sh":
            (tmp_path / next(files)).write_text(text, encoding="utf-8")
            continue
        done = subprocess.run(
            ["bash", "-ec", text], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if printed is not None:
            assert printed.strip() in done.stdout
    assert next(files, None) is None
