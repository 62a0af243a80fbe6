"""`python out.py` tells uncaught errors in terms of the script when its source map is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """from runtime_support import show

print("日本語", 1 / len(show("")))
"""

# Line 3, column 13 of the module (in UTF-16 units) is line 2, column 9 of the script.
SOURCE_MAP = {"version": 3, "sources": ["a.saft"], "mappings": ";;AAAA,aACQ"}


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


def error_of(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 1
    return done.stderr


def test_an_error_has_its_position(module: Path) -> None:
    Path(f"{module}.map").write_text(json.dumps(SOURCE_MAP))
    error = error_of("a.py", folder=module.parent)
    assert error.startswith("Traceback (most recent call last):\n")
    assert error.endswith("ZeroDivisionError: division by zero\nat a.saft:2:9\n")


def test_without_a_map_nothing_changes(module: Path) -> None:
    error = error_of("a.py", folder=module.parent)
    assert error.endswith("ZeroDivisionError: division by zero\n")


def test_a_damaged_map_hides_no_error(module: Path) -> None:
    Path(f"{module}.map").write_text("{")
    error = error_of("a.py", folder=module.parent)
    assert error.endswith("ZeroDivisionError: division by zero\n")


def test_a_program_that_imports_the_module_keeps_its_own_report(module: Path) -> None:
    Path(f"{module}.map").write_text(json.dumps(SOURCE_MAP))
    error = error_of("-c", "import a", folder=module.parent)
    assert error.endswith("ZeroDivisionError: division by zero\n")


def test_another_hook_is_called_as_well(module: Path) -> None:
    source_map = {**SOURCE_MAP, "mappings": ";;;AACQ"}
    Path(f"{module}.map").write_text(json.dumps(source_map))
    text = "import sys\nsys.excepthook = lambda kind, error, trace: print(error.__notes__)\n"
    module.write_text(text + "from runtime_support import show\n1 / len(show(''))\n")
    done = subprocess.run(
        [sys.executable, "a.py"],
        cwd=module.parent,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout == "['at a.saft:2:9']\n"
