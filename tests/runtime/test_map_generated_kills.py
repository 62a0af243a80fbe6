"""Jobs that are killed here and there, at random: the same parts, no kept answer asked for again.

MAP_KILLS=40 MAP_SEED=6 pytest -s -m slow tests/runtime/test_map_generated_kills.py     so many jobs

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
import time
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
# Where what runs may be killed, beside its start.
POINTS = ["request", "python", "before the tool has an effect", "after that"]
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


def prepared(folder: Path, count: int) -> None:
    folder.mkdir()
    rows = (json.dumps({"mail": f"mail {number}"}) + "\n" for number in range(count))
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
        prepared(folder, ROWS)

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
    for number in range(jobs):
        job = KilledJob(folder / str(number), Model(), monkeypatch)
        server.responder = job.model
        kills = dice.randint(1, 3)
        for _ in range(kills):
            if dice.random() < 0.5:
                job.run("start", dice.randrange(0, 10))
            else:
                point = dice.choice([*POINTS, "write"])
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

DASK_ROWS = 50
# In workers, what is reached is counted, each in a file of its own; at one of them, the processes
# that the file `kill` names are killed, 0 for the worker itself.
REACH = """\
def reach(point):
    with open("reached " + point, "ab", buffering=0) as file:
        file.write(b".")
        count = file.tell()
    with open("kill") as file:
        wanted, at, *pids = file.read().split(",")
    if wanted == point and int(at) == count:
        for pid in pids:
            os.kill(int(pid) or os.getpid(), 9)

reach("load")
"""


class JobOnWorkers:
    """A job on two workers in a folder, of which workers, the parent or both are killed."""

    def __init__(self, server: FakeServer, folder: Path, what: str) -> None:
        self.server = server
        self.folder = folder
        self.what = what
        self.model = server.responder = Model()
        self.doubts = 0
        # How long the process needs when nothing kills it.
        self.seconds = 5.0
        prepared(folder, DASK_ROWS)

    def kill_once(self, dice: random.Random) -> None:
        """Runs the job, and has it killed somewhere; it may come to its end for all that."""
        point = "start" if dice.random() < 0.5 else dice.choice(POINTS)
        if point != "start":
            most = {"request": 4 * DASK_ROWS}.get(point, DASK_ROWS)
            self.run(point, dice.randrange(1, most))
        elif self.what == "parent":
            self.run("start", 0, dice.uniform(0, self.seconds))
        else:
            self.run("load", dice.randrange(1, 4))

    def run(self, point: str = "", count: int = 0, seconds: float = 0.0) -> str:
        """Runs the job until it is killed or over, and once more where a call is in doubt."""
        stopped = self._run(point, count, seconds, "stop")
        if IN_DOUBT in stopped:
            self.doubts += 1
            stopped = self._run("", 0, 0.0, "call")
        return stopped

    def _run(self, point: str, count: int, seconds: float, interrupted: str) -> str:
        folder, model = self.folder, self.model
        had, before = kept(folder), Counter(model.asked)
        for path in (folder / "stopped", folder / "pids", *folder.glob("reached *")):
            path.unlink(missing_ok=True)
        (folder / "kill").write_text("nothing,0")
        model.number, model.kill = 0, (0, lambda: None)
        begun = time.monotonic()
        process = start(self.server, folder, interrupted)
        victims = {"worker": [0], "parent": [process.pid], "both": [process.pid, 0]}[self.what]
        if point == "request":
            model.kill = (count, lambda: self._kill(victims))
        elif point == "start":
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            process.kill()
        elif point:
            (folder / "kill").write_text(",".join([point, *map(str, [count, *victims])]))
        errors = process.communicate()[1]
        assert process.returncode in ((-signal.SIGKILL, 0) if point else (0,)), errors
        assert not had & set(model.asked - before), "a kept answer was asked for again"
        if process.returncode:
            return "killed"
        self.seconds = min(self.seconds, time.monotonic() - begun)
        return (folder / "stopped").read_text()

    def _kill(self, victims: list[int]) -> None:
        """Kills from outside; as a worker, the one that has begun with a row last."""
        path = self.folder / "pids"
        pids = path.read_text().split() if path.exists() else []
        for pid in [one or int(pids[-1]) for one in victims if one or pids]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def check(self, whole: tuple[dict[str, bytes], list[str]], kills: int) -> None:
        """The job came to what it would have come to, at the price of what was in flight."""
        assert outcome(self.folder) == whole
        effects = Counter((self.folder / "noted").read_text().splitlines())
        twice = sum(effects.values()) - len(effects)
        assert twice <= self.doubts * 2 * IN_FLIGHT, f"{twice} calls of tools were made twice"
        again = sum(self.model.asked.values()) - len(self.model.asked)
        assert again <= kills * 2 * 2 * IN_FLIGHT, f"{again} requests were sent twice"


def start(server: FakeServer, folder: Path, interrupted: str) -> subprocess.Popen[str]:
    text = MODULE.replace("def reach(point):\n    pass\n", REACH)
    assert text != MODULE
    script = Script((Module("mapped", text),), "read", str(folder))
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
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "none",
        "SAFT_ON_INTERRUPTED_CALL": interrupted,
    }
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=environment, text=True, stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_jobs_whose_workers_and_parents_are_killed(server: FakeServer, tmp_path: Path) -> None:
    seed = int(os.environ.get("MAP_SEED", "5"))
    dice, again, doubts, total = random.Random(seed), 0, 0, 0
    calm = JobOnWorkers(server, tmp_path / "calm", "worker")
    assert calm.run() == ""
    whole = outcome(calm.folder)
    jobs = int(os.environ.get("MAP_KILLS", "12"))
    for number in range(jobs):
        what = ("worker", "parent", "both")[number % 3]
        job = JobOnWorkers(server, tmp_path / f"{number}-{what}", what)
        job.seconds = calm.seconds
        kills = dice.randint(1, 3)
        for _ in range(kills):
            job.kill_once(dice)
        assert job.run() == ""
        job.check(whole, kills)
        again += sum(job.model.asked.values()) - len(job.model.asked)
        total, doubts = total + kills, doubts + job.doubts
        print(f"{job.folder.name}: {kills} kills, {again} requests again so far", flush=True)
    print(f"{jobs} jobs on workers, {total} kills, {again} requests again, {doubts} runs in doubt")
