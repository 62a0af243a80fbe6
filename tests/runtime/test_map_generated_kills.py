"""Jobs that are killed here and there, at random: the same parts, no kept answer asked for again.

MAP_KILLS=40 pytest -s -m slow tests/runtime/test_map_generated_kills.py     so many jobs

A row asks two prompts that overlap, then one with a tool that appends to a file. Half of the kills
come while a process starts; the others at a request, at a write, in Python or in the tool.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from runtime_support import prompt
from runtime_support.map import Module, Script, map_rows
from tests.support.fake_server import Answer, FakeServer, calling, completion
from tests.support.forks import comes_to_its_end

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.one_python,
]

ROOT = Path(__file__).parents[2]
ROWS = 12
IN_FLIGHT = 3
IN_DOUBT = "it may or may not have taken effect"
MODULE = """\
import os
from runtime_support import later, prompt, together

def reach(point):
    pass

def read(mail: str) -> str:
    with open("pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    def note(text: str) -> str:
        reach("before the tool has an effect")
        with open("noted", "ab", buffering=0) as file:
            file.write(f"{mail}: {text}\\n".encode())
        reach("after that")
        return "noted"
    title, motto = together(
        later(prompt, "Title of {mail}", mail=mail), later(prompt, "Motto of {mail}", mail=mail)
    )
    reach("python")
    last = prompt("Note {title} and {motto}", title=title, motto=motto, tools=[note])
    reach("python")
    return last.value + str(sum(range(20_000)))
"""


def is_start(point: str) -> bool:
    return point == "start"


class Model:
    """Answers each request in its own way, counts them by what they ask, and kills at one."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, int]] = Counter()
        self.kill: tuple[int, Callable[[], object]] = (0, lambda: None)
        self.number = 0

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages = body["messages"]
        asked = messages[0]["content"]
        self.number += 1
        if self.number == self.kill[0]:
            self.kill[1]()
        self.asked[asked, len(messages)] += 1
        if asked.startswith("Note") and len(messages) == 1:
            return calling(("note", {"text": f"about {asked}"}))
        return completion(f"<{asked}>")


def kept(folder: Path) -> set[tuple[str, int]]:
    """What the job has answers to."""
    found: set[tuple[str, int]] = set()
    asked: dict[Any, str] = {}
    places = [folder / "out/job.db", *(folder / "out/journal").glob("*.journal")]
    for path in places:
        if not path.exists():
            continue
        query = "select scope, key, place, step, data from entry"
        where = "where step glob '[0-9]*' order by id"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            try:
                rows = database.execute(f"{query} {where}").fetchall()
            except sqlite3.OperationalError:  # it was killed before there was a table
                continue
            for *at, step, data in rows:
                request = json.loads(data)["request"]["messages"]
                if step == "0":
                    asked[tuple(at)] = request[0]["content"]
                found.add((asked[tuple(at)], 1 + 2 * int(step)))
    return found


def outcome(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The parts and errors of a job, and what its tool has done, each once."""
    parts = {path.name: path.read_bytes() for path in (folder / "out").glob("*.jsonl")}
    return parts, sorted(set((folder / "noted").read_text().splitlines()))


def prepared(folder: Path) -> None:
    folder.mkdir()
    rows = (json.dumps({"mail": f"mail {number}"}) + "\n" for number in range(ROWS))
    (folder / "in.jsonl").write_text("".join(rows))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work(folder: Path, point: str, count: int) -> None:
    """Does the job in a forked process, which dies when it comes to a point for the nth time."""
    os.chdir(folder)
    (folder / "pid").write_text(str(os.getpid()))
    left = itertools.count(1)

    def reach(here: str) -> None:
        if here == point and next(left) == count:
            die()

    connect = sqlite3.connect

    class Dying(sqlite3.Connection):
        def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
            if query == "commit":
                reach("start" if is_start(point) else "write")
            return super().execute(query, *values)

    def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
        return connect(*arguments, **named, factory=Dying)

    sqlite3.connect = connected  # type: ignore[assignment]
    if count == 0:
        die()
    spec = importlib.util.spec_from_loader("mapped", None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mapped"] = module
    exec(MODULE, module.__dict__)
    module.__dict__["reach"] = reach
    report = map_rows(module.read, "in.jsonl", "out", rows_at_once=IN_FLIGHT, part_rows=5)
    (folder / "stopped").write_text(report.stopped or "")


class KilledJob:
    """A job in a folder, and what the kills have left."""

    def __init__(self, folder: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.model = model
        self.monkeypatch = monkeypatch
        self.in_doubt = 0
        prepared(folder)

    def run(self, point: str = "", count: int = 0) -> None:
        """Runs the job until it is killed there, or is over; nothing that is kept is asked for."""
        is_kill = bool(point)
        before, had = Counter(self.model.asked), kept(self.folder)
        pid = self.folder / "pid"
        self.model.number = 0
        self.model.kill = (0, lambda: None)
        if point == "request":
            self.model.kill = (count, lambda: os.kill(int(pid.read_text()), signal.SIGKILL))
        count = count if is_kill else -1
        ended = comes_to_its_end(
            lambda: work(self.folder, point, count), self.folder / "errors"
        )
        new = self.model.asked - before
        assert not had & set(new), "a kept answer was asked for again"
        told = (self.folder / "stopped").read_text() if ended else ""
        if IN_DOUBT in told:
            self.in_doubt += 1
            self.model.kill = (0, lambda: None)
            with self.monkeypatch.context() as patch:
                patch.setenv("SAFT_ON_INTERRUPTED_CALL", "call")
                assert comes_to_its_end(
                    lambda: work(self.folder, "", -1), self.folder / "errors"
                )
                told = (self.folder / "stopped").read_text()
        assert told == ""

    def check(self, whole: tuple[dict[str, bytes], list[str]], kills: int) -> None:
        """The job came to what it would have come to, at the price of what was in flight."""
        assert outcome(self.folder) == whole
        effects = Counter((self.folder / "noted").read_text().splitlines())
        twice = sum(effects.values()) - len(effects)
        assert twice <= self.in_doubt * IN_FLIGHT, f"{twice} calls of tools were made twice"
        again = sum(self.model.asked.values()) - len(self.model.asked)
        assert again <= kills * 2 * IN_FLIGHT, f"{again} requests were sent twice"


def killed_jobs(
    server: FakeServer, folder: Path, jobs: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Kills so many jobs one to three times each; gives what it came to, in words."""
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "stop")
    prompt("what loads and connects is loaded before the processes are forked")
    dice, again, doubts, total = random.Random(seed), 0, 0, 0
    calm = KilledJob(folder / "calm", Model(), monkeypatch)
    server.responder = calm.model
    calm.run()
    whole = outcome(calm.folder)
    assert set(calm.model.asked.values()) == {1} and len(calm.model.asked) == 4 * ROWS
    others = ["request", "write", "python", "before the tool has an effect", "after that"]
    for number in range(jobs):
        job = KilledJob(folder / str(number), Model(), monkeypatch)
        server.responder = job.model
        kills = dice.randint(1, 3)
        for _ in range(kills):
            if dice.random() < 0.5:
                job.run("start", dice.randrange(0, 10))
            else:
                point = dice.choice(others)
                most = {"request": 4 * ROWS, "write": 60}.get(point, ROWS)
                job.run(point, dice.randrange(1, most))
        job.run()
        job.check(whole, kills)
        total, doubts = total + kills, doubts + job.in_doubt
        again += sum(job.model.asked.values()) - len(job.model.asked)
    return f"{jobs} jobs, {total} kills, {again} requests again, {doubts} runs in doubt"


def test_some_jobs_that_are_killed(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_jobs(server, tmp_path, 2, 7, monkeypatch)


@pytest.mark.slow
def test_so_many_jobs_that_are_killed(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    print(killed_jobs(server, tmp_path, int(os.environ.get("MAP_KILLS", "40")), 23, monkeypatch))


# On workers of Dask


def start(server: FakeServer, folder: Path) -> subprocess.Popen[str]:
    script = Script((Module("mapped", MODULE),), "read", str(folder))
    code = (
        "from runtime_support import configure\n"
        "from runtime_support.map import Module, Script, map_rows\n"
        "if __name__ == '__main__':\n"
        f"    configure(provider='openai', base_url={server.url!r}, model='fake')\n"
        f"    report = map_rows({script!r}, 'in.jsonl', 'out', "
        f"rows_at_once={IN_FLIGHT}, part_rows=5, "
        "workers=2)\n"
        "    open('stopped', 'w').write(report.stopped or '')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none"}
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=environment, text=True, stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_jobs_whose_workers_and_parents_are_killed(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "stop")
    dice, again = random.Random(5), 0
    server.responder = Model()
    calm = tmp_path / "calm"
    prepared(calm)
    assert start(server, calm).wait() == 0
    whole = outcome(calm)
    jobs = int(os.environ.get("MAP_KILLS", "12")) // 4
    for number, what in itertools.product(range(jobs), ("worker", "parent", "both")):
        folder = tmp_path / f"{what}-{number}"
        prepared(folder)
        model = server.responder = Model()
        process = start(server, folder)

        def kill(folder: Path = folder, process: Any = process, what: str = what) -> None:
            if what != "worker":
                process.kill()
            if what != "parent":
                pids = (folder / "pids").read_text().split()
                with suppress(ProcessLookupError):
                    os.kill(int(pids[-1]), signal.SIGKILL)

        model.kill = (dice.randrange(1, 4 * ROWS), kill)
        process.wait()
        stopped, had, before = "killed", kept(folder), Counter(model.asked)
        while stopped:
            model.kill = (0, lambda: None)
            is_doubt = IN_DOUBT in stopped
            with monkeypatch.context() as patch:
                patch.setenv("SAFT_ON_INTERRUPTED_CALL", "call" if is_doubt else "stop")
                (folder / "stopped").unlink(missing_ok=True)
                process = start(server, folder)
                assert process.wait() == 0, process.communicate()[1]
            stopped = (folder / "stopped").read_text()
        if what != "worker":
            assert not had & set(model.asked - before), "a kept answer was asked for again"
        assert outcome(folder) == whole, what
        again += sum(model.asked.values()) - len(model.asked)
        assert sum(model.asked.values()) - len(model.asked) <= 2 * 2 * IN_FLIGHT
    print(f"{3 * jobs} jobs on workers, {again} requests again")
