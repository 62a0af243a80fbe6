"""The example scripts: build/ in step with them, and each module runs as plain Python."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_support.providers.local import is_available
from saftc.driver import compile_source
from saftc.source import Source

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.saft"))
BUILD = ROOT / "build"

# The embedded model cannot call tools, so these are for the others.
WITH_TOOLS = {"alias", "choose_tool", "greet_pair", "objects_from_tools", "tools"}

by_name = pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)


def module_of(script: Path) -> Path:
    return BUILD / f"{script.stem}.py"


def run(*command: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


@by_name
def test_the_module_is_in_step_with_its_script(script: Path) -> None:
    compiled = compile_source(Source.from_bytes(script.name, script.read_bytes()))
    assert compiled.checked.diagnostics == ()
    assert compiled.text == module_of(script).read_text("utf-8"), "run `make build`"


def test_there_is_nothing_else_in_build() -> None:
    assert sorted(BUILD.glob("*.py")) == [module_of(script) for script in EXAMPLES]
    assert {script.stem for script in EXAMPLES} >= WITH_TOOLS


@by_name
def test_the_script_says_what_it_shows(script: Path) -> None:
    first = script.read_text("utf-8").splitlines()[0]
    assert first.startswith("// ") and len(first) > 20


@by_name
def test_the_module_runs_with_plain_python(script: Path) -> None:
    done = run(str(module_of(script)), SAFT_PROVIDER="mock")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_script_does_what_its_module_does() -> None:
    script = ROOT / "examples" / "mailbox_triage.saft"
    run_by_saftc = run("-m", "saftc", "run", str(script), "--provider", "mock")
    assert run_by_saftc.stdout == run(str(module_of(script)), SAFT_PROVIDER="mock").stdout
    assert run_by_saftc.stdout.startswith("accounting: 1\n")


def test_the_invoice_table_is_written_where_asked(tmp_path: Path) -> None:
    table = tmp_path / "invoices.csv"
    done = run(str(BUILD / "invoices.py"), SAFT_PROVIDER="mock", INVOICE_CSV=str(table))
    assert done.stdout == table.read_text("utf-8") + f"written to {table}\n"


@pytest.mark.local_model
@pytest.mark.skipif(not is_available(), reason="needs the extra `local` and weights")
@pytest.mark.parametrize(
    "script",
    [script for script in EXAMPLES if script.stem not in WITH_TOOLS],
    ids=lambda script: script.stem,
)
def test_the_embedded_model_answers(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process, so that the model is loaded once.
    monkeypatch.setenv("SAFT_PROVIDER", "local")
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(module_of(script)), run_name="__main__")
    assert capsys.readouterr().out


def test_linters_have_nothing_to_say() -> None:
    done = run("-m", "ruff", "check", "--isolated", "--no-cache", str(BUILD))
    assert done.returncode == 0, done.stdout


def test_type_checkers_have_nothing_to_say(tmp_path: Path) -> None:
    # A project of its own, so that the settings of this one do not count.
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    for script in EXAMPLES:
        module = module_of(script)
        (tmp_path / module.name).write_bytes(module.read_bytes())
    done = run("-m", "pyright", "--pythonpath", sys.executable, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_scripts_are_formatted() -> None:
    done = run("-m", "saftc", "fmt", "--check", *map(str, EXAMPLES))
    assert done.returncode == 0, done.stderr
