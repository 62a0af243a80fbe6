"""The benchmarks are intact: each group measures something. No time is asserted."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.one_python

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GROUPS = (
    *("overhead", "startup", "compiling", "code", "programs", "memory"),
    *("overlap", "storms", "streams", "loop", "journals", "map", "editing"),
)


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.heavy
@pytest.mark.parametrize("group", GROUPS)
def test_a_group_measures_something(group: str, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", group, "--quick", "--alone", "--json", results],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(results.read_text())["figures"]
    assert figures
    for figure in figures:
        assert f"  {figure['name']}" in done.stdout
        assert figure["ours"] >= 0 and all(value >= 0 for value in figure["peers"].values())


def test_the_groups_are_all() -> None:
    run = BENCHMARKS / "run.py"
    done = subprocess.run([sys.executable, run, "nothing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no group nothing" in done.stderr
    done = subprocess.run([sys.executable, run, "--help"], capture_output=True, text=True)
    assert f"of {', '.join(GROUPS)}" in " ".join(done.stdout.split())


def test_targets() -> None:
    figure = _module("figures").Figure
    beside = figure("g", "n", "ms", 10, {"a": 5.0, "b": 20.0}, "a", at_most=2)
    assert (beside.ratio, beside.is_met) == (2, True)
    assert figure("g", "n", "ms", 11, {"a": 5.0}, "a", at_most=2).is_met is False
    assert figure("g", "n", "ms", 11, {"b": 5.0}, "a", at_most=2).is_met is None
    assert figure("g", "n", "1/s", 450, {"a": 1.0}, at_least=450).is_met is True
    assert figure("g", "n", "MB", 61, at_most=60).is_met is False
    assert figure("g", "n", "MB", 61).is_met is None


@pytest.mark.parametrize("lines", [1, 2, 17, 100, 1000])
def test_generated_scripts_are_the_same_each_time(lines: int) -> None:
    script = _module("generated").script
    text = script(lines)
    assert text.count("\n") == lines and text == script(lines)


@pytest.mark.parametrize("lines", [30, 60, 100, 230])
def test_generated_scripts_have_nothing_wrong(lines: int) -> None:
    from saftc.driver import compile_source
    from saftc.source import Source

    compiled = compile_source(Source.from_text("in.saft", _module("generated").script(lines)))
    assert compiled.text is not None and compiled.checked.diagnostics == ()
