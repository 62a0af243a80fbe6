"""`python out.py` tells uncaught errors in terms of the script when its source map is there."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runtime_support._core.positions.uncaught import install

MODULE = """from runtime_support.ops import show

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
    module.write_text(text + "from runtime_support.ops import show\n1 / len(show(''))\n")
    done = subprocess.run(
        [sys.executable, "a.py"],
        cwd=module.parent,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout == "['at a.saft:2:9']\n"


def test_the_map_of_another_version_is_passed_over(module: Path) -> None:
    digest = hashlib.sha256(module.read_bytes()).hexdigest()
    for found, expected in ((digest, True), ("0" * 64, False)):
        Path(f"{module}.map").write_text(json.dumps({**SOURCE_MAP, "x_digest": found}))
        assert ("at a.saft:" in error_of("a.py", folder=module.parent)) == expected


@pytest.mark.parametrize("mappings", ["!!!", None, 3, ";;AAAA,!"])
def test_damaged_mappings_hide_no_error(module: Path, mappings: object) -> None:
    Path(f"{module}.map").write_text(json.dumps({**SOURCE_MAP, "mappings": mappings}))
    error = error_of("a.py", folder=module.parent)
    assert error.endswith("ZeroDivisionError: division by zero\n")
    assert "excepthook" not in error


def test_an_error_of_a_thread_has_its_position(module: Path) -> None:
    source_map = {**SOURCE_MAP, "mappings": ";;;;AACQ"}
    Path(f"{module}.map").write_text(json.dumps(source_map))
    module.write_text(
        "from threading import Thread\nfrom runtime_support.ops import show\n\n"
        "def run():\n    1 / len(show(''))\n\nThread(target=run).start()\nraise SystemExit(1)\n"
    )
    error = error_of("a.py", folder=module.parent)
    assert error.endswith("ZeroDivisionError: division by zero\nat a.saft:2:9\n")


def test_installing_it_twice_is_as_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    install()
    installed = sys.excepthook
    install()
    assert sys.excepthook is installed
