"""A job on workers of Dask: the same parts, whatever dies."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ConfigError, RunStopped, configure
from runtime_support._journal.journal import entries
from runtime_support.map import Module, Report, Script, map_rows
from runtime_support.map import _dask as dask
from runtime_support.map import _runner as runner
from tests.support.fake_server import Answer, FakeServer, calling, completion

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(os.name == "nt", reason="processes are killed by signals"),
    pytest.mark.one_python,
]

ROOT = Path(__file__).parents[2]
ROWS = 120
IN_FLIGHT = 4
WORKERS = 2

TRIAGE = """\
import os
import re
from runtime_support import prompt

def triage(mail: str, deadly: str = "") -> str:
    if mail == deadly:
        os._exit(1)
    return prompt("Read {mail}", mail=mail).value
"""
SCRIPT = Script((Module("triage", TRIAGE),), "triage", str(ROOT))
DISTRIBUTED: Any = importlib.import_module("distributed")


class Model:
    """Answers each mail in its own way, counts, and does something at one of the requests."""

    def __init__(self, at: int = 0, action: Callable[[], object] = lambda: None) -> None:
        self.asked: Counter[str] = Counter()
        self.at, self.action = at, action
        self.lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        asked = body["messages"][0]["content"].splitlines()[0]
        with self.lock:  # the others get no answer while it is done
            self.asked[asked] += 1
            if sum(self.asked.values()) == self.at:
                self.action()
        return completion(f"{asked}?")


def local_cluster(workers: int = WORKERS) -> Any:
    """Some processes, and a scheduler in this one."""
    options: dict[str, Any] = {
        "dashboard_address": None,
        "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},  # its own, beside other clusters
        "silence_logs": 50,
    }
    return DISTRIBUTED.LocalCluster(n_workers=workers, threads_per_worker=2, **options)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of which no worker dies."""
    with local_cluster() as running:
        yield running


@pytest.fixture
def mortal_cluster() -> Iterator[Any]:
    """A cluster for one test: nobody waits until a worker that died is started again."""
    with local_cluster() as running:
        yield running


@pytest.fixture
def growing_cluster() -> Iterator[Any]:
    """A cluster of one worker, which may get more."""
    with local_cluster(1) as running:
        yield running


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    path = tmp_path / "mails.jsonl"
    path.write_text("".join(f'{{"mail": "mail {number}"}}\n' for number in range(ROWS)))
    return path


def mapped(mails: Path, out: str, **options: Any) -> Report:
    return map_rows(SCRIPT, mails, out, rows_at_once=IN_FLIGHT, part_rows=10, **options)


def parts(out: str) -> dict[str, bytes]:
    if os.path.isdir(f"{out}/journal"):
        assert os.listdir(f"{out}/journal") == []
    return {path.name: path.read_bytes() for path in Path(out).glob("*.jsonl")}


@pytest.fixture
def whole(server: FakeServer, mails: Path) -> dict[str, bytes]:
    """What it comes to in one process."""
    server.responder = Model()
    assert mapped(mails, "whole").done == ROWS
    return parts("whole")


def pids(cluster: Any) -> list[int]:
    with DISTRIBUTED.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=300)
        return list(client.run(os.getpid).values())


def test_the_same_parts_as_in_one_process(
    server: FakeServer, mails: Path, whole: dict[str, bytes], cluster: Any
) -> None:
    model = server.responder = Model()
    ports = len({request.port for request in server.requests})
    report = mapped(mails, "out", address=cluster.scheduler_address)
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert report.usage.requests == ROWS == sum(model.asked.values())
    assert parts("out") == whole
    assert len({request.port for request in server.requests}) > ports
    processes = [entry["process"] for entry in entries("out/job.db") if "process" in entry]
    assert processes == ["begun", "ended"], "those of the job, not of its batches"


def test_a_budget_holds_for_all_workers(server: FakeServer, mails: Path, cluster: Any) -> None:
    model = server.responder = Model()
    configure(budget_requests=31, requests_per_minute=1_000_000)
    report = mapped(mails, "out", address=cluster.scheduler_address)
    assert report.stopped == (
        f"BudgetSpent: the next request would pass the budget of the job; spent so far: "
        f"{report.spent}; raise `budget_requests` to continue"
    )
    # Each of the workers has an equal share.
    assert 15 <= sum(model.asked.values()) <= 31
    assert sum(model.asked.values()) == report.usage.requests
    configure(budget_requests=None)
    assert mapped(mails, "out", address=cluster.scheduler_address).done == ROWS
    assert sum(model.asked.values()) == ROWS


def test_a_budget_holds_in_a_cluster_that_grows(
    server: FakeServer, mails: Path, growing_cluster: Any
) -> None:
    grown = threading.Event()

    def grow() -> None:
        growing_cluster.scale(3)
        with DISTRIBUTED.Client(growing_cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=300)
        grown.set()

    model = server.responder = Model(5, grow)
    configure(budget_requests=60)
    ports = set[int]()
    report = mapped(mails, "out", address=growing_cluster.scheduler_address)
    ports.update(request.port for request in server.requests)
    assert grown.is_set() and len(ports) > 1
    assert report.budget_spent and sum(model.asked.values()) == report.usage.requests == 60
    assert report.done == 60


def test_workers_that_are_started_here_look_at_no_frames(mails: Path) -> None:
    # In CPython 3.11, `sys._current_frames` may wait for a thread that begins, for good.
    text = "import dask\ndef triage(mail: str) -> str:\n    return str(dask.config.get(mail))\n"
    Path("mails.jsonl").write_text('{"mail": "distributed.worker.profile.enabled"}\n')
    script = Script((Module("triage", text),), "triage", str(ROOT))
    assert map_rows(script, mails, "out", workers=1, columns="none").done == 1
    assert Path("out/part-000000.jsonl").read_text() == '{"row": 0, "result": "False"}\n'


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_nobody_gives_orders_to_workers_of_a_job(
    server: FakeServer, mails: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    clusters, answers = list[Any](), list[str]()
    begin = DISTRIBUTED.LocalCluster

    def watched(**options: Any) -> Any:
        clusters.append(begin(**options))
        return clusters[0]

    def order() -> None:
        # As another user of the machine, who has found out the port.
        port = clusters[0].scheduler_address.rpartition(":")[2]
        security = DISTRIBUTED.Security.temporary() if protocol == "tls" else None
        options: dict[str, Any] = {"security": security, "timeout": 1, "set_as_default": False}
        try:
            with DISTRIBUTED.Client(f"{protocol}://127.0.0.1:{port}", **options) as client:
                answers.append(repr(client.run(os.getpid)))
        except Exception as error:
            answers.append(f"refused by {type(error).__name__}")

    monkeypatch.setattr(DISTRIBUTED, "LocalCluster", watched)
    server.responder = Model(3, order)
    report = mapped(mails, "out", workers=1, limit=10)
    assert (report.done, report.stopped) == (10, None)
    assert [one.partition(" by ")[0] for one in answers] == ["refused"]
    assert clusters[0].scheduler.http_application.wildcard_router.rules == []


def test_a_cluster_that_obeys_anybody_is_told_of(
    server: FakeServer, mails: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    server.responder = Model()
    mapped(mails, "out", address=cluster.scheduler_address, limit=20)
    told = capsys.readouterr().err
    assert told.count(f"{cluster.scheduler_address} is not a tls:// address: anyone") == 1
    mapped(mails, "own", workers=1, limit=5)
    assert "tls://" not in capsys.readouterr().err


def test_a_worker_that_is_lost_at_the_start_does_not_end_the_job(
    server: FakeServer, mails: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[object]()
    run = DISTRIBUTED.Client.run

    def lose(self: Any, function: Any, *given: Any, **named: Any) -> Any:
        found = run(self, function, *given, **named)
        if function.__name__ == "look":
            looks.append(function)
            found[next(iter(found))] = DISTRIBUTED.comm.CommClosedError("in <TCP>: lost")
        return found

    server.responder = Model()
    pids(cluster)
    with monkeypatch.context() as patch:
        patch.setattr(DISTRIBUTED.Client, "run", lose)
        assert mapped(mails, "out", address=cluster.scheduler_address, limit=20).done == 20
    assert len(looks) == 1


def test_rows_on_workers_are_counted_as_they_end(
    server: FakeServer, mails: Path, cluster: Any
) -> None:
    counted = threading.Event()
    texts: list[Callable[[], str]] = []

    def answer(body: dict[str, Any]) -> Answer:
        asked = body["messages"][0]["content"].splitlines()[0]
        if asked == 'Read "mail 3"':
            assert counted.wait(60)
        return completion(f"{asked}?")

    speed = runner.Speed.note

    def look(self: runner.Speed, now: float, count: int) -> None:
        speed(self, now, count)
        found = re.search(r" 9 of 10 .* (\d+) requests, (\d+) tokens", texts[0]())
        if found is not None and int(found[1]) >= 9 and int(found[2]) >= 162:
            counted.set()

    server.responder = answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner.Speed, "note", look)
        options = {"address": cluster.scheduler_address, "limit": 10, "show": texts.append}
        report = mapped(mails, "out", **options)
    assert counted.is_set() and (report.done, report.usage.requests) == (10, 10)


def test_a_worker_gives_up_a_row_that_takes_too_long(mails: Path, cluster: Any) -> None:
    slow = (
        "import asyncio, time\n"
        "from runtime_support._core.tasks import clock, turns\n"
        "def triage(mail: str) -> str:\n"
        "    if mail == 'mail 3':\n"
        "        clock.current_clock()._began -= 601\n"  # this row alone has had its time
        "        while not turns.is_abandoned():\n"
        "            time.sleep(0.01)\n"
        "    if mail == 'mail 4':\n"
        "        raise asyncio.CancelledError\n"
        "    print(mail)\n"
        "    return mail\n"
    )
    configure(provider="mock")
    script = Script((Module("triage", slow),), "triage", str(ROOT))
    options: dict[str, Any] = {"address": cluster.scheduler_address, "row_timeout": 600}
    report = map_rows(script, mails, "out", part_rows=10, limit=20, **options)
    assert (report.done, report.failures) == (18, {"RowTimeout": 1, "CancelledError": 1})


def test_a_worker_is_killed(
    server: FakeServer, mails: Path, whole: dict[str, bytes], mortal_cluster: Any
) -> None:
    victim = pids(mortal_cluster)[0]
    model = server.responder = Model(40, lambda: os.kill(victim, signal.SIGKILL))
    report = mapped(mails, "out", address=mortal_cluster.scheduler_address)
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole
    assert ROWS <= sum(model.asked.values()) <= ROWS + IN_FLIGHT


def test_the_process_of_the_job_is_killed(
    server: FakeServer, mails: Path, whole: dict[str, bytes], cluster: Any
) -> None:
    child = in_child(server, mails, f"address={cluster.scheduler_address!r}")

    def executing(dask_worker: Any) -> bool:
        return any(task.state == "executing" for task in dask_worker.state.tasks.values())

    def kill() -> None:
        child.kill()
        with DISTRIBUTED.Client(cluster.scheduler_address, set_as_default=False) as client:
            while any(client.run(executing).values()):  # until the workers know of it
                time.sleep(0.01)

    model = server.responder = Model(40, kill)
    child.start()
    assert child.wait() == -signal.SIGKILL
    report = mapped(mails, "out", address=cluster.scheduler_address)
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole
    assert sum(model.asked.values()) <= ROWS + WORKERS * IN_FLIGHT


def test_the_process_of_the_job_is_killed_with_its_own_workers(
    server: FakeServer, mails: Path, whole: dict[str, bytes]
) -> None:
    child = in_child(server, mails, f"workers={WORKERS}")
    model = server.responder = Model(40, child.kill)
    child.start()
    assert child.wait() == -signal.SIGKILL
    # In this process: the journals that the workers have left are anybody's.
    report = mapped(mails, "out")
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole
    assert sum(model.asked.values()) <= ROWS + WORKERS * IN_FLIGHT


class Child:
    """A process that does the job."""

    def __init__(self, code: str) -> None:
        self.command = [sys.executable, "-c", code]
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(self.command, env=environment, text=True)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()

    def wait(self) -> int:
        assert self.process is not None
        return self.process.wait()


def in_child(server: FakeServer, mails: Path, options: str) -> Child:
    return Child(
        "from runtime_support import configure\n"
        "from runtime_support.map import Module, Script, map_rows\n"
        "if __name__ == '__main__':\n"
        f"    configure(provider='openai', base_url={server.url!r}, model='fake')\n"
        f"    map_rows({SCRIPT!r}, {str(mails)!r}, 'out', rows_at_once={IN_FLIGHT}, part_rows=10, "
        f"{options})\n"
    )


def dask_process(kind: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def test_the_scheduler_goes_away(server: FakeServer, mails: Path, whole: dict[str, bytes]) -> None:
    started = Path("scheduler.json").absolute()
    place = ["--scheduler-file", str(started), "--no-dashboard"]
    scheduler = dask_process("scheduler", "--host", "127.0.0.1", "--port", "0", *place)
    worker = dask_process("worker", "--nthreads", "2", "--no-nanny", *place)
    try:
        with DISTRIBUTED.Client(scheduler_file=str(started), set_as_default=False) as client:
            client.wait_for_workers(1, timeout=300)
        address = json.loads(started.read_text())["address"]
        model = server.responder = Model(40, scheduler.kill)
        report = mapped(mails, "out", address=address)
        assert report.stopped is not None
        assert f"the scheduler {address} went away, or does not answer; " in report.stopped
        assert report.failed == 0 and report.done < ROWS
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    report = mapped(mails, "out")
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole
    assert sum(model.asked.values()) <= ROWS + IN_FLIGHT


def test_a_row_that_kills_its_worker_is_told_and_no_neighbour_is(
    server: FakeServer, mails: Path, whole: dict[str, bytes], mortal_cluster: Any
) -> None:
    server.responder = Model()
    mortal_cluster.scheduler.allowed_failures = 0
    report = mapped(
        mails, "out", address=mortal_cluster.scheduler_address, constants={"deadly": "mail 42"}
    )
    assert report.stopped is None, report.stopped
    assert (report.done, report.failures) == (ROWS - 1, {"WorkerLost": 1}), str(report)
    found = parts("out")
    errors = found.pop("errors-000004.jsonl").decode().splitlines()
    assert [json.loads(line)["row"] for line in errors] == [42]
    others = whole["part-000004.jsonl"].splitlines(keepends=True)
    assert found.pop("part-000004.jsonl") == b"".join(others[:2] + others[3:])
    del whole["part-000004.jsonl"]
    assert found == whole


def test_a_row_in_a_batch_of_its_own_is_no_suspect_for_its_neighbour(
    server: FakeServer, tmp_path: Path, growing_cluster: Any
) -> None:
    # Row 20 is in the second batch. Row 0 ends their worker when that has begun, and ends it again.
    text = (
        "import os, pathlib, time\n"
        "begun, lost = pathlib.Path('begun'), pathlib.Path('lost')\n"
        "def triage(mail: int) -> int:\n"
        "    if mail == 20:\n"
        "        begun.touch()\n"
        "        while not lost.exists() or not begun.exists():\n"
        "            time.sleep(0.01)\n"
        "    while mail == 0 and not begun.exists():\n"
        "        time.sleep(0.01)\n"
        "    if mail == 0:\n"
        "        lost.touch()\n"
        "        os._exit(1)\n"
        "    return mail\n"
    )
    growing_cluster.scheduler.allowed_failures = 0
    mails = tmp_path / "mails.jsonl"
    mails.write_text("".join(f'{{"mail": {number}}}\n' for number in range(21)))
    script = Script((Module("triage", text),), "triage", str(ROOT))
    report = map_rows(script, mails, "out", address=growing_cluster.scheduler_address)
    assert (report.done, report.failures, report.stopped) == (20, {"WorkerLost": 1}, None)


def test_a_row_that_begins_a_tool_and_kills_its_worker_is_given_up(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "import os\n"
        "from runtime_support import prompt\n"
        "def triage(mail: str) -> str:\n"
        "    def end_here() -> None:\n"
        "        with open('ended', 'a') as file:\n"
        "            file.write(mail)\n"
        "        os._exit(1)\n"
        "    return prompt('Read {mail}', mail=mail, tools=[end_here]).value\n"
    )
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "call")
    server.responder = lambda body: calling(("end_here", {}))
    (tmp_path / "mails.jsonl").write_text('{"mail": "a"}\n')
    script = Script((Module("triage", text),), "triage", str(tmp_path))
    with local_cluster(1) as cluster:
        cluster.scheduler.allowed_failures = 0
        address = cluster.scheduler_address
        report = map_rows(script, tmp_path / "mails.jsonl", "out", address=address)
    assert (report.failures, report.stopped) == ({"WorkerLost": 1}, None)
    assert report.usage.requests == 1 and 2 <= len((tmp_path / "ended").read_text()) <= 3


def test_a_worker_that_hangs_does_not_hold_the_job(
    server: FakeServer, mails: Path, whole: dict[str, bytes], mortal_cluster: Any
) -> None:
    with DISTRIBUTED.Client(mortal_cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=300)
        address, victim = next(iter(client.run(os.getpid).items()))
    run, went_on, waited = DISTRIBUTED.Client.run, threading.Event(), list[bool]()

    def wait() -> None:
        waited.append(went_on.wait(60))
        os.kill(victim, signal.SIGCONT)

    waiting = threading.Thread(target=wait)

    def hang(self: Any, function: Any, *given: Any, **named: Any) -> Any:
        is_answered = function.__name__ == "take_answers" and address in named["workers"]
        if is_answered and len(model.asked) >= 20 and model.at == 0:
            os.kill(victim, signal.SIGSTOP)  # as it is about to be answered
            model.at, model.action = len(model.asked) + 5 * IN_FLIGHT, went_on.set
            waiting.start()
        return run(self, function, *given, **named)

    model = server.responder = Model()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DISTRIBUTED.Client, "run", hang)
        report = mapped(mails, "out", address=mortal_cluster.scheduler_address)
    waiting.join()
    assert waited == [True], "no row went on while a worker was hanging"
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole


def test_a_worker_that_pauses_for_lack_of_memory_keeps_its_rows(
    server: FakeServer, mails: Path, whole: dict[str, bytes], cluster: Any
) -> None:
    def set_status(name: str, dask_worker: Any) -> None:
        dask_worker.status = DISTRIBUTED.core.Status[name]

    def pause() -> None:
        with DISTRIBUTED.Client(cluster.scheduler_address, set_as_default=False) as client:
            for _ in range(100):  # a worker that has memory ends its pause
                client.run(set_status, name="paused")

    pausing = threading.Thread(target=pause)
    model = server.responder = Model(20, pausing.start)
    report = mapped(mails, "out", address=cluster.scheduler_address)
    pausing.join()
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole and set(model.asked.values()) == {1}


def test_rows_under_suspicion_are_tried_by_workers(
    server: FakeServer, mails: Path, cluster: Any
) -> None:
    server.responder = Model()
    configure(budget_requests=20)
    assert mapped(mails, "out", limit=25).done == 20
    with closing(sqlite3.connect("out/job.db", isolation_level=None)) as database:
        values = "(?, 'suspect', null, 0)"
        rows = [(number,) for number in range(20, 25)]
        database.executemany(f"insert or replace into row values {values}", rows)
    configure(budget_requests=None)
    report = mapped(mails, "out", limit=25, address=cluster.scheduler_address)
    assert (report.done, report.failed, report.left) == (25, 0, 0)


def test_nothing_that_a_lost_worker_was_answered_is_asked_again(
    server: FakeServer, mails: Path, whole: dict[str, bytes], mortal_cluster: Any
) -> None:
    victim, had = pids(mortal_cluster)[0], set[str]()

    def kill() -> None:
        had.update(kept_questions())
        os.kill(victim, signal.SIGKILL)

    model = server.responder = Model(70, kill)
    report = mapped(mails, "out", address=mortal_cluster.scheduler_address)
    assert (report.done, report.failed, report.stopped) == (ROWS, 0, None)
    assert parts("out") == whole
    assert len(had) >= 70 - WORKERS * IN_FLIGHT
    assert {question for question in had if model.asked[question] > 1} == set()
    assert len(kept_questions()) == ROWS and sum(model.asked.values()) <= ROWS + IN_FLIGHT


def kept_questions() -> set[str]:
    """What the job has answers to."""
    asked = (one["request"]["messages"][0] for one in entries("out/job.db") if "request" in one)
    return {one["content"].splitlines()[0] for one in asked}


def test_workers_that_cannot_do_the_job_are_told_before(
    mails: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = Script((Module("triage", "import nowhere_to_be_found\n" + TRIAGE),), "triage", ".")
    monkeypatch.setitem(sys.modules, "nowhere_to_be_found", os)
    configure(provider="mock")
    pids(cluster)
    with pytest.raises(ConfigError) as caught:
        map_rows(asks, mails, "out", address=cluster.scheduler_address)
    *told, hint = str(caught.value).splitlines()
    assert len(told) == WORKERS and hint == "install on the workers what this process has"
    assert all("ModuleNotFoundError: No module named 'nowhere_to_be_found'" in one for one in told)
    configure(provider="openai", api_key_env="NOT_ON_WORKERS")
    monkeypatch.setenv("NOT_ON_WORKERS", "sk-test-0123456789abcdefghij")
    with pytest.raises(ConfigError, match="the environment has no NOT_ON_WORKERS"):
        map_rows(SCRIPT, mails, "other", address=cluster.scheduler_address)


def test_no_scheduler_and_no_package(
    mails: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    monkeypatch.setattr(dask, "_SECONDS_TO_CONNECT", 1)
    with pytest.raises(RunStopped, match=r"the scheduler tcp://127\.0\.0\.1:9 went away"):
        mapped(mails, "out", address="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match="pip install distributed"):
        mapped(mails, "out", workers=1)
    with pytest.raises(ConfigError, match="not on both"):
        mapped(mails, "out", workers=1, address="tcp://127.0.0.1:9")


def test_workers_that_end_while_they_start(mails: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'spawn_main' in ' '.join(sys.orig_argv):\n    os._exit(1)\n"
    )
    configure(provider="mock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        with pytest.raises(RunStopped, match="a worker ended while it was starting"):
            mapped(mails, "out", workers=1)
    assert mapped(mails, "out").done == ROWS


PROGRAM = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import Literal
from runtime_support.map import map_rows

@dataclass
class Mail:
    kind: Literal["mail"]
    inner: Mail | None = None

def read(mail: str) -> Mail:
    return Mail("mail")

if __name__ == "__main__":
    print(map_rows(read, "mails.jsonl", "out", workers=1))
"""


def test_a_function_of_the_program_itself(mails: Path) -> None:
    Path("program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("120 rows: 120 done; "), done.stderr


def test_a_recording_is_not_for_a_cluster(mails: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_REPLAY", "replies.jsonl")
    with pytest.raises(ConfigError, match="a recording is on this machine"):
        mapped(mails, "out", address="tcp://127.0.0.1:9")


def test_a_model_of_the_environment_is_no_part_of_a_request(
    server: FakeServer, mails: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.responder = Model()
    configure(model=None)
    monkeypatch.setenv("SAFT_MODEL", "fake")
    assert mapped(mails, "out", workers=1, limit=3).done == 3
    asked = [entry["request"] for entry in entries("out/job.db") if "request" in entry]
    assert len(asked) == 3 and all("model" not in one for one in asked)
    assert {request.body["model"] for request in server.requests} == {"fake"}


def test_workers_beside_those_of_another_job(
    server: FakeServer, mails: Path, recwarn: pytest.WarningsRecorder
) -> None:
    server.responder = Model()
    with socket.socket() as other:
        with suppress(OSError):  # somebody else has the port
            other.bind(("127.0.0.1", 8787))
            other.listen()
        assert mapped(mails, "out", workers=1, limit=3).done == 3
    assert not [one for one in recwarn if "Port" in str(one.message)]


def test_a_key_in_a_setting_is_not_sent_to_workers(mails: Path) -> None:
    configure(provider="mock", extra_body={"password": "sk-abcdefghijklmnopqrstuvwxyz"})
    with pytest.raises(ConfigError, match="a setting holds something like a key"):
        mapped(mails, "out", workers=1)
