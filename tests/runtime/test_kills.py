"""A run that is killed after every write and every reply comes to what it would have come to.

JOURNAL_KILLS=1000 pytest -s tests/runtime/test_kills.py -k so_many     so many kills, at random
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import overlap, prompt, scoped, write_text
from runtime_support._runs import keeping, lines
from runtime_support.providers import _openai
from tests.support.fake_server import Answer, FakeServer, calling, completion

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

MOST_IN_FLIGHT = 4


class Model:
    """Answers differently each time, so that a value that changes is seen."""

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages = body["messages"]
        first, last = messages[0]["content"], messages[-1]
        self.asked[first.split(" ")[0]] += 1
        number = next(self.numbers)
        if first.startswith("tool") and last["role"] == "user":
            return calling(("note", {"text": f"noted {number}"}))
        if first.startswith("count") and len(messages) == 1:
            return completion("I would rather not")
        return completion(f"{number}" if first.startswith("count") else f"answer {number}")


def work(folder: Path) -> None:
    """A run with calls that overlap, equal prompts, a repair, and a tool that asks as well."""

    def see(value: object) -> None:
        with (folder / "seen").open("ab", buffering=0) as file:
            file.write(f"{value}\n".encode())

    def note(text: str) -> str:
        with (folder / "effects").open("ab", buffering=0) as file:
            file.write(f"{text}\n".encode())
        return prompt("inner {text}", text=text).value

    def chain(n: int) -> str:
        prompt("first {n}", n=n)
        return prompt("same").value

    for answer in overlap(chain, range(6)):
        see(answer)
    see(prompt("count", returns=int).value)
    for n in range(3):
        see(prompt("tool {n}: use {note}", n=n, note=note).value)
    with scoped("row"):
        see(prompt("same").value)
    see(prompt("same").value)
    write_text(str(folder / "out.txt"), (folder / "seen").read_text())


def in_child(folder: Path, prepare: Callable[[], object]) -> bool:
    """Runs the work in a process of its own; whether it came to its end."""
    (folder / "seen").write_bytes(b"")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.stderr = open(folder / "errors", "a")  # noqa: SIM115
            prepare()
            work(folder)
            keeping.close_journals("ok")
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0, (folder / "errors").read_text()
    return True


def dying(point: str, count: int) -> Callable[[], None]:
    """Has a process kill itself after so many writes, syncs, or replies."""

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        left = itertools.count(1)

        def call(*arguments: Any, **names: Any) -> Any:
            result = function(*arguments, **names)
            if next(left) == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    def prepare() -> None:
        if point == "reply":
            _openai.read_reply = counted(_openai.read_reply)
        elif point == "sync":
            lines._sync = counted(lines._sync)  # pyright: ignore[reportPrivateUsage]
        else:
            os.write = counted(os.write)

    return prepare


def kill_again_and_again(
    server: FakeServer, folder: Path, points: Callable[[int], tuple[str, int]]
) -> int:
    """Kills runs until one ends, checks all of them, and gives how many were killed."""
    model = server.responder = Model()
    seen: list[str] = []
    kills = 0
    while not in_child(folder, dying(*points(kills))):
        kills += 1
        now = (folder / "seen").read_text().splitlines()
        common = min(len(seen), len(now))
        assert now[:common] == seen[:common], "a value has changed that was seen before"
        seen = max(seen, now, key=len)
    now = (folder / "seen").read_text().splitlines()
    assert now[: len(seen)] == seen
    assert (folder / "out.txt").read_text().splitlines() == now
    effects = (folder / "effects").read_text().splitlines()
    # A call that was under way when the process was killed is made again, and no other.
    assert 3 <= len(effects) <= 3 + kills and len(set(effects)) <= 3 + kills
    needed = 6 + 6 + 2 + 3 * 3 + 2
    assert sum(model.asked.values()) <= needed + kills * MOST_IN_FLIGHT
    return kills


@pytest.fixture
def journal(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prompt("what loads and connects is loaded before the processes are forked")
    monkeypatch.setenv("SAFT_JOURNAL", str(tmp_path / "run.journal"))
    monkeypatch.setenv("SAFT_MAX_IN_FLIGHT", str(MOST_IN_FLIGHT))
    return tmp_path


def test_killed_after_each_write_and_each_reply(server: FakeServer, journal: Path) -> None:
    # Each process comes to the next reply, or to the first thing that it writes after its head.
    points = [("reply", 1), ("write", 2), ("reply", 2), ("sync", 2)]
    kills = kill_again_and_again(server, journal, lambda kills: points[kills % len(points)])
    assert kills >= 20


@pytest.mark.parametrize("point", ["reply", "write", "sync"])
def test_killed_once_and_run_again(server: FakeServer, journal: Path, point: str) -> None:
    kills = kill_again_and_again(server, journal, lambda kills: (point, 9 if not kills else 10**9))
    assert kills == 1


@pytest.mark.skipif("JOURNAL_KILLS" not in os.environ, reason="a long run, on demand")
def test_so_many_kills(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_MAX_IN_FLIGHT", str(MOST_IN_FLIGHT))
    dice = random.Random(18)
    kills = runs = 0
    while kills < int(os.environ["JOURNAL_KILLS"]):
        runs += 1
        folder = tmp_path / str(runs)
        folder.mkdir()
        monkeypatch.setenv("SAFT_JOURNAL", str(folder / "run.journal"))
        kills += kill_again_and_again(
            server,
            folder,
            lambda _: (dice.choice(["reply", "write", "sync"]), dice.randrange(2, 12)),
        )
    print(f"{kills} kills in {runs} runs")
