"""Rows on the workers of Dask, in batches: some that are started here, or those of a cluster.

Dask places batches, and brings them to other workers when one dies; how many are under way follows
the workers that there are. What is asked of the scheduler may fail at any time: that is one error
here, and the same command goes on later.

A worker on this machine keeps what the rows of a batch are answered in a journal in the folder of
the job, which is merged with the job's when the batch is over. One elsewhere sends each entry here,
and waits before a call of a tool until that is kept.

A scheduler lets everyone who reaches it run code as its owner. So what is started here speaks TLS,
with a certificate of this run, and shows nothing by HTTP.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import json
import logging
import os
import platform
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import astuple, replace
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias

from runtime_support._notes import note
from runtime_support._redaction import secret_in
from runtime_support._settings import configured_here, current_settings, given_here, settings_for
from runtime_support._spending import spending_here
from runtime_support._tools import function_tool
from runtime_support._version import __version__
from runtime_support.errors import BudgetSpent, ConfigError, RunStopped, SaftError
from runtime_support.map._printing import whole_lines
from runtime_support.map._rows import RowThreads
from runtime_support.map._runner import LOOK, JobRun
from runtime_support.map._script import Function, Job, Module, Script, keep_function
from runtime_support.map._store import WORKERS, Outcome, Row, wait_until_free
from runtime_support.providers import live_provider
from runtime_support.runs._budgets import Spent, spending_apart, spent_of
from runtime_support.runs._journal import Journal
from runtime_support.runs._keeper import count_kept, keeping_in

BATCH_ROWS = 20
# So many batches wait at a worker, beside one under way for each of its threads.
_WAITING = 2
_LOOKED_FOR = 1.0
_SECONDS_TO_CONNECT = 30
# Dask keeps the last messages, in which the rows travel.
_MESSAGES_KEPT = 20
# With this many workers that died with a batch, its rows are tried one at a time, and one that is
# alone is given up; in a cluster that was not started here, with as many as that says.
_MOST_LOST = 3
# Where only those with a certificate, or in this process, are heard.
_TRUSTED = ("tls://", "wss://", "inproc://")
# How often workers are looked at that are lost just then, and the seconds between.
_LOOKS = 5
_BETWEEN_LOOKS = 1.0
_BUDGETS = {"budget_requests": "requests", "budget_tokens": "tokens", "budget_cost": "cost"}
_RATES = ("requests_per_minute", "tokens_per_minute")


class Batch(NamedTuple):
    """Rows for a worker, with what the journal has of them."""

    name: str
    rows: list[Row]
    entries: list[Any]


# What became of the rows of a batch; those that are not there were not begun, or not ended.
Outcomes: TypeAlias = dict[int, Outcome]


class Dask:
    """The workers of a job. ConfigError when they cannot do it."""

    def __init__(self, job: Job, workers: int | None, address: str | None) -> None:
        self._library = _imported()
        self._address = address or "of this job"
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._under_way: dict[str, Batch] = {}
        # Rows to be begun again, and those of batches that were lost, which are tried alone.
        self._again: deque[Row] = deque()
        self._alone: deque[Row] = deque()
        self._threads: dict[str, int] = {}
        # Rows that have something in the journal, as they were begun before.
        self._begun: set[int] = set()
        # What was spent before, and by each process of a worker.
        self._before = Spent()
        self._spent: dict[str, Spent] = {}
        # Batches that workers elsewhere have begun, by their names.
        self._seen: set[str] = set()
        self._is_stopped = False
        self._looked_at = float("-inf")
        if address is not None and (os.environ.get("SAFT_REPLAY") or os.environ.get("SAFT_RECORD")):
            raise ConfigError("recordings are for this machine: a cluster would ask the model")
        settings, around = _settings()
        function = _importable(job.function)
        self.job = replace(job, settings=settings, around=around, function=function)
        self._block = ExitStack()
        try:
            self._start(workers, address)
        except BaseException:
            self.close()
            raise

    def work(self, run: JobRun) -> Generator[None]:
        """Has workers answer the rows, and keeps what they were answered."""
        try:
            with self._guarded():
                self._begin(run)
                while self._fill(run):
                    self._receive(run)
                    yield
        except RunStopped as error:  # what batches are run by, or kept in, is not there
            run.stop(error)
        finally:
            with suppress(RunStopped), spending_apart() as whole:
                count_kept(run.store.journal, settings_for(), for_blocks=False)
                run.report.spent = spent_of(whole.taken())

    def close(self) -> None:
        """Lets the cluster go; workers that were started here end."""
        with suppress(Exception):
            self._block.close()

    def _begin(self, run: JobRun) -> None:
        """Shares what is left of the budget, and the rates, among the workers."""
        settings, shared = settings_for(), dict[str, Any]()
        run.processes = count = max(1, len(self._workers()))
        self._before = replace(run.report.spent)
        self._begun = run.store.begun_rows()
        for name, what in _BUDGETS.items():
            most = getattr(settings, name)
            if most is not None:
                left = (most - getattr(self._before, what)) / count
                shared[name] = left if name == "budget_cost" else int(left)
                if shared[name] <= 0:
                    workers = f"{count} workers" if count > 1 else "a worker"
                    run.stop(
                        BudgetSpent(
                            f"there is nothing left of the budget for each of {workers}; spent: "
                            f"{self._before}",
                            hint=f"raise `{name}` to go on",
                        )
                    )
        for name in _RATES:
            if getattr(settings, name) is not None:
                shared[name] = getattr(settings, name) / count
        self.job = replace(self.job, settings={**self.job.settings, **shared})

    def _fill(self, run: JobRun) -> bool:
        """Sends batches, as many as there is room for; whether some are under way."""
        window = sum(threads + _WAITING for threads in self._workers().values())
        while len(self._under_way) < max(1, window) and run.report.stopped is None:
            rows = [self._again.popleft() for _ in range(min(BATCH_ROWS, len(self._again)))]
            while len(rows) < BATCH_ROWS and (row := run.take()) is not None:
                rows.append(row)
            if not rows and self._alone and not self._under_way:
                rows = [self._alone.popleft()]
            if not rows:
                break
            self._submit(run, rows)
        # Where the budget is spent, others still have their shares.
        if run.report.stopped is not None and not (run.report.budget_spent or self._is_stopped):
            self._is_stopped = True
            self._client.run(_stop, self.job.run, on_error="ignore")
        return bool(self._under_way)

    def _submit(self, run: JobRun, rows: list[Row]) -> None:
        # Never a name that an earlier attempt had: that may still be running.
        name = f"saft-{self.job.run}-{rows[0].number}-{os.urandom(4).hex()}"
        known = [row.number for row in rows if row.number in self._begun]
        entries = [entry for number in known for entry in run.store.entries_of(number)]
        batch = self._under_way[name] = Batch(name, rows, entries)
        future = self._client.submit(_answer, self.job, batch, key=name, pure=False, retries=0)
        future.add_done_callback(self._news.put)

    def _receive(self, run: JobRun) -> None:
        """Takes in what has come of workers; waits for some of it."""
        try:
            found = self._news.get(timeout=LOOK)
        except Empty:
            self._workers()  # tells when there is no scheduler any more
            return
        if isinstance(found, self._library.Future):
            self._take_in(run, found)
        else:  # an event, with its time
            self._hear(run, _Told(*found[1]))

    def _take_in(self, run: JobRun, found: Any) -> None:
        """Takes in what became of a batch."""
        batch, done = self._under_way[found.key], Outcomes()
        try:
            error = found.exception(timeout=_SECONDS_TO_CONNECT)
            if error is None:
                done = found.result(timeout=_SECONDS_TO_CONNECT)
                found.release()
        except TimeoutError:
            # Its worker has died with the result, and another one does the batch anew.
            found.add_done_callback(self._news.put)
            self._workers()
            return
        del self._under_way[batch.name]
        run.under_way.pop(batch.name, None)
        lost = error if isinstance(error, self._library.scheduler.KilledWorker) else None
        if isinstance(error, SaftError):
            raise error
        if error is not None and lost is None:
            raise RunStopped(f"a worker cannot go on: {type(error).__name__}: {error}") from error
        run.store.take_in(_journal_path(self.job, batch))
        for number, outcome in done.items():
            run.end(number, outcome)
        left = [row for row in batch.rows if row.number not in done]
        self._begun.update(row.number for row in left)
        if lost is None:
            self._again.extend(left)
        elif len(left) > 1 or len(run.store.entries_of(left[0].number)) > len(batch.entries):
            self._alone.extend(left)
        else:
            times = lost.allowed_failures + 1
            run.give_up(left[0], f"its process ended {times} times while it ran alone")

    def _hear(self, run: JobRun, told: _Told) -> None:
        """Keeps what a worker elsewhere was answered, and confirms that where it waits for it."""
        run.store.journal.merge_rows(told.entries)
        batch = self._under_way.get(told.batch)
        if told.waits is not None:
            known = list[Any]()
            if batch is not None and not told.entries:  # it begins, maybe in place of another one
                known = batch.entries
                if batch.name in self._seen:
                    known = [one for row in batch.rows for one in run.store.entries_of(row.number)]
                self._seen.add(batch.name)
            self._client.run(_confirm, told.waits, known, workers=[told.worker], wait=False)
        if batch is not None and told.spent is not None:
            run.under_way[told.batch] = told.ended
            self._spent[told.worker] = Spent(*told.spent)
            run.report.spent = replace(self._before)
            for one in self._spent.values():
                run.report.spent.add(one)

    def _start(self, workers: int | None, address: str | None) -> None:
        block, library = self._block, self._library
        os.makedirs(os.path.join(self.job.folder, WORKERS), mode=0o700, exist_ok=True)
        # Who sees this can keep journals there.
        with open(_token(self.job), "xb"):
            block.callback(os.unlink, _token(self.job))
        block.enter_context(library.utils.silence_logging_cmgr(logging.CRITICAL))
        security = None
        options: dict[str, Any] = {
            "distributed.admin.low-level-log-length": _MESSAGES_KEPT,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            "distributed.scheduler.allowed-failures": _MOST_LOST - 1,
        }
        block.enter_context(importlib.import_module("dask.config").set(options))
        if address is not None and not address.startswith(_TRUSTED):
            note(
                f"{address} is not a tls:// address: anyone who can connect to it, on this machine "
                "or from another one, can run code as you; docs/scale.md says how to close it"
            )
        with self._guarded():
            if workers is not None:
                security = _security(library)
                cluster = library.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1 + -(-self.job.rows_at_once // BATCH_ROWS),
                    dashboard_address=None,
                    # Of its web server, which it has all the same: another job may be here.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,
                    preload=[__name__],
                    security=security,
                    # Where workers keep what they read again as it is, without looking at it.
                    local_directory=block.enter_context(
                        tempfile.TemporaryDirectory(prefix="saft-", ignore_cleanup_errors=True)
                    ),
                )
                block.callback(cluster.close)
                address = cluster.scheduler_address
            self._client = library.Client(
                address, timeout=_SECONDS_TO_CONNECT, set_as_default=False, security=security
            )
            block.callback(self._client.close)
            self._client.subscribe_topic(_topic(self.job), self._news.put)
        self._check()

    def _look_at_workers(self) -> dict[str, Any]:
        """What each worker reports of itself; one that is lost just then may be started again."""
        left = _LOOKS
        while True:
            with self._guarded():
                found: dict[str, Any] = self._client.run(_look, self.job, on_error="return")
            left -= 1
            if not left or not any(isinstance(told, OSError) for told in found.values()):
                return found
            time.sleep(_BETWEEN_LOOKS)

    def _check(self) -> None:
        """ConfigError with what workers lack, and which."""
        found = self._look_at_workers()
        if not found:
            raise ConfigError(f"the cluster {self._address} has no workers")
        own, wrong = _versions(), list[str]()
        for worker, told in found.items():
            if isinstance(told, BaseException):
                wrong.append(f"{worker}: {type(told).__name__}: {told}")
                continue
            versions, problem = told
            others = [
                f"{name} {versions[name]}, here {own[name]}"
                for name in own
                if versions[name] != own[name]
            ]
            if others or problem:
                wrong.append(f"{worker}: {problem or ', '.join(others)}")
        if wrong:
            raise ConfigError("\n".join(wrong), hint="the workers need what this process has")

    def _workers(self) -> dict[str, int]:
        """The threads of each worker, as they were a moment ago."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOKED_FOR:
            with self._guarded():
                self._threads = self._client.nthreads()
            self._looked_at = now
        return self._threads

    @contextmanager
    def _guarded(self) -> Generator[None]:
        """Raises one error for all that may come of a scheduler that goes away."""
        gone = (
            concurrent.futures.CancelledError,
            TimeoutError,
            OSError,  # CommClosedError, too
            self._library.client.ClosedClientError,
        )
        try:
            yield
        except SaftError:
            raise
        except gone as error:
            raise RunStopped(
                f"the scheduler {self._address} went away, or does not answer",
                hint="what was answered is kept: run the same command again to resume",
            ) from error


def dask_setup(_: object) -> None:
    """In a worker that was started here: Ctrl-C is for the process that the command is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _imported() -> Any:
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask"):
            raise
        raise ConfigError(
            "workers and clusters need the package distributed", hint="pip install distributed"
        ) from None


def _security(library: Any) -> Any:
    """Certificates of this run, which exist in memory alone."""
    try:
        return library.Security.temporary()
    except ImportError:
        raise ConfigError(
            "workers need the package cryptography, so that no one else can control them",
            hint="pip install cryptography",
        ) from None


def _settings() -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in force, for other processes: those of the program, and those around it.

    Keys are in the environment of those processes.
    """
    found = current_settings()
    held = secret_in(json.dumps(found, default=str))
    if held is not None:
        raise ConfigError(
            f"a setting holds something like a key ({held}), which would be sent to the workers",
            hint="`api_key_env` names a variable of their environment",
        )
    given = given_here(None)
    own = {name: value for name, value in found.items() if name in given}
    return own, {name: value for name, value in found.items() if name not in given}


def _importable(function: Script | Function) -> Script | Function:
    """The function as other processes can have it: of a program, by the program's text."""
    main = sys.modules["__main__"]
    path, name = getattr(main, "__file__", None), getattr(function, "__qualname__", "")
    if path is None or not name or getattr(main, name, None) is not function:
        return function  # Dask has it imported, or sends what it is made of
    with open(path, encoding="utf-8") as file:
        return Script(
            (Module(os.path.splitext(os.path.basename(path))[0], file.read()),), name, os.getcwd()
        )


def _topic(job: Job) -> str:
    return f"saft-{job.run}"


def _token(job: Job) -> str:
    """What workers see the folder by."""
    return os.path.join(job.folder, WORKERS, f"{job.run}.tmp")


def _journal_path(job: Job, batch: Batch) -> str:
    return os.path.join(job.folder, WORKERS, f"{batch.name}.journal")


def _versions() -> dict[str, str]:
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "saftc-runtime": __version__,
        "openai": importlib.import_module("importlib.metadata").version("openai"),
    }


# In a worker


class _Told(NamedTuple):
    """What a worker tells of a batch: rows for the journal, by which name somebody waits until they
    are kept, how many rows have ended and failed, and what the process has spent.
    """

    worker: str
    batch: str
    entries: list[Any]
    waits: str | None
    ended: tuple[int, int]
    spent: list[Any] | None


_stopped: set[str] = set()
_waiting: dict[str, SimpleQueue[list[Any]]] = {}
# By the run: what its rows have in force here, and how many of them may be under way.
_contexts: dict[str, tuple[Context, threading.Semaphore]] = {}
_blocks: list[ExitStack] = []
_beginning = threading.Lock()


def _stop(run: str) -> None:
    _stopped.add(run)


async def _confirm(name: str, entries: list[Any]) -> None:
    """Tells a thread that what it has sent is kept, and what was kept before."""
    if name in _waiting:
        _waiting[name].put(entries)


def _look(job: Job) -> tuple[dict[str, str], str | None]:
    """The versions here, and why the job cannot run here."""
    problem = None
    try:
        with configured_here(job.settings, job.around), keep_function(job.function) as function:
            function_tool(job.name, function)
            live_provider(settings_for())
    except Exception as error:
        problem = str(error) if isinstance(error, SaftError) else f"{type(error).__name__}: {error}"
    return _versions(), problem


def _answer(job: Job, batch: Batch) -> Outcomes:
    """Answers the rows of a batch, until that is done or no longer wanted."""
    context, places = _context_of(job)
    return context.copy().run(_answer_here, job, batch, places)


def _context_of(job: Job) -> tuple[Context, threading.Semaphore]:
    """What all batches of the run share in this process: settings, spending, rows at once."""
    with _beginning:
        if job.run not in _contexts:
            context = copy_context()
            context.run(_enter, job)
            _contexts[job.run] = context, threading.Semaphore(job.rows_at_once)
        return _contexts[job.run]


def _enter(job: Job) -> None:
    """Has settings and spending of the job in force in this context, which nobody leaves."""
    block = ExitStack()
    settings = {**job.settings, "max_in_flight": job.rows_at_once}
    if job.row_timeout is not None:
        settings["timeout"] = min(job.settings.get("timeout", job.row_timeout), job.row_timeout)
    block.enter_context(spending_apart())
    block.enter_context(configured_here(settings, job.around))
    _blocks.append(block)


def _answer_here(job: Job, batch: Batch, places: threading.Semaphore) -> Outcomes:
    rows = _WorkerRows(job, batch, places)
    with ExitStack() as block:
        path = _journal_path(job, batch)
        is_near = os.path.exists(_token(job)) and job.host == socket.gethostname()
        if is_near:
            wait_until_free(path)
        else:
            own = block.enter_context(tempfile.TemporaryDirectory(prefix="saft-"))
            path = os.path.join(own, "rows.journal")
        journal = Journal(path, job.name)
        block.enter_context(keeping_in(journal))
        if not journal.read("select 1 from entry where key is not null limit 1"):
            # And not where another worker has gone on with them.
            journal.merge_rows(batch.entries if is_near else rows.ask([]))
        journal.listener = None if is_near else rows.send
        block.enter_context(whole_lines())
        function = block.enter_context(keep_function(job.function))
        threads = RowThreads(job, function, rows.take, rows.end)
        threads.start(len(batch.rows))
        while threads.wait(LOOK):
            rows.tell()
    rows.tell()
    return rows.done


class _WorkerRows:
    """The rows of a batch in the process of a worker."""

    def __init__(self, job: Job, batch: Batch, places: threading.Semaphore) -> None:
        self.done = Outcomes()
        self._job = job
        self._batch = batch
        self._places = places
        self._rows = iter(batch.rows)
        self._lock = threading.Lock()
        self._worker = _imported().get_worker()
        self._key = self._worker.get_current_task()
        self._spending = spending_here()
        self._is_stopped = False

    def take(self) -> Row | None:
        """The next row, when another may be under way in this process."""
        while not self._places.acquire(timeout=LOOK):
            if not self._is_wanted():
                return None
        with self._lock:
            may_begin = self._is_wanted() and not self._is_stopped
            row = next(self._rows, None) if may_begin else None
        if row is None:
            self._places.release()
        return row

    def end(self, number: int, outcome: Outcome) -> None:
        """Notes what became of a row."""
        self._places.release()
        self._is_stopped = self._is_stopped or outcome.stop is not None
        self.done[number] = outcome

    def tell(self, entries: list[Any] | None = None, waits: str | None = None) -> None:
        """Tells the job what there is to be kept, or how far the batch is."""
        outcomes = list(self.done.values())
        ended = len(outcomes), sum(one.status == "failed" for one in outcomes)
        spent = None if entries or waits else list(astuple(spent_of(self._spending.sent())))
        told = _Told(self._worker.address, self._batch.name, entries or [], waits, ended, spent)
        self._worker.log_event(_topic(self._job), list(told))

    def send(self, entries: list[Any]) -> None:
        """Sends entries to the job; before a call of a tool, it waits until they are kept."""
        if any(map(_begins_call, entries)):
            self.ask(entries)
        else:
            self.tell(entries)

    def ask(self, entries: list[Any]) -> list[Any]:
        """Sends entries and waits until they are kept; without any, gives those of before."""
        name = os.urandom(8).hex()
        kept = _waiting[name] = SimpleQueue[list[Any]]()
        self.tell(entries, name)
        while True:
            with suppress(Empty):
                found = kept.get(timeout=LOOK)
                del _waiting[name]
                return found
            if not self._is_wanted():
                raise RunStopped("the job has ended, or is not heard of any more")

    def _is_wanted(self) -> bool:
        # When its client or the scheduler has gone, the task is not there, or not executing.
        task = self._worker.state.tasks.get(self._key)
        is_running = task is not None and task.state == "executing"
        is_here = self._worker.status.name == "running"
        return is_running and is_here and self._job.run not in _stopped


def _begins_call(entry: Any) -> bool:
    """Whether an entry of a journal says that a tool is about to be called."""
    data = json.loads(entry[4])
    return "tool" in data and "ms" not in data
