"""What somebody sees of a run: the line at a terminal, the sum, and what the script prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.fake_server import Answer, FakeServer, completion, status
from tests.support.terminal import read_terminal

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]

ASKING = """
from runtime_support import prompt
print("begins")
print(prompt("one").value)
print(prompt("two").value)
"""

SCRIPT = """
print("begins")
print($ one $)
print($ two $)
"""

# `saftc run` with shorter times.
RUNNING = """
import sys
from saftc.cli import progress
progress.SHOWN_AFTER, progress.SUMMED_AFTER = 0.1, float(sys.argv.pop(1))
progress.BOUNDED_AFTER = 0.1
from saftc.cli.app import main
main()
"""


@pytest.fixture
def server(folder: Path) -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def environment(url: str, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "SAFT_PROVIDER": "openai",
        "SAFT_BASE_URL": url,
        "SAFT_MODEL": "fake",
        **more,
    }


def at_terminal(
    command: list[str], settings: dict[str, str], see: Callable[[str], object] | None = None
) -> str:
    """All that the program writes to a terminal; `see` is told what is there, whenever more is."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, env=settings, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = read_terminal(ours, see)
    assert process.wait() == 0, written
    return written


def run_at_terminal(
    url: str,
    script: str = SCRIPT,
    summed_after: float = 600,
    see: Callable[[str], object] | None = None,
    **more: str,
) -> str:
    """What `saftc run` of the script writes there."""
    command = [sys.executable, "-c", RUNNING, str(summed_after), "run", "-c", script]
    return at_terminal(command, environment(url, **more), see)


def left_on_screen(text: str) -> list[str]:
    """The lines that stay."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return [re.sub(r".*\r\x1b\[K", "", line) for line in lines]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "12 prompts, 3 in flight, 5,120 tokens, 12 s"),
        (43, "12 prompts, 3 in flight, 5,120 tokens"),
        (12, "12 prompts"),
        (8, "12 prom"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_the_line_is_no_wider_than_the_terminal(width: int, shown: str) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 10, width, 0, 0))
    line = "12 prompts, 3 in flight, 5,120 tokens, 12 s"
    code = f"from saftc.cli.progress import show_line; show_line(lambda: {line!r}); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    read = ""
    while shown not in read:
        read += os.read(ours, 100).decode()
    process.communicate(b"\n")
    os.close(ours)
    assert set(read.split("\r\x1b[K")) <= {"", shown}


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_line_at_a_terminal(server: FakeServer) -> None:
    # Each request is answered when its line is there, the second one by a refusal.
    lines = [
        r"\r\x1b\[K0 of at most 2 prompts, 1 in flight, 0 tokens, \d+ s",
        r"\r\x1b\[K1 of at most 2 prompts, 1 in flight, 18 tokens, \d+ s",
        r"\r\x1b\[K1 of at most 2 prompts, waiting \d s for 127\.0\.0\.1 \(503\), 1 in flight",
    ]
    seen = [threading.Event() for _ in lines]
    left = iter(seen)

    def answer(_: object) -> Answer:
        event = next(left)
        event.wait()
        return status(503, retry_after="1.5") if event is seen[1] else completion("late")

    def see(written: str) -> None:
        for line, event in zip(lines, seen, strict=True):
            if re.search(line, written):
                event.set()

    server.responder = answer
    written = run_at_terminal(server.url, see=see)
    kept = [line for line in left_on_screen(written) if not line.startswith("saftc: ")]
    assert kept == ["begins", "late", "late"]
    assert all(re.search(line, written) for line in lines)


BEGINNING = """
import sys
from saftc.cli.fast_path import end_status, announce_start
announce_start(sys.argv[1:])
loaded = {"lark", "libcst", "black", "openai", "runtime_support", "typer"} & {*sys.modules}
end_status()
print("loaded:", *loaded)
"""


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["run", "a.saft"], "\r\x1b[Kchecking a.saft\r\x1b[K"),
        (["a.saft", "one"], "\r\x1b[Kchecking a.saft\r\x1b[K"),
        (["run", "--provider", "mock", "a.saft"], "\r\x1b[Kchecking a.saft\r\x1b[K"),
        (["-q", "run", "a.saft"], ""),
        (["run", "-"], ""),
        (["check", "a.saft"], ""),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_what_is_done_is_told_before_it_is_loaded(words: list[str], shown: str) -> None:
    written = at_terminal([sys.executable, "-c", BEGINNING, *words], environment("none"))
    assert written == f"{shown}loaded:\r\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_the_sum_at_a_terminal(server: FakeServer) -> None:
    *lines, told = left_on_screen(run_at_terminal(server.url, summed_after=0))
    assert lines == ["begins", "ok", "ok"]
    assert re.fullmatch(r"saftc: 2 prompts: 2 requests, 36 tokens, \d+\.\d s", told)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_dumb_terminal_has_no_line(server: FakeServer) -> None:
    server.answers = [completion("late", delay=0.6)]
    assert "\x1b" not in run_at_terminal(server.url, TERM="dumb")


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_nothing_is_told_where_it_is_not_wanted(server: FakeServer) -> None:
    server.answers = [completion("late", delay=0.6)]
    written = run_at_terminal(server.url, summed_after=0, SAFT_USAGE="0")
    assert written.split() == ["begins", "late", "late"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_program_that_uses_the_library_keeps_its_terminal(server: FakeServer) -> None:
    server.answers = [completion("late", delay=0.6)]
    watching = ASKING + (
        "import sys, threading\n"
        "print(vars(sys.stdout).get('write'), vars(sys.stderr).get('write'))\n"
        "print([one.name for one in threading.enumerate()])\n"
    )
    written = at_terminal([sys.executable, "-c", watching], environment(server.url))
    lines = ["begins", "late", "late", "None None", "['MainThread']"]
    assert written.replace("\r\n", "\n").splitlines() == lines


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_terminal_does_not_obey_what_is_printed(server: FakeServer) -> None:
    ways = (
        "print($ one $)\n",
        "x = [$ one $]\nprint(x[0], 1)\n",
        "for i in range(1):\n    y = $ one {i} $\n    print(y)\n",
        "for piece in stream $ one $:\n    write(piece)\nprint()\n",
        "f g(x):\n    write(x)\ng($ one $)\ng(1)\n",
    )
    server.answers = [completion("\x1b]0;title\x07 \x1b[2J\u202e naïve\r\n\ttab")] * len(ways)
    written = run_at_terminal(server.url, 'print("next")\n'.join(ways))
    parts = written.split("next")
    assert len(parts) == len(ways)
    for part in parts:
        assert r"\x1b]0;title\x07 \x1b[2J\u202e naïve" in part
        assert "\x1b" not in part.replace("\r\x1b[K", "") and "\ttab" in part


@pytest.mark.heavy
def test_a_pipe_gets_what_is_printed(server: FakeServer) -> None:
    server.answers = [completion("\x1b[1m naïve")]
    command = [sys.executable, "-m", "saftc", "run", "-c", "print($ one $)"]
    done = subprocess.run(command, env=environment(server.url), capture_output=True, check=True)
    assert done.stdout.decode() == "\x1b[1m naïve\n"


@pytest.mark.parametrize("usage", ["", "1"])
def test_in_a_pipe(server: FakeServer, usage: str) -> None:
    server.answers = [completion("late", delay=0.6)]
    done = subprocess.run(
        [sys.executable, "-c", ASKING],
        env=environment(server.url, SAFT_USAGE=usage, SAFT_JOURNAL="a.journal"),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "begins\nlate\nlate\n"
    expected = (
        r"saftc: 2 prompts: 2 requests, 36 tokens, \d+\.\d s\n"
        "saftc:   <string>:4: 1 request, 18 tokens\n"
        "saftc:   <string>:5: 1 request, 18 tokens\n"
    )
    assert re.fullmatch(expected if usage else "", done.stderr)


def test_what_came_from_the_journal(server: FakeServer) -> None:
    for expected in ("2 requests, 36 tokens", "0 requests, 0 tokens"):
        done = subprocess.run(
            [sys.executable, "-c", ASKING],
            env=environment(server.url, SAFT_USAGE="1", SAFT_JOURNAL="a.journal"),
            capture_output=True,
            text=True,
        )
        assert f"saftc: 2 prompts: {expected}, " in done.stderr
    assert done.stderr.endswith(" s; 2 answers from the journal\n")
    assert len(server.requests) == 2
