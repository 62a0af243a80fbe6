"""`docs/programs.md`: its blocks, run one after the other, print what stands below them."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_support._core import settings as config

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_programs_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_configured", {})
    blocks = _BLOCK.findall((ROOT / "docs" / "programs.md").read_text("utf-8"))
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for file, language, text in blocks:
        if language == "text":
            assert printed == text
        elif file:
            (tmp_path / file).write_text(text, "utf-8")
        elif language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, "programs.md", "exec"), names)
            printed = output.getvalue()
        elif language == "sh":
            printed = _run(text, tmp_path)
        else:
            json.loads(text)
    assert len(blocks) > 25


def _run(text: str, folder: Path) -> str:
    """What the commands print; only the words on what was written are left out."""
    bin_ = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return re.sub(r"^\S+ -> \S+\n", "", done.stdout, flags=re.MULTILINE)
