"""What is seen of a run: the line at a terminal, and the sum."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_server import FakeServer, completion

ROOT = Path(__file__).parents[2]

ASKING = """
import sys
from runtime_support import configure, prompt
from runtime_support._runs import showing
showing.SHOWN_AFTER, showing.SUMMED_AFTER = 0.1, float(sys.argv[2])
configure(provider="openai", base_url=sys.argv[1], model="fake")
print("begins")
print(prompt("one").value)
print(prompt("two").value)
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def at_terminal(url: str, summed_after: float = 60, **more: str) -> str:
    """All that the program writes to a terminal."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ASKING, url, str(summed_after)],
        env=environment(**more),
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # so Linux says that nobody writes any more
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0
    return written.decode()


def left_on_screen(text: str) -> list[str]:
    """The lines that stay."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return [re.sub(r".*\r\x1b\[K", "", line) for line in lines]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_line_at_a_terminal(server: FakeServer) -> None:
    server.answers = [completion("late", delay=1.2)]
    written = at_terminal(server.url)
    assert re.search(r"\r\x1b\[K0 prompts, 1 in flight, 0 tokens, \d+ s", written)
    assert re.search(r"\r\x1b\[K1 prompt, 1 in flight, 18 tokens, \d+ s", written)
    assert left_on_screen(written) == ["begins", "late", "late"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_the_sum_at_a_terminal(server: FakeServer) -> None:
    *lines, told = left_on_screen(at_terminal(server.url, summed_after=0))
    assert lines == ["begins", "ok", "ok"]
    assert re.fullmatch(r"saft: 2 prompts: 2 requests, 36 tokens, \d+\.\d s", told)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_dumb_terminal_has_no_line(server: FakeServer) -> None:
    server.answers = [completion("late", delay=0.6)]
    assert "\x1b" not in at_terminal(server.url, TERM="dumb")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_nothing_is_told_where_it_is_not_wanted(server: FakeServer) -> None:
    server.answers = [completion("late", delay=0.6)]
    written = at_terminal(server.url, summed_after=0, SAFT_USAGE="0")
    assert written.split() == ["begins", "late", "late"]


@pytest.mark.parametrize("usage", ["", "1"])
def test_in_a_pipe(server: FakeServer, usage: str) -> None:
    server.answers = [completion("late", delay=0.6)]
    done = subprocess.run(
        [sys.executable, "-c", ASKING, server.url, "0"],
        env=environment(SAFT_USAGE=usage, SAFT_JOURNAL="a.journal"),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "begins\nlate\nlate\n"
    expected = r"saft: 2 prompts: 2 requests, 36 tokens, \d+\.\d s\n" if usage else ""
    assert re.fullmatch(expected, done.stderr)


def test_what_came_from_the_journal(server: FakeServer) -> None:
    for expected in ("2 requests, 36 tokens", "0 requests, 0 tokens"):
        done = subprocess.run(
            [sys.executable, "-c", ASKING, server.url, "60"],
            env=environment(SAFT_USAGE="1", SAFT_JOURNAL="a.journal"),
            capture_output=True,
            text=True,
        )
        assert f"saft: 2 prompts: {expected}, " in done.stderr
    assert done.stderr.endswith(" s; 2 answers from the journal\n")
    assert len(server.requests) == 2
