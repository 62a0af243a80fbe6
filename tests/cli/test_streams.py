"""Streams that are closed, full, broken off, or of another encoding than UTF-8."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[[str, str], Path]

TEXT = 'x = "日本語"\n'


def _saftc(
    folder: Path, *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "saftc", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"), [(["build", "a.saft", "-o", "-"], 0), (["fmt", "-"], 0)]
)
def test_results_are_utf_8(
    folder: Path, script: Script, arguments: list[str], code: int
) -> None:
    script("a.saft", TEXT)
    done = _saftc(folder, *arguments, stdin=TEXT.encode(), PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (code, b"")
    assert done.stdout.endswith(TEXT.encode())


@pytest.mark.heavy
def test_messages_have_backslashes_for_what_cannot_be_written(
    folder: Path, script: Script
) -> None:
    script("a.saft", 'x = "日本語" + 1\n')
    script("b.saft", "print($ 日本語 $)\n")
    for command, name, code in (("check", "a", 1), ("build", "a", 1), ("prompts", "b", 0)):
        done = _saftc(folder, command, f"{name}.saft", PYTHONIOENCODING="cp1252")
        assert done.returncode == code
        assert b"\\u65e5\\u672c\\u8a9e" in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["explain", "SAFT0120"], ["build", "a.saft", "-o", "-"], ["check", "b.saft"]]
)
def test_output_that_cannot_be_written(
    folder: Path, script: Script, arguments: list[str]
) -> None:
    script("a.saft", TEXT)
    script("b.saft", "print(x)\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "saftc", *arguments],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert b"saftc: cannot write the output: No space left on device\n" in done.stderr
    assert b"bug" not in done.stderr and b"Exception ignored" not in done.stderr


def test_a_script_whose_reader_goes_away(folder: Path, script: Script) -> None:
    script("a.saft", "for n in range(100000):\n    print(n)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "saftc", "a.saft"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"0\n"
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), error) == (1, b"")


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_closed_streams(folder: Path, script: Script, closed: list[int]) -> None:
    script("a.saft", "print(1)\n")
    script("b.saft", "print(x)\n")
    close = "".join(f"os.close({number});" for number in closed)
    for arguments, code in ((["a.saft"], 0), (["check", "b.saft"], 1), (["build", "a.saft"], 0)):
        command = [sys.executable, "-m", "saftc", *arguments]
        program = f"import os; {close} os.execv({command[0]!r}, {command!r})"
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, capture_output=True, check=False
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stdout + done.stderr
        assert b"bug" not in done.stdout + done.stderr
    assert (folder / "a.py").exists()


def test_interrupted_while_it_is_loaded(folder: Path) -> None:
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'saftc.cli.options':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from saftc.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"saftc: interrupted\n")


def test_interrupted_twice(folder: Path, script: Script) -> None:
    helper = "import atexit, time\nend = lambda: time.sleep(600)\natexit.register(end)\n"
    script("helper.py", helper)
    script("a.saft", "import helper\nimport time\nprint(helper)\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "saftc", "a.saft"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == b"saftc: interrupted\n"
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    assert process.stderr.read() == b""
    process.stdout.close()
    process.stderr.close()
