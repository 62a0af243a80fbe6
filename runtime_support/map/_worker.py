"""A batch of rows in the process of a worker, which asks the process of the job for all that it has
to have, and keeps nothing: each entry is in the file of the job before the row goes on.
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
from runtime_support._core.settings import configured_here, settings_for
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

# How often it is looked whether the batch is wanted still, in seconds.
_LOOK = 0.1


class Told(NamedTuple):
    """What an attempt at a batch tells the job: entries for its journal, what became of rows, and
    what was spent. A thread may wait for the answer, by that name.
    """

    worker: str
    batch: str
    attempt: str
    entries: Sequence[Any]
    outcomes: Mapping[int, Outcome]
    spent: Spent
    waits: str | None


class Granted(NamedTuple):
    """What an attempt begins with: what the batch may take of budgets and rates, the rows that have
    not ended, and what the journal has of them.
    """

    settings: Mapping[str, Any]
    rows: list[Row]
    entries: list[Any]


_answers: dict[str, SimpleQueue[Any]] = {}
_stopped: set[str] = set()
# How many rows of a run may be under way in this process, with all of its batches.
_places: dict[str, threading.Semaphore] = {}


def dask_setup(_: object) -> None:
    """In a worker that was started here: Ctrl-C is for the process that the command is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop(run: str) -> None:
    """Has no row of the run begin here any more."""
    _stopped.add(run)


async def take_answers(answers: Mapping[str, Any]) -> None:
    """Hands the answers of the job to the threads that wait for them."""
    for name in answers.keys() & _answers.keys():
        _answers[name].put(answers[name])


def look(job: Job, wanted: Mapping[str, str]) -> str | None:
    """Why the job cannot run here, where it cannot; `wanted` are the versions that it needs."""
    others = [
        f"{name} {here} instead of {wanted[name]}"
        for name, here in versions().items()
        if here != wanted[name]
    ]
    if others:
        return f"it has {', '.join(others)}"
    try:
        with configured_here(job.settings, job.around), load_function(job.function) as function:
            function_tool(job.name, function)
            live_provider(settings_for())
    except Exception as error:
        return str(error) if isinstance(error, SaftError) else f"{type(error).__name__}: {error}"
    return None


def versions() -> dict[str, str]:
    """What has to be the same in all processes of a job."""
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "saftc-runtime": __version__,
        "openai": importlib.import_module("importlib.metadata").version("openai"),
    }


def answer_batch(job: Job, batch: str) -> None:
    """Answers the rows of a batch, until that is done or no longer wanted."""
    with ExitStack() as block:
        link = _Link(job.run, batch, block)
        granted = link.ask()
        settings = {**job.settings, **granted.settings}
        block.enter_context(configured_here(settings, job.around))
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
    """From an attempt at a batch to the process of the job."""

    def __init__(self, run: str, batch: str, block: ExitStack) -> None:
        self._run, self._batch = run, batch
        self._worker = importlib.import_module("distributed").get_worker()
        self._task = self._worker.get_current_task()
        self._attempt = secrets.token_hex(8)
        self._spending = block.enter_context(spending_apart())

    def is_wanted(self) -> bool:
        """Whether more rows are to begin."""
        return self._run not in _stopped and self._is_heard()

    def _is_heard(self) -> bool:
        """Whether somebody waits for the batch: when its client or the scheduler has gone, the task
        is not there, or not executing.
        """
        task = self._worker.state.tasks.get(self._task)
        is_running = task is not None and task.state == "executing"
        return is_running and self._worker.status.name == "running"

    def tell(
        self,
        entries: Sequence[Any] = (),
        outcomes: Mapping[int, Outcome] | None = None,
        waits: str | None = None,
    ) -> None:
        """Tells the job what there is."""
        at = self._worker.address, self._batch, self._attempt
        told = Told(*at, entries, outcomes or {}, spent_of(self._spending.sent()), waits)
        self._worker.log_event(self._run, pickle.dumps(told))

    def ask(self, entries: Sequence[Any] = ()) -> Any:
        """The answer of the job, which has kept these then; the first one is a `Granted`."""
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
        raise RunStopped("the job has ended, or has these rows answered elsewhere")
