"""Runs rows in batches on Dask workers: processes that are started here, or those of a cluster.

Dask assigns the batches to workers, and reassigns them when a worker dies. The number of batches
that run at once depends on the number of workers. Any call to the scheduler may fail at any time:
it then raises RunStopped, and the same command resumes the job.

Workers send journal entries and outcomes of rows as Dask events. This process replies once it has
stored them: so a lost worker loses only the rows that were running.

Whoever can connect to a scheduler can run code as its owner. So a cluster that is started here uses
TLS, with a certificate for this run only, and serves nothing over HTTP.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import json
import logging
import os
import pickle
import secrets
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any

from runtime_support._budgets import Spent
from runtime_support._core.notes import note
from runtime_support._core.redaction import secret_in
from runtime_support._core.settings import settings_for, settings_in_force
from runtime_support._core.settings.configuration import current_settings
from runtime_support._values.kinds import is_tuple
from runtime_support.errors import BudgetSpent, ConfigError, RunStopped, SaftError
from runtime_support.map import _worker as worker
from runtime_support.map._runner import LOOK, JobRun
from runtime_support.map._script import Function, Job, Module, Script
from runtime_support.map._store import Outcome, Row
from runtime_support.map._worker import BatchGrant, WorkerMessage

BATCH_ROWS = 20
# How many batches wait at a worker, besides one running in each of its threads.
_WAITING = 2
_LOOKED_FOR = 1.0
_SECONDS_TO_CONNECT = 30
# How many threads send replies to workers.
_SPEAKERS = 8
# How many messages Dask keeps in its log, which contain replies of models.
_MESSAGES_KEPT = 20
# After a batch has lost this many workers, its rows are tried one at a time; a row that was tried
# alone fails. A cluster that was not started here has its own number.
_MOST_LOST = 3
# Schemes with which only holders of a certificate, or this process, can connect.
_TRUSTED = ("tls://", "wss://", "inproc://")
_BUDGETS = {"budget_requests": "requests", "budget_tokens": "tokens", "budget_cost": "cost"}
_RATES = ("requests_per_minute", "tokens_per_minute")


@dataclass(slots=True)
class _Batch:
    """A batch, with those of its rows that have not ended.

    `attempts` has an id for each time that a worker began the batch; only the last attempt counts.
    `is_alone` is true if the batch has a single row, which runs alone as it may crash its worker.
    `shares` is how much of each budget the batch may spend; `has_last_share` is true if no other
    batch has a share.
    """

    rows: dict[int, Row]
    since: int
    is_alone: bool
    attempts: list[str] = field(default_factory=list[str])
    shares: dict[str, Any] = field(default_factory=dict[str, Any])
    has_last_share: bool = False
    is_spent: bool = False
    spent: Spent = field(default_factory=Spent)


class Dask:
    """The workers of a job; raises ConfigError if the workers cannot run the job."""

    def __init__(self, job: Job, workers: int | None, address: str | None) -> None:
        self._library = distributed()
        self._address = address or "of this job"
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._under_way: dict[str, _Batch] = {}
        # How many batches may run at once; lowered when a budget is short.
        self._most = sys.maxsize
        self._threads: dict[str, int] = {}
        # Rows that were started before, and so may have journal entries.
        self._begun: set[int] = set()
        # What the job has spent, without the running batches.
        self._spent = Spent()
        self._is_stopped = False
        self._looked_at = float("-inf")
        if address is not None and (os.environ.get("SAFT_REPLAY") or os.environ.get("SAFT_RECORD")):
            raise ConfigError("a recording is on this machine: a cluster would ask the model")
        settings, around = _settings()
        function, run = _importable(job.function), f"saft-{secrets.token_hex(6)}"
        self.job = replace(job, function=function, run=run, settings=settings, around=around)
        self._block = ExitStack()
        try:
            self._start(workers, address)
        except BaseException:
            self.close()
            raise

    def work(self, run: JobRun) -> Generator[None]:
        """Sends the rows to workers, and stores the outcomes that they send."""
        self._spent = replace(run.report.spent)
        self._begun = run.store.begun_rows()
        with self._guarded():
            while self._fill(run):
                self._receive(run)
                run.report.spent = self._spent_so_far()
                yield

    def _spent_so_far(self) -> Spent:
        total = replace(self._spent)
        for batch in self._under_way.values():
            total.add(batch.spent)
        return total

    def close(self) -> None:
        """Disconnects from the cluster; ends workers that were started here."""
        with suppress(Exception):
            self._block.close()

    def _fill(self, run: JobRun) -> bool:
        """Submits as many batches as the workers have room for.

        Returns True if batches are running.
        """
        threads = self._workers()
        run.processes = max(1, len(threads))
        room = sum(threads.values()) + _WAITING * len(threads)
        while len(self._under_way) < max(1, min(room, self._most)):
            rows, is_alone = run.take(BATCH_ROWS, has_running=bool(self._under_way))
            if not rows:
                break
            # A name that no earlier batch had, as an earlier batch may still be running.
            name = f"{self.job.run}-{rows[0].number}-{secrets.token_hex(4)}"
            numbered = {row.number: row for row in rows}
            self._under_way[name] = _Batch(numbered, run.store.last_entry, is_alone)
            future = self._client.submit(
                worker.answer_batch, self.job, name, key=name, pure=False, retries=0
            )
            future.add_done_callback(self._news.put)
        if run.report.stopped is not None and not self._is_stopped:
            self._is_stopped = True
            self._client.run(worker.stop, self.job.run, on_error="ignore")
        return bool(self._under_way)

    def _receive(self, run: JobRun) -> None:
        """Handles messages of workers and ends of batches.

        Waits up to `LOOK` seconds for the first message or end.
        """
        news = list[Any]()
        with suppress(Empty):
            news.append(self._news.get(timeout=LOOK))
            while True:
                news.append(self._news.get_nowait())
        # Dask's events are pairs of a time and the message; all else are futures.
        self._hear(run, [pickle.loads(one[1]) for one in news if is_tuple(one)])
        for future in (one for one in news if not is_tuple(one)):
            self._finish(run, future)

    def _hear(self, run: JobRun, told: Sequence[WorkerMessage]) -> None:
        """Stores the content of messages, and replies to the threads that wait for a reply.

        The reply is None if another attempt has replaced the attempt that sent the message.
        """
        current = [one for one in told if self._counts(one)]
        run.store.journal.merge_rows([entry for one in current for entry in one.entries])
        answers = dict[str, Any]()
        for one in told:
            batch, answer = self._under_way.get(one.batch), None
            if batch is not None and one.attempt not in batch.attempts:
                answer = self._begin(run, batch, one.attempt)
            elif batch is not None and self._counts(one):
                self._take_in(run, batch, one)
                answer = True
            if one.waits is not None:
                answers[one.waits] = answer
        if answers:
            workers = list({one.worker for one in told})
            options: dict[str, Any] = {"workers": workers, "wait": False, "on_error": "ignore"}
            # A worker that hangs blocks one of these threads, not the job.
            self._speakers.submit(self._client.run, worker.take_answers, answers, **options)

    def _counts(self, told: WorkerMessage) -> bool:
        batch = self._under_way.get(told.batch)
        return batch is not None and batch.attempts[-1:] == [told.attempt]

    def _begin(self, run: JobRun, batch: _Batch, attempt: str) -> BatchGrant:
        """Registers an attempt of a worker at a batch, and returns the grant for the attempt.

        The grant has the settings, the remaining rows and their journal entries.
        """
        self._spent.add(batch.spent)
        batch.spent = Spent()
        batch.attempts.append(attempt)
        known = self._begun & batch.rows.keys()
        entries = [entry for number in sorted(known) for entry in run.store.entries_of(number)]
        self._begun |= batch.rows.keys()
        rows = [] if run.report.stopped is not None else list(batch.rows.values())
        return BatchGrant(self._share(batch), rows, entries)

    def _share(self, batch: _Batch) -> dict[str, Any]:
        """The shares of the rates and of the remaining budgets that a batch gets, as settings.

        Each worker gets an equal share of the rates. The part of a budget that is neither spent nor
        reserved for running batches is divided equally among the batches that may still start.
        """
        settings, threads = settings_for(), self._workers()
        others = [one for one in self._under_way.values() if one.attempts and one is not batch]
        free = max(1, min(sum(threads.values()), self._most) - len(others))
        batch.has_last_share = free == 1 and not others
        for name, what in _BUDGETS.items():
            most = getattr(settings, name)
            if most is not None:
                taken = sum(max(one.shares[name], getattr(one.spent, what)) for one in others)
                left = max(0, most - getattr(self._spent, what) - taken)
                batch.shares[name] = left / free if name == "budget_cost" else left // free
        given, count = {name: getattr(settings, name) for name in _RATES}, max(1, len(threads))
        rates = {name: one / count for name, one in given.items() if one is not None}
        return {**batch.shares, **rates}

    def _take_in(self, run: JobRun, batch: _Batch, told: WorkerMessage) -> None:
        """Records the outcomes that a message contains for rows of the batch."""
        batch.spent = told.spent
        for number, outcome in told.outcomes.items():
            if isinstance(outcome.stop, BudgetSpent):
                batch.is_spent = not batch.has_last_share
                said = "the next request would pass the budget of the job; spent so far: "
                spent = BudgetSpent(f"{said}{self._spent_so_far()}", hint=outcome.stop.hint)
                outcome = Outcome("open", {}, None if batch.is_spent else spent)
            if outcome.status != "open":
                del batch.rows[number]
                self._begun.discard(number)
            run.end(number, outcome)

    def _finish(self, run: JobRun, future: Any) -> None:
        """Handles the end of a batch. Its remaining rows start again, become suspects, or fail.

        Suspects are rows that may crash their worker. They run one at a time.
        """
        batch = self._under_way.pop(future.key)
        self._spent.add(batch.spent)
        left = list(batch.rows.values())
        error = future.exception() if future.status in ("error", "cancelled") else None
        if batch.is_spent:  # with fewer batches, each has a larger share
            self._most = max(1, min(self._most, sum(self._workers().values())) // 2)
        if error is None:
            run.again.extend(left)
        elif not isinstance(error, self._library.scheduler.KilledWorker):
            if isinstance(error, SaftError | concurrent.futures.CancelledError):
                raise error
            raise RunStopped(f"a worker has to stop: {type(error).__name__}: {error}") from error
        elif batch.is_alone and left and not run.store.has_new(batch.since, left[0].number):
            run.give_up(left[0], error.allowed_failures + 1)
        else:
            run.suspects.extend(left)

    def _start(self, workers: int | None, address: str | None) -> None:
        block, library = self._block, self._library
        block.enter_context(library.utils.silence_logging_cmgr(logging.CRITICAL))
        security = None
        options: dict[str, Any] = {
            "distributed.admin.low-level-log-length": _MESSAGES_KEPT,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            "distributed.scheduler.allowed-failures": _MOST_LOST - 1,
            # The profiler reads the frames of all threads; while it does, Python 3.11 may hang if
            # another thread starts.
            "distributed.worker.profile.enabled": False,
        }
        block.enter_context(importlib.import_module("dask.config").set(options))
        if address is not None and not address.startswith(_TRUSTED):
            note(
                f"{address} is not a tls:// address: anyone who can connect to it, on this machine "
                "or from another one, can run code as you; docs/scale.md says how to close it"
            )
        self._speakers = concurrent.futures.ThreadPoolExecutor(_SPEAKERS)
        block.callback(self._speakers.shutdown, wait=False)
        with self._guarded():
            if workers is not None:
                security = _security(library)
                address = self._start_cluster(workers, security)
            self._client = library.Client(
                address, timeout=_SECONDS_TO_CONNECT, set_as_default=False, security=security
            )
            block.callback(self._client.close)
            self._client.subscribe_topic(self.job.run, self._news.put)
            self._check()

    def _start_cluster(self, workers: int, security: Any) -> str:
        """Starts worker processes on this machine; returns the address of their scheduler."""
        # A private folder, as workers load the files in it without checking them.
        folder = tempfile.TemporaryDirectory(prefix="saft-", ignore_cleanup_errors=True)
        try:
            cluster = self._library.LocalCluster(
                n_workers=workers,
                threads_per_worker=1 + -(-self.job.rows_at_once // BATCH_ROWS),
                dashboard_address=None,
                # Its web server always starts: on any free port, as another job may run here.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                preload=[worker.__name__],
                security=security,
                local_directory=self._block.enter_context(folder),
            )
        except RuntimeError as error:
            raise RunStopped(
                f"a worker ended while it was starting: {error}",
                hint="run the same command again to resume",
            ) from error
        self._block.callback(cluster.close)
        return cluster.scheduler_address

    def _check(self) -> None:
        """Raises ConfigError if the cluster has no workers, or if some workers cannot run the job.

        Workers that were just lost are ignored.
        """
        given = self.job, worker.versions()
        found: dict[str, Any] = self._client.run(worker.look, *given, on_error="return")
        wrong = [
            f"{address}: {lacks}"
            for address, lacks in found.items()
            if lacks is not None and not isinstance(lacks, OSError)
        ]
        if not found:
            raise ConfigError(f"the cluster {self._address} has no workers")
        if wrong:
            raise ConfigError("\n".join(wrong), hint="install on the workers what this process has")

    def _workers(self) -> dict[str, int]:
        """Maps the address of each worker to its number of threads.

        The numbers are at most `_LOOKED_FOR` seconds old.
        """
        now = time.monotonic()
        if now - self._looked_at >= _LOOKED_FOR:
            self._threads = self._client.nthreads()
            self._looked_at = now
        return self._threads

    @contextmanager
    def _guarded(self) -> Generator[None]:
        """Turns an error in the block into RunStopped if a lost scheduler may have caused it."""
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
                hint="the answers are kept: run the same command again to resume",
            ) from error


def distributed() -> Any:
    """Imports distributed; raises ConfigError with an installation hint if it is missing."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask"):
            raise
        raise ConfigError(
            "workers and clusters need the package distributed", hint="pip install distributed"
        ) from None


def _security(library: Any) -> Any:
    """Security settings with certificates for this run, which exist only in memory."""
    try:
        return library.Security.temporary()
    except ImportError:
        raise ConfigError(
            "workers need the package cryptography, so that no one else can control them",
            hint="pip install cryptography",
        ) from None


def _settings() -> tuple[dict[str, Any], dict[str, Any]]:
    """The present settings, for other processes.

    The first mapping has the settings that the program has set, and the second has all others.
    Raises ConfigError if a setting holds an API key, because workers take such keys from their own
    environment.
    """
    found = current_settings()
    held = secret_in(json.dumps(found, default=str))
    if held is not None:
        raise ConfigError(
            f"a setting holds something like a key ({held}), which would be sent to the workers",
            hint="`api_key_env` names a variable of their environment",
        )
    given = settings_in_force(None)
    own = {name: value for name, value in found.items() if name in given}
    return own, {name: value for name, value in found.items() if name not in given}


def _importable(function: Script | Function) -> Script | Function:
    """Returns the function in a form that other processes can load.

    A function of the main program becomes a Script; any other function is returned unchanged.
    """
    main = sys.modules["__main__"]
    path, name = getattr(main, "__file__", None), getattr(function, "__qualname__", "")
    if path is None or not name or getattr(main, name, None) is not function:
        return function  # Dask imports or pickles it
    with open(path, encoding="utf-8") as file:
        return Script(
            (Module(os.path.splitext(os.path.basename(path))[0], file.read()),), name, os.getcwd()
        )
