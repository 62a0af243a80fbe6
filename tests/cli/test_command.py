"""The command as a whole: help, version, wrong commands, bugs, and the process around it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from saftc import __version__
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]


def test_version(saftc: Command) -> None:
    ended = saftc("--version")
    assert (ended.code, ended.out) == (0, f"saftc {__version__}\n")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(saftc: Command, flag: str) -> None:
    ended = saftc(flag)
    assert ended.code == 0
    for command in ("build", "check", "run"):
        assert command in ended.out
    assert "short for" in ended.out


@pytest.mark.parametrize("command", ["build", "check", "run"])
def test_help_of_a_command(saftc: Command, command: str) -> None:
    ended = saftc(command, "--help")
    assert ended.code == 0 and "Usage: saftc " + command in ended.out


def test_no_arguments_show_the_help(saftc: Command) -> None:
    ended = saftc()
    assert "Usage: saftc" in ended.out + ended.err


@pytest.mark.parametrize("arguments", [["nosuchcommand"], ["--nosuchflag"], ["build"], ["check"]])
def test_wrong_commands(saftc: Command, arguments: list[str]) -> None:
    ended = saftc(*arguments)
    assert ended.code == 2
    assert ended.err.startswith("saftc: ") and "Traceback" not in ended.err


def _serve(*_arguments: object, **_settings: object) -> None:
    raise AssertionError("it serves what it cannot show or save")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("there", "there is a folder; name a script in it"),
        ("latin.saft", "latin.saft is not UTF-8, from byte 10 on"),
        ("nowhere/a.saft", "there is no folder nowhere"),
    ],
)
def test_a_page_for_what_it_could_not_show_or_save(
    saftc: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setattr("uvicorn.Server.run", _serve)
    (folder / "there").mkdir()
    (folder / "latin.saft").write_bytes(b'print("caf\xe9")\n')
    ended = saftc("play", name, "--no-open")
    assert (ended.code, ended.err) == (1, f"saftc: {said}\n")


def test_a_bug_asks_to_be_reported(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("a bug")

    script("a.saft", "x = 1\n")
    monkeypatch.setattr("saftc.driver.parse_with_tokens", fail)
    ended = saftc("check", "a.saft")
    assert ended.code == 3
    assert "RuntimeError: a bug" in ended.err and "please report it" in ended.err


def test_an_interruption(saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    script("a.saft", "x = 1\n")
    monkeypatch.setattr("saftc.driver.parse_with_tokens", interrupt)
    ended = saftc("check", "a.saft")
    assert ended.code == 130 and "Traceback" not in ended.err


# As a process


def _process(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SAFT_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "saftc", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env=environment,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_as_a_module(folder: Path, script: Script) -> None:
    script("a.saft", 'print("日本語")\n')
    done = _process(folder, "a.saft")
    assert (done.returncode, done.stdout, done.stderr) == (0, "日本語\n", "")
    assert _process(folder, "build", "a.saft").returncode == 0
    plain = subprocess.run(
        [sys.executable, "a.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert plain.stdout == "日本語\n"


def test_standard_input_of_a_process(folder: Path) -> None:
    done = _process(folder, "build", "-", stdin=b"\xef\xbb\xbfx = 1\r\n")
    assert done.returncode == 0 and done.stdout.endswith("\n\nx = 1\n")


def test_the_installed_command(folder: Path, script: Script) -> None:
    script("a.saft", "x = unknown\n")
    command = Path(sys.executable).with_name("saftc")
    if not command.exists():
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run([command, "check", "a.saft"], cwd=folder, capture_output=True)
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", [["build", "a.saft", "-o", "-"], ["check", "a.saft"]])
def test_a_reader_that_goes_away(folder: Path, script: Script, arguments: list[str]) -> None:
    lines = "".join(f"print(missing_{n})\n" for n in range(30))
    script("a.saft", lines if arguments[0] == "check" else f'x = "{"long " * 30}"\n' * 1_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "saftc", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() == 1
    assert "Traceback" not in error and "Exception ignored" not in error


@pytest.mark.one_python
@pytest.mark.parametrize(
    ("words", "place", "found"),
    [("saftc ch", "1", ["check"]), ("saftc check --f", "2", ["--format", "--fix"])],
)
def test_the_shell_completes_commands_and_options(
    saftc: Command, monkeypatch: pytest.MonkeyPatch, words: str, place: str, found: list[str]
) -> None:
    monkeypatch.setenv("_SAFTC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", place)
    ended = saftc()
    assert (ended.code, ended.out.split()) == (0, found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check", "saftc: Missing argument 'FILE...'.\nsaftc check --help tells more\n"),
        ("build --nope", "saftc build --help tells more\n"),
        ("mcp lock --nope", "saftc mcp lock --help tells more\n"),
        ("mcp frob", "No such command 'frob'. Commands of saftc mcp: list, lock.\n"),
        ("nope", "saftc: No such command 'nope'.\nsaftc --help tells more\n"),
        ("run --provider nope", "`nope`; did you mean `openai`?\nsaftc run --help tells more\n"),
        ("run --budget-requests -1", "-1\nsaftc run --help tells more\n"),
        (
            "run --retries 0",
            "`max_retries` is a setting: SAFT_MAX_RETRIES, [tool.saft] in pyproject.toml",
        ),
    ],
)
def test_the_help_that_is_named_is_that_of_the_command(
    saftc: Command, words: str, said: str
) -> None:
    ended = saftc(*words.split())
    assert said in ended.err and ended.code == 2


@pytest.mark.parametrize("width", ["40", "100"])
def test_help_shows_whole_names_and_no_types_of_flags(
    saftc: Command, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    command = [sys.executable, "-m", "saftc", "run", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("--no-overlap", "--budget-tokens", "--timeline FILE", "--usage"):
        assert name in " ".join(shown.split())
    assert "-h" in shown.split() or "-h," in shown.split()
    assert "<bool>" not in shown


@pytest.mark.parametrize(
    ("project", "variable", "said"),
    [
        ('modle = "x"', "", "pyproject.toml [tool.saft]: no option `modle`; did you mean `model`?"),
        (
            "max_retries = -1",
            "",
            "pyproject.toml [tool.saft] max_retries: expected 0 or more, got int -1",
        ),
        ("", "SAFT_PROVIDER=openia", "SAFT_PROVIDER: no provider `openia`; did you mean `openai`?"),
        ("", "SAFT_MAX_TOOL_ROUNDS=-1", "SAFT_MAX_TOOL_ROUNDS: expected 0 or more, got int -1"),
    ],
)
def test_wrong_settings_are_told_before_anything_runs(
    saftc: Command,
    script: Script,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    project: str,
    variable: str,
    said: str,
) -> None:
    script("a.saft", "print(1)\n")
    (folder / "pyproject.toml").write_text(f"[tool.saft]\n{project}\n")
    if variable:
        monkeypatch.setenv(*variable.split("="))
    checked, run = saftc("check", "a.saft"), saftc("run", "a.saft")
    built = saftc("build", "a.saft", "-o", "a.py")
    assert (built.code, built.out, Path("a.py").exists()) == (2, "", False) and said in built.err
    assert (checked.code, checked.out) == (1, "")
    assert said in checked.err and checked.err.endswith("1 file checked: 1 error\n")
    assert (run.code, run.out) == (2, "") and said in run.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "--temperature", "hot", "a.saft"],
            '--temperature: expected a number of 0 or more, got string "hot"',
        ),
        (
            ["map", "--budget-requests", "1.5", "a:f", "rows.csv", "out"],
            '--budget-requests: expected an int of 0 or more, got string "1.5"',
        ),
        (["play", "--port", "x"], "--port: expected an integer, got 'x'"),
        (["play", "--port", "70000"], "--port: expected 65535 or less, got '70000'"),
        (["check", "--format", "xml", "a.saft"], "--format: 'xml' is not one of 'text', 'json'"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(
    saftc: Command, words: list[str], said: str
) -> None:
    done = saftc(*words)
    assert done.code == 2
    assert done.err.startswith(f"saftc: {said}")
    assert done.err.endswith(f"saftc {words[0]} --help tells more\n")


def test_settings_of_the_user_alone_are_looked_at(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in os.environ if one.startswith("SAFT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SAFT_NO_CACHE", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    (folder / "saft").mkdir()
    (folder / "saft" / "config.toml").write_text("temperature = -1\n")
    script("a.saft", "print(1)\n")
    for command, code in (("check", 1), ("run", 2)):
        done = saftc(command, "a.saft")
        assert (done.code, done.out) == (code, "")
        assert "config.toml temperature: expected 0 or more, got float -1.0" in done.err


def test_a_run_reads_the_project_file_once(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("a.saft", "print(1)\n")
    (folder / "pyproject.toml").write_text("[tool.saft]\noverlap = false\n")
    assert saftc("run", "a.saft").code == 0  # and the cache has its module
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def noted(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    assert saftc("run", "a.saft").out == "1\n"
    assert [one.name for one in read].count("pyproject.toml") == 1


def test_runs_of_a_file(saftc: Command, folder: Path) -> None:
    (folder / "a.journal").write_text("")
    assert saftc("journals", "a.journal").err == "saftc: a.journal is not a folder\n"
    assert saftc("journals", "nowhere").err == "saftc: there is no folder nowhere\n"
