"""The names of before: each is an error that says the new one, wherever it is written."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_support import Settings, configure, prompt
from runtime_support.errors import ConfigError
from saftc.cli.app import app, typer
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]
SETTINGS = {
    "retries": "max_retries",
    "repairs": "max_repairs",
    "patience": "max_wait",
    "wire": "api",
    "cut": "on_truncated",
    "structured": "enforce_schema",
    "effort": "reasoning_effort",
    "extra": "extra_body",
    "max_requests": "budget_requests",
    "max_total_tokens": "budget_tokens",
    "max_cost": "budget_cost",
}
VALUES = [("on_truncated", "allow", "accept"), ("provider", "none", "unset")]
VARIABLES = {
    "SAFT_RETRIES": "SAFT_MAX_RETRIES",
    "SAFT_WIRE": "SAFT_API",
    "SAFT_MAX_COST": "SAFT_BUDGET_COST",
    "SAFT_IN_DOUBT": "SAFT_ON_INTERRUPTED_CALL",
    "SAFT_TRACE": "SAFT_VERBOSE",
}
FUNCTIONS = {
    "snapshot": "current_settings",
    "scoped": "journal_scope",
    "call_key": "idempotency_key",
}
FLAGS = {
    "run --trace": "--verbose",
    "run --max-requests": "--budget-requests",
    "run --max-total-tokens": "--budget-tokens",
    "run --max-cost": "--budget-cost",
    "map --max-cost": "--budget-cost",
    "map --in-flight": "--rows-at-once",
    "map --keep": "--columns",
    "map --column": "--rename",
    "check --max-requests": "--bound",
    "build --settings": "--embed-settings",
    "build --no-settings": "--no-embed-settings",
    "prompts --wire": "--raw",
    "trace --html": "--timeline",
    "approve --no": "--deny",
    "approve --done": "--result",
    "approve --again": "--retry",
    "approve --no-run": "--decide-only",
}


@pytest.mark.parametrize("old", SETTINGS)
def test_in_a_script(saftc: Command, script: Script, old: str) -> None:
    script("a.saft", f"print($ hi $ with {{{old}: 1}})\n")
    ended = saftc("check", "a.saft")
    assert ended.code == 1 and f"`{old}` is called `{SETTINGS[old]}`" in ended.out


def test_a_script_is_fixed(saftc: Command, script: Script) -> None:
    path = script(
        "a.saft", 'print($ hi $ with {cut: "allow", retries: 1, wire: "chat", effort: "low"})\n'
    )
    assert saftc("check", "--fix", "a.saft").code == 0
    options = 'on_truncated: "accept", max_retries: 1, api: "chat", reasoning_effort: "low"'
    assert path.read_text() == f"print($ hi $ with {{{options}}})\n"


@pytest.mark.parametrize("old", SETTINGS)
@pytest.mark.parametrize("command", [["check", "a.saft"], ["run", "a.saft"]])
def test_in_a_project(
    saftc: Command, script: Script, tmp_path: Path, old: str, command: list[str]
) -> None:
    script("a.saft", "print(1)\n")
    (tmp_path / "pyproject.toml").write_text(f"[tool.saft]\n{old} = 1\n")
    ended = saftc(*command)
    assert ended.code != 0 and ended.out == ""
    assert f"`{old}` is called `{SETTINGS[old]}`" in ended.err


@pytest.mark.parametrize("old", VARIABLES)
def test_in_the_environment(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch, old: str
) -> None:
    script("a.saft", "print(1)\n")
    monkeypatch.setenv(old, "1")
    for command in ("check", "run"):
        ended = saftc(command, "a.saft")
        assert ended.code != 0 and ended.out == ""
        assert f"`{old}` is called `{VARIABLES[old]}`" in ended.err


@pytest.mark.parametrize("old", SETTINGS)
def test_in_python(old: str) -> None:
    for call in (lambda: configure(**{old: 1}), lambda: prompt("hi", options={old: 1})):
        with pytest.raises(ConfigError, match=f"`{old}` is called `{SETTINGS[old]}`"):
            call()


@pytest.mark.parametrize(("setting", "old", "new"), VALUES)
def test_a_value(setting: str, old: str, new: str) -> None:
    with pytest.raises(ConfigError, match=f"`{old}` is called `{new}`"):
        configure(**{setting: old})


@pytest.mark.parametrize("old", FUNCTIONS)
@pytest.mark.parametrize("module", ["runtime_support", "runtime_support.runs"])
def test_an_import(old: str, module: str) -> None:
    new = FUNCTIONS[old]
    loaded = importlib.import_module(module)
    if hasattr(loaded, new):
        with pytest.raises(ImportError, match=f"`{old}` is called `{new}`"):
            getattr(loaded, old)
    else:
        assert not hasattr(loaded, old)


@pytest.mark.parametrize("words", FLAGS)
def test_an_option_of_a_command(saftc: Command, words: str) -> None:
    command, old = words.split()
    ended = saftc(command, "a", "b", "c", old, "1")
    assert ended.code == 2 and f"`{old}` is called `{FLAGS[words]}`" in ended.err


def test_a_command(saftc: Command) -> None:
    for words in (["runs"], ["-q", "runs", "kept"]):
        ended = saftc(*words)
        assert ended.code == 2 and "`saftc runs` is called `saftc journals`" in ended.err


def test_the_new_names_are_there_and_the_old_ones_are_not() -> None:
    commands = typer.main.get_command(app).commands
    assert "journals" in commands and "runs" not in commands
    for words, new in FLAGS.items():
        command, old = words.split()
        parameters = commands[command].params
        options = {name for one in parameters for name in (*one.opts, *one.secondary_opts)}
        assert new in options and old not in options
    fields = set(Settings.__dataclass_fields__)
    assert fields.issuperset(SETTINGS.values()) and not fields.intersection(SETTINGS)
