"""The example scripts: build/ in step with them, and each module runs as plain Python."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from runtime_support._local.provider import is_available
from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax import nodes
from saftc.syntax.parser import parse
from saftc.syntax.walk import walk
from saftc.types.builtins import BUILTINS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.glob("*.saft"))
BUILD = ROOT / "build"
# Plans, which are compiled against the functions of a script.
PLANS = {FOLDER / "journey.json": "geography"}

# As the table in examples/README.md says: it calls tools slowly and seldom well, writes no long
# programs, and does not see.
NOT_FOR_THE_EMBEDDED_MODEL = set(
    re.findall(r"^\| (\w+) \|.*\| no \|$", (FOLDER / "README.md").read_text(), re.MULTILINE)
)

# Those that ask for long answers, or often, or for what another one asks for, too.
_SLOW = {
    *("city_distance", "classify", "code_review", "file_metadata", "guess", "highest_average"),
    *("invoices", "letters", "mailbox_triage", "mails", "prompt_text", "scouting_report"),
    *("story", "support_desk", "titles", "tools"),
}

by_name = pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)


def module_of(source: Path) -> Path:
    return BUILD / f"{source.stem}.py"


def run(*command: str, cwd: Path = FOLDER, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(FOLDER), **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.heavy
def test_the_modules_are_in_step_with_their_sources() -> None:
    scripts = [script.name for script in EXAMPLES]
    done = run("-m", "saftc", "build", *scripts, "--out-dir", str(BUILD), "--check")
    assert done.returncode == 0, f"{done.stderr}run `make build`"
    for plan, tools in PLANS.items():
        command = ("-m", "saftc", "build", plan.name, "--tools", tools)
        done = run(*command, "--out-dir", str(BUILD), "--check")
        assert done.returncode == 0, f"{done.stderr}run `make build`"


def test_there_is_nothing_else_in_build() -> None:
    assert sorted(BUILD.glob("*.py")) == sorted(map(module_of, [*EXAMPLES, *PLANS]))
    assert {script.stem for script in EXAMPLES} > NOT_FOR_THE_EMBEDDED_MODEL > set()


@pytest.mark.heavy
@pytest.mark.one_python
def test_the_checker_and_the_formatter_have_nothing_to_say() -> None:
    scripts = [script.name for script in EXAMPLES]
    for command in (("check",), ("fmt", "--check")):
        done = run("-m", "saftc", *command, *scripts)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stdout


@by_name
def test_the_script_says_what_it_shows(script: Path) -> None:
    first = script.read_text("utf-8").splitlines()[0]
    assert first.startswith(("// ", "/// ")) and len(first) > 20


# Each module as a program of its own, in one process: starting it takes longer than all of them.
RUN_EACH = """
import contextlib, io, json, runpy, sys
printed = {}
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(path, run_name="__main__")
    printed[path] = output.getvalue()
assert "saftc" not in sys.modules
json.dump(printed, sys.stdout)
"""


def test_the_modules_run_with_plain_python() -> None:
    modules = [str(module_of(source)) for source in [*EXAMPLES, *PLANS]]
    beside = f"{BUILD}{os.pathsep}{FOLDER}"
    done = run("-c", RUN_EACH, *modules, SAFT_PROVIDER="mock", PYTHONPATH=beside)
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    assert [*printed] == modules and all(printed.values())


def test_every_construct_and_builtin_is_in_an_example() -> None:
    used: set[type[nodes.Node]] = set()
    names: set[str] = set()
    forms: set[str] = set()
    for script in sorted(FOLDER.rglob("*.saft")):
        module = parse(Source.from_bytes(script.name, script.read_bytes()), Collector())
        for node in walk(module):
            used.add(type(node))
            if isinstance(node, nodes.Name):
                names.add(node.text)
            elif isinstance(node, nodes.Prompt):
                forms.add(node.mode)
            elif isinstance(node, nodes.Hole) and node.is_approved:
                names.add("approve")
            elif isinstance(node, nodes.Binary | nodes.Comparison):
                forms.add(node.operator)
    kinds = {kind for kind in vars(nodes).values() if isinstance(kind, type)}
    # What the parser makes of no text: the base of all, and the calls of an MCP server's tools.
    elsewhere = {nodes.Node, nodes.ServerCall}
    constructs = {kind for kind in kinds if issubclass(kind, nodes.Node)} - elsewhere
    assert constructs <= used
    assert {*BUILTINS} <= names
    assert forms >= {"plain", "do", "program", *"+-*/%", "<", "<=", ">", ">=", "==", "!=", "in"}


@pytest.mark.heavy
def test_the_script_does_what_its_module_does() -> None:
    script = FOLDER / "mailbox_triage.saft"
    replies = str(FOLDER / "recordings" / "mailbox_triage.jsonl")
    run_by_saftc = run("-m", "saftc", "run", str(script), "--replay", replies, cwd=ROOT)
    assert run_by_saftc.stdout == run(str(module_of(script)), SAFT_REPLAY=replies).stdout
    assert run_by_saftc.stdout.startswith("accounting: ")


@pytest.mark.parametrize(
    ("script", "variable"), [("invoices", "INVOICE_CSV"), ("file_metadata", "CATALOGUE")]
)
def test_a_file_is_written_where_asked(script: str, variable: str, tmp_path: Path) -> None:
    path = tmp_path / "written"
    replies = str(FOLDER / "recordings" / f"{script}.jsonl")
    done = run(str(BUILD / f"{script}.py"), SAFT_REPLAY=replies, **{variable: str(path)})
    assert done.stdout.endswith(f"written to {path}\n")
    assert "2025-02-1" in path.read_text("utf-8")


@pytest.mark.heavy
@pytest.mark.local_model
@pytest.mark.skipif(not is_available(), reason="needs the extra `local` and weights")
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            script, id=script.stem, marks=[pytest.mark.slow] if script.stem in _SLOW else []
        )
        for script in EXAMPLES
        if script.stem not in NOT_FOR_THE_EMBEDDED_MODEL
    ],
)
def test_the_embedded_model_answers(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process, so that the model is loaded once.
    monkeypatch.setenv("SAFT_PROVIDER", "local")
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(BUILD))
    runpy.run_path(str(module_of(script)), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.one_python
def test_linters_have_nothing_to_say() -> None:
    # As in a project of its own, which has the runtime installed.
    options = ["--isolated", "--no-cache", "--config", f"src={[str(BUILD), str(FOLDER)]}"]
    installed = 'lint.isort.known-third-party=["runtime_support"]'
    # What `try` of a script catches is any failure, so that a blind `except` is what is meant, and
    # what an `assert` of a script raises is an AssertionError, whatever it asks for.
    meant = ["--ignore", "BLE001,TRY004"]
    done = run("-m", "ruff", "check", *options, "--config", installed, *meant, ".", cwd=BUILD)
    assert done.returncode == 0, done.stdout
