"""Runs a batch of rows in the process of a Dask worker.

The worker gets everything from the process of the job, and stores nothing itself: each journal
entry is in the job's file before its row continues.
"""

from __future__ import annotations

import importlib
import os
import pickle
import platform
import secrets
import signal
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from runtime_support._budgets import Spent, spending_apart, spent_of
from runtime_support._core.settings import settings_for
from runtime_support._core.settings.configuration import current_configuration
from runtime_support._core.tools import function_tool
from runtime_support._journal.hook import keeping_in
from runtime_support._journal.journal import Journal
from runtime_support._version import __version__
from runtime_support.errors import RunStopped, SaftError
from runtime_support.map._printing import wrap_streams
from runtime_support.map._rows import RunningRows
from runtime_support.map._script import Job, load_function
from runtime_support.map._store import Outcome, Row
from runtime_support.providers import live_provider

# How often a worker checks whether its batch is still wanted, in seconds.
_LOOK = 0.1


class WorkerMessage(NamedTuple):
    """A message to the job from an attempt at a batch.

    It has entries for the journal, outcomes of rows, and the usage of the attempt so far. `waits`
    is the key under which a thread waits for the reply, or None.
    """

    worker: str
    batch: str
    attempt: str
    entries: Sequence[Any]
    outcomes: Mapping[int, Outcome]
    spent: Spent
    waits: str | None


class BatchGrant(NamedTuple):
    """The job's first reply to an attempt at a batch.

    `settings` are the attempt's shares of budgets and rates, `rows` are the rows that have not
    ended, and `entries` are their journal entries.
    """

    settings: Mapping[str, Any]
    rows: list[Row]
    entries: list[Any]


_answers: dict[str, SimpleQueue[Any]] = {}
_stopped: set[str] = set()
# For each run, a semaphore that limits the rows in this process, over all batches.
_places: dict[str, threading.Semaphore] = {}


def dask_setup(_: object) -> None:
    """Ignores Ctrl-C in a worker that was started here: the process of the command handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop(run: str) -> None:
    """Stops the run in this process: no more rows start."""
    _stopped.add(run)


async def take_answers(answers: Mapping[str, Any]) -> None:
    """Passes the job's replies to the threads that wait for them."""
    for name in answers.keys() & _answers.keys():
        _answers[name].put(answers[name])


def look(job: Job, wanted: Mapping[str, str]) -> str | None:
    """The reason why the job cannot run in this process, or None if it can run.

    `wanted` are the versions in the process of the job, as `versions` returns them.
    """
    others = [
        f"{name} {here} instead of {wanted[name]}"
        for name, here in versions().items()
        if here != wanted[name]
    ]
    if others:
        return f"it has {', '.join(others)}"
    try:
        with (
            current_configuration(job.settings, job.around),
            load_function(job.function) as function,
        ):
            function_tool(job.name, function)
            live_provider(settings_for())
    except Exception as error:
        return str(error) if isinstance(error, SaftError) else f"{type(error).__name__}: {error}"
    return None


def versions() -> dict[str, str]:
    """The versions of Python and of packages, which must be equal in all processes of a job."""
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "saftc-runtime": __version__,
        "openai": importlib.import_module("importlib.metadata").version("openai"),
    }


def answer_batch(job: Job, batch: str) -> None:
    """Runs the rows of a batch until all have ended, or the batch is no longer wanted."""
    with ExitStack() as block:
        link = _Link(job.run, batch, block)
        granted = link.ask()
        settings = {**job.settings, **granted.settings}
        block.enter_context(current_configuration(settings, job.around))
        folder = block.enter_context(tempfile.TemporaryDirectory(prefix="saft-"))
        journal = Journal(os.path.join(folder, "rows.journal"), job.name)
        block.enter_context(keeping_in(journal))
        journal.merge_rows(granted.entries)
        journal.listener = link.ask
        wrap_streams()
        function = block.enter_context(load_function(job.function))
        places = _places.setdefault(job.run, threading.Semaphore(job.rows_at_once))
        running = RunningRows(job, function, places, link.is_wanted)
        block.callback(running.abandon)
        for row in granted.rows:
            running.start(row)
        while len(running):
            outcomes = dict(running.ended(_LOOK))
            if outcomes:
                link.tell(outcomes=outcomes)
        link.ask()


class _Link:
    """The connection from an attempt at a batch to the process of the job."""

    def __init__(self, run: str, batch: str, block: ExitStack) -> None:
        self._run, self._batch = run, batch
        self._worker = importlib.import_module("distributed").get_worker()
        self._task = self._worker.get_current_task()
        self._attempt = secrets.token_hex(8)
        self._spending = block.enter_context(spending_apart())

    def is_wanted(self) -> bool:
        """True if more rows of the batch may start."""
        return self._run not in _stopped and self._is_heard()

    def _is_heard(self) -> bool:
        """True if the job still waits for the batch.

        If the client or the scheduler has gone, Dask removes the task or no longer executes it. A
        worker that is short of memory is paused, and continues its tasks.
        """
        task = self._worker.state.tasks.get(self._task)
        is_running = task is not None and task.state == "executing"
        return is_running and self._worker.status.name in ("running", "paused")

    def tell(
        self,
        entries: Sequence[Any] = (),
        outcomes: Mapping[int, Outcome] | None = None,
        waits: str | None = None,
    ) -> None:
        """Sends journal entries and outcomes of rows to the job."""
        at = self._worker.address, self._batch, self._attempt
        told = WorkerMessage(*at, entries, outcomes or {}, spent_of(self._spending.sent()), waits)
        self._worker.log_event(self._run, pickle.dumps(told))

    def ask(self, entries: Sequence[Any] = ()) -> Any:
        """Sends journal entries, and returns the job's reply.

        The job replies once it has stored the entries; its first reply is a `BatchGrant`. Raises
        RunStopped if this attempt no longer counts.
        """
        name = secrets.token_hex(8)
        answer = _answers[name] = SimpleQueue[Any]()
        self.tell(entries, waits=name)
        try:
            while self._is_heard():
                with suppress(Empty):
                    if (found := answer.get(timeout=_LOOK)) is not None:
                        return found
                    break
        finally:
            del _answers[name]
        raise RunStopped("the job has ended, or another worker has these rows")
