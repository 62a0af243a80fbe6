"""The words of a command: their order, `-c`, how much is said, and in which colours."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from saftc.cli import app as cli
from tests.cli.conftest import Command

pytestmark = pytest.mark.one_python

Script = Callable[[str, str], Path]

ARGUMENTS = "import sys\nprint(sys.argv)\n"
WRONG = "print(x)\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--provider", "mock", "a.saft"],
        ["--provider=mock", "a.saft"],
        ["run", "--provider", "mock", "a.saft"],
        ["--no-cache", "-q", "--provider", "mock", "a.saft"],
        ["--no-cache", "a.saft", "--provider", "mock"],
    ],
)
def test_options_may_stand_before_the_script(
    saftc: Command, script: Script, words: list[str]
) -> None:
    script("a.saft", "n: int = $ how many? $\nprint(type(n))\n")
    ended = saftc(*words)
    assert (ended.code, ended.out) == (0, "int\n"), ended.err


def test_options_of_all_commands_go_before_the_command(
    saftc: Command, script: Script
) -> None:
    script("a.saft", WRONG)
    assert saftc("--color=always", "check", "a.saft").out.startswith("\x1b[")
    ended = saftc("check", "a.saft", "--color", "always")
    said = "saftc: No such option: --color; it goes before the command\n"
    assert ended.code == 2 and ended.err.startswith(said)


def test_arguments_of_the_script(saftc: Command, script: Script) -> None:
    script("a.saft", ARGUMENTS)
    for words in (["a.saft"], ["run", "a.saft"], ["--verbose", "a.saft"]):
        assert saftc(*words, "b", "--", "-q", "--color").out == (
            '["a.saft", "b", "-q", "--color"]\n'
        )


def test_a_script_in_the_command(saftc: Command, script: Script) -> None:
    assert saftc("-c", "print(1 + 2)").out == "3\n"
    assert saftc("run", "-c", "print(1 + 2)").out == "3\n"
    assert saftc("--no-cache", "-c", "print(1 + 2)").out == "3\n"
    assert saftc("-c", ARGUMENTS, "a", "--", "-b").out == '["<command>", "a", "-b"]\n'
    assert saftc("-c", "print(type($ how many? $))", "--provider", "mock").code == 0
    ended = saftc("-c", WRONG)
    assert ended.code == 1 and " --> <command>:1:7\n" in ended.err
    ended = saftc("-c", "xs = [1]\nprint(xs[2])")
    assert ended.code == 1 and " --> <command>:2:7\n" in ended.err
    script("lib.saft", "x = 4\n")
    assert saftc("-c", "from lib import x\nprint(x)").out == "4\n"


def test_run_reads_a_pipe(saftc: Command) -> None:
    assert saftc("run", stdin="print(1)\n").out == "1\n"
    assert saftc("--provider", "mock", stdin="print(1)\n").out == "1\n"


def test_run_reads_no_terminal(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saftc.cli.app._is_terminal", lambda: True)
    ended = saftc("run")
    assert ended.code == 2 and "FILE, -c TEXT" in ended.err


@pytest.mark.parametrize("word", ["./missing.txt", "missing.saft", "missing.txt"])
def test_a_script_that_is_not_there(saftc: Command, word: str) -> None:
    ended = saftc(word)
    assert ended.code == 1
    assert ended.err == f"saftc: there is no file {Path(word)}\n"


def test_each_command_has_an_example(saftc: Command) -> None:
    def examined(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for name, below in getattr(command, "commands", {}).items():
            yield (*path, name)
            yield from examined(below, (*path, name))

    commands = list(examined(typer.main.get_command(cli.app), ()))
    assert ("mcp", "lock") in commands and ("cache",) in commands
    for words in commands:
        told = saftc(*words, "--help").out
        assert f"Example: saftc {' '.join(words)}" in told, words
        # Placeholders: FILE..., [FOLDER]; none of typer's braces, doubled brackets and types.
        assert not re.search(r"[{}]|\[\[|<(str|path|int|list)", told), words


def test_quiet(saftc: Command, script: Script) -> None:
    script("a.saft", "x  =  1\n")
    for words in (
        ["-q", "check", "a.saft"],
        ["--quiet", "check", "a.saft"],
        ["-q", "build", "a.saft"],
        ["-q", "fmt", "a.saft"],
    ):
        ended = saftc(*words)
        assert (ended.code, ended.out, ended.err) == (0, "", "")
    script("a.saft", WRONG)
    ended = saftc("-q", "check", "a.saft")
    assert (ended.code, ended.err) == (1, "") and "SAFT0203" in ended.out
    assert saftc("check", "a.saft").err == "1 file checked: 1 error\n"


def test_colour(saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    script("a.saft", WRONG)
    assert "\x1b" not in saftc("check", "a.saft").out
    assert "\x1b" in saftc("--color", "always", "check", "a.saft").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in saftc("check", "a.saft").out
    assert "\x1b" not in saftc("--color", "never", "check", "a.saft").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in saftc("check", "a.saft").out
    assert saftc("--color", "green", "check", "a.saft").code == 2


def test_a_shebang(saftc: Command, script: Script, folder: Path) -> None:
    text = "#!/usr/bin/env saftc\n/// Says hello.\n\nname  =  \"Al\"\nprint(name, missing)\n"
    script("a.saft", text)
    ended = saftc("check", "a.saft")
    assert ended.code == 1 and " --> a.saft:5:13\n" in ended.out
    assert ended.err == "1 file checked: 1 error\n"
    script("a.saft", text.replace(", missing", ""))
    assert saftc("a.saft").out == "Al\n"
    assert saftc("fmt", "a.saft").code == 0
    formatted = '#!/usr/bin/env saftc\n/// Says hello.\n\nname = "Al"\nprint(name)\n'
    assert (folder / "a.saft").read_text() == formatted
    assert saftc("fmt", "--check", "a.saft").code == 0
    module = saftc("build", "a.saft", "-o", "-").out
    assert '"""Says hello."""' in module and "#!" not in module
    assert saftc("check", "-", stdin="x = 1\n#! no\n").code == 1


@pytest.mark.parametrize("place", ["-", "a pipe"])
def test_a_script_that_comes_through_a_pipe_is_formatted_to_the_output(
    saftc: Command, place: str
) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x  = 1\r\ny = x\r\n")
    os.close(writing)
    with open(reading, "rb") as pipe:
        file = "-" if place == "-" else f"/dev/fd/{reading}"
        ended = saftc("fmt", file, stdin=pipe.read() if file == "-" else b"")
    assert (ended.code, ended.out, ended.err) == (0, "x = 1\r\ny = x\r\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows starts no scripts so")
def test_a_script_that_is_a_command(folder: Path, script: Script) -> None:
    path = script("hello", f"#!/usr/bin/env -S {sys.executable} -m saftc\n{ARGUMENTS}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    done = subprocess.run(
        [str(path), "a"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stdout == f'["{path}", "a"]\n', done.stderr


# What is remembered


def test_without_the_cache_nothing_is_kept(saftc: Command, script: Script, cache: Path) -> None:
    script("a.saft", "x = 1\n")
    for words in (["--no-cache", "build"], ["--no-cache", "check"]):
        assert saftc(*words, "a.saft").code == 0
        assert list(cache.iterdir()) == []
    assert saftc("build", "a.saft", "--force", "-o", "b.py").code == 0
    assert list(cache.iterdir()) != []


def test_whatever_speaks_has_one_name(saftc: Command, script: Script) -> None:
    script("a.saft", "print($ greet Ann $)\n")
    notes = saftc("run", "a.saft", "--usage").err
    refusal = saftc("run", "a.saft", "--timeline", "nowhere/run.html").err
    complaint = saftc("run", "missing.saft").err
    said = [*notes.splitlines(), *refusal.splitlines(), *complaint.splitlines()]
    assert len(said) == 3 and all(line.startswith("saftc: ") for line in said), said
