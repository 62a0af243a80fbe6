"""A run that is killed after every write and every reply comes to what it would have come to.

JOURNAL_KILLS=1000 pytest -s -m slow tests/runtime/test_kills.py     so many kills, at random
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import runtime_support._core.reader.replies  # noqa: F401  (else each process loads it anew)
from runtime_support import overlap, program, prompt
from runtime_support._journal import hook as keeping
from runtime_support._journal import journal as journals
from runtime_support._journal.journal import Journal
from runtime_support.ops import write_text
from runtime_support.providers._wires import chat
from runtime_support.runs import journal_scope
from saftc.driver import compile_source
from saftc.source import Source
from tests.runtime.test_mcp import docs, project, search, settle  # noqa: F401  (a fixture)
from tests.support.fake_server import Answer, FakeServer, calling, completion, streamed
from tests.support.forks import comes_to_its_end

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.one_python,
]

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
        if first.startswith("find") and last["role"] == "user":
            return calling(("search", {"query": f"page {number}"}))
        if first.startswith("plan"):
            return completion(json.dumps([{"note": {"text": f"{number} {n}"}} for n in range(2)]))
        if first.startswith("count") and len(messages) == 1:
            return completion("I would rather not")
        if body.get("stream"):
            return streamed(f"piece {number}, ", "and ", "another")
        return completion(f"{number}" if first.startswith("count") else f"answer {number}")


@dataclass(frozen=True)
class Work:
    """A run in a folder, where it notes what it has seen and what its tools have done."""

    run: Callable[[Path], None]
    requests: int
    calls: int


def by_hand(folder: Path) -> None:
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
    with journal_scope("row"):
        see(prompt("same").value)
    see(prompt("same").value)
    write_text(str(folder / "out.txt"), (folder / "seen").read_text())


# A loop that runs ahead, a group of prompts side by side, and tools that ask and write.
SCRIPT = """\
f see(value):
    append_text("seen", f"{value}\\n")

f note(text: string) -> string:
    append_text("effects", f"{text}\\n")
    ret $ inner {text} $

for n in [1, 2, 3, 4, 5]:
    first = $ first {n} $
    second = $ then {first} $
    same = $ same $
    see([first, second, same])

title = $ title for {"a paper"} $
motto = $ same $
number: int = $ count $
see([title, motto, number])
told = [$ tool {n}: use {note} $ for n in [1, 2, 3]]
see(told)
see($ same $)
write_text("out.txt", read_text("seen"))
"""


@cache
def compiled() -> CodeType:
    """The script, which overlaps."""
    text = compile_source(Source.from_text("work.saft", SCRIPT)).text
    assert text is not None
    assert " overlap(" in text and "together(" in text, text
    return compile(text, "work.py", "exec")


def by_script(folder: Path) -> None:
    """The script in its folder."""
    os.chdir(folder)
    exec(compiled(), {"__name__": "work"})


def in_event_loop(folder: Path) -> None:
    """Calls that overlap, streams that are read to their end, and a tool that asks as well."""

    def add(name: str, value: object) -> None:
        with (folder / name).open("ab", buffering=0) as file:
            file.write(f"{value}\n".encode())

    async def note(text: str) -> str:
        add("effects", text)
        return str((await prompt.aio("inner {text}", text=text)).value)

    async def chain(n: int) -> str:
        await prompt.aio("first {n}", n=n)
        return str((await prompt.aio("same")).value)

    async def main() -> None:
        async for answer in overlap.aio(chain, range(4)):
            add("seen", answer)
        for n in range(2):
            pieces = prompt.aio("stream {n}", n=n, stream=True).pieces()
            add("seen", [piece async for piece in pieces])
            add("seen", (await prompt.aio("tool {n}: use {note}", n=n, note=note)).value)

    asyncio.run(main())
    write_text(str(folder / "out.txt"), (folder / "seen").read_text())


def with_programs_and_servers(folder: Path) -> None:
    """Programs that call what asks, a stream, and a server that a script and a model call."""
    settle(Path.cwd(), str(folder / "effects"))

    def add(name: str, value: object) -> None:
        with (folder / name).open("ab", buffering=0) as file:
            file.write(f"{value}\n".encode())

    def note(text: str) -> str:
        add("effects", text)
        return str(prompt("inner {text}", text=text).value)

    for n in range(2):
        add("seen", program("plan {n}: {note}", n=n, note=note).value)
        add("seen", list(prompt("stream {n}", n=n, stream=True).pieces()))
        add("seen", docs.call("search", query=f"by script {n}"))
    add("seen", prompt("find it: use {search}", search=search).value)
    write_text(str(folder / "out.txt"), (folder / "seen").read_text())


WORKS = {
    "by hand": Work(by_hand, 6 + 6 + 2 + 3 * 3 + 2, 3),
    "compiled": Work(by_script, 5 * 3 + 2 + 2 + 3 * 3 + 1, 3),
    "in an event loop": Work(in_event_loop, 4 * 2 + 2 + 2 * 3, 2),
    "programs and servers": Work(with_programs_and_servers, 2 * (1 + 2 + 1) + 2, 2 * (2 + 1) + 1),
}


def in_child(work: Work, folder: Path, prepare: Callable[[], object]) -> bool:
    """Runs the work in a process of its own; whether it came to its end."""
    (folder / "seen").write_bytes(b"")

    def all_of_it() -> None:
        prepare()
        work.run(folder)
        keeping.close_journals("ok")

    return comes_to_its_end(all_of_it, folder / "errors")


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

    left, commit = itertools.count(1), Journal._commit

    def torn(self: Journal, rows: Any) -> None:
        if next(left) == count:
            self._database.execute("begin immediate")
            self._database.executemany(journals._INSERT, [one.values for one in rows])
            os.kill(os.getpid(), signal.SIGKILL)
        commit(self, rows)

    def prepare() -> None:
        if point == "reply":
            chat.ChatReader.read = counted(chat.ChatReader.read)
        elif point == "sync":
            Journal._commit = counted(Journal._commit)  # after a transaction
        else:
            Journal._commit = torn  # in the middle of one

    return prepare


def kill_again_and_again(
    server: FakeServer, work: Work, folder: Path, points: Callable[[int], tuple[str, int]]
) -> int:
    """Kills runs until one ends, checks all of them, and gives how many were killed."""
    model = server.responder = Model()
    seen: list[str] = []
    kills = 0
    while not in_child(work, folder, dying(*points(kills))):
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
    assert work.calls <= len(effects) <= work.calls + kills
    assert len(set(effects)) <= work.calls + kills
    assert sum(model.asked.values()) <= work.requests + kills * MOST_IN_FLIGHT
    return kills


@pytest.fixture
def journal(
    server: FakeServer, project: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> Path:
    tmp_path = project
    monkeypatch.chdir(project)
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "call")  # as it is by default but for servers
    prompt("what loads and connects is loaded before the processes are forked")
    monkeypatch.setenv("SAFT_JOURNAL", str(tmp_path / "run.journal"))
    monkeypatch.setenv("SAFT_MAX_IN_FLIGHT", str(MOST_IN_FLIGHT))
    return tmp_path


@pytest.fixture(params=list(WORKS))
def work(request: pytest.FixtureRequest) -> Work:
    compiled()  # once, and not in each process
    return WORKS[request.param]


@pytest.mark.heavy
@pytest.mark.parametrize("work", list(WORKS)[:2], indirect=True)
def test_killed_after_each_write_and_each_reply(
    server: FakeServer, work: Work, journal: Path
) -> None:
    # Each process comes to the next reply, or to the first thing that it writes after its head.
    points = [("reply", 1), ("write", 2), ("reply", 2), ("sync", 2)]
    kills = kill_again_and_again(server, work, journal, lambda kills: points[kills % len(points)])
    assert kills >= 20


@pytest.mark.parametrize("point", ["reply", "write", "sync"])
def test_killed_once_and_run_again(
    server: FakeServer, work: Work, journal: Path, point: str
) -> None:
    kills = kill_again_and_again(
        server, work, journal, lambda kills: (point, 6 if not kills else 10**9)
    )
    assert kills == 1


def killed_at_random(
    server: FakeServer, folder: Path, most: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    kills = runs = 0
    while kills < most:
        work = WORKS[dice.choice(list(WORKS))]
        place = folder / str(runs)
        place.mkdir()
        monkeypatch.setenv("SAFT_JOURNAL", str(place / "run.journal"))
        kills += kill_again_and_again(
            server,
            work,
            place,
            lambda _: (dice.choice(["reply", "write", "sync"]), dice.randrange(2, 25)),
        )
        runs += 1
    print(f"{kills} kills in {runs} runs")


@pytest.mark.heavy
def test_killed_at_random(
    server: FakeServer, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at_random(server, journal, 8, 17, monkeypatch)


@pytest.mark.slow
def test_so_many_kills(server: FakeServer, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = int(os.environ.get("JOURNAL_KILLS", "300"))
    killed_at_random(server, journal, most, 18, monkeypatch)
