"""Chunks on the workers of Dask: some that are started here, or those of a cluster.

Dask places chunks, and brings them to other workers when one dies; how many are under way follows
the workers that there are. What is asked of the scheduler may fail at any time: that is one error
here, and the same command goes on later.

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
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple, replace
from queue import Empty, SimpleQueue
from typing import Any

from runtime_support._notes import note
from runtime_support._redaction import secret_in
from runtime_support._settings import configured_here, given_here, settings_for, snapshot
from runtime_support._tools import function_tool
from runtime_support._version import __version__
from runtime_support.errors import ConfigError, RunStopped, SaftError
from runtime_support.providers import live_provider
from runtime_support.runs._budgets import Spent
from runtime_support.scale._chunk import Chunk, ChunkProgress, Done, run_chunk
from runtime_support.scale._job import Function, Job, Module, Script, keep_function
from runtime_support.scale._mapping import Lost

# So many chunks wait at a worker, beside one under way for each of its threads.
_WAITING = 2
_LOOKED_FOR = 1.0
_SECONDS_TO_CONNECT = 30
# Dask keeps the last messages, in which the rows travel.
_MESSAGES_KEPT = 20
# Where only those with a certificate, or in this process, are heard.
_TRUSTED = ("tls://", "wss://", "inproc://")
# How often workers are looked at that are lost just then, and the seconds between.
_LOOKS = 5
_BETWEEN_LOOKS = 1.0


class Dask:
    """An engine: see `_mapping.Engine`. ConfigError when its workers cannot do the job."""

    def __init__(self, job: Job, workers: int | None, address: str | None) -> None:
        self._library = _imported()
        self._address = address or "of this job"
        self._over: SimpleQueue[Any] = SimpleQueue()
        self._chunks: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self._tallies: dict[int, ChunkProgress] = {}
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

    @property
    def is_here(self) -> bool:
        """Whether a row that ends its process ends the job."""
        return False

    @property
    def processes(self) -> int:
        """How many share the rates."""
        return max(1, len(self._workers()))

    @property
    def window(self) -> int:
        """How many chunks are to be under way."""
        return sum(threads + _WAITING for threads in self._workers().values())

    def submit(self, chunk: Chunk) -> None:
        """Sends the chunk to some worker."""
        # Never one that an earlier attempt had: that may still be running.
        key = f"saft-{self.job.run}-{chunk.number}-{os.urandom(4).hex()}"
        self._chunks[key] = chunk.number
        with self._guarded():
            future = self._client.submit(_run, self.job, chunk, key=key, pure=False, retries=0)
            future.add_done_callback(self._over.put)

    def take(self, seconds: float) -> Done | Lost | None:
        """The next chunk that is over; None when there is none so long."""
        try:
            future = self._over.get(timeout=seconds)
        except Empty:
            self._workers()  # tells when there is no scheduler any more
            return None
        done: Done | None = None
        with self._guarded():
            try:
                error = future.exception(timeout=_SECONDS_TO_CONNECT)
                if error is None:
                    done = future.result(timeout=_SECONDS_TO_CONNECT)
            except TimeoutError:
                # Its worker has died with the result, and another one does the chunk anew.
                future.add_done_callback(self._over.put)
                self._workers()
                return None
        number = self._chunks.pop(future.key)
        self._tallies.pop(number, None)
        if error is None:
            future.release()
            return done
        if isinstance(error, self._library.scheduler.KilledWorker):
            return Lost(number, f"its workers died, {error.allowed_failures + 1} times")
        if isinstance(error, SaftError):
            raise error
        raise RunStopped(f"a worker cannot go on: {type(error).__name__}: {error}") from error

    def tallies(self) -> dict[int, ChunkProgress]:
        """How far the chunks under way are."""
        here = set(self._chunks.values())  # and not one that is reported late
        return {number: tally for number, tally in [*self._tallies.items()] if number in here}

    def stop(self) -> None:
        """Stops the chunks from beginning new rows."""
        with self._guarded():
            self._client.run(_stop, self.job.run, on_error="ignore")

    def close(self) -> None:
        """Lets the cluster go; workers that were started here end."""
        with suppress(Exception):
            self._block.close()

    def _start(self, workers: int | None, address: str | None) -> None:
        block, library = self._block, self._library
        os.makedirs(self.job.journals, mode=0o700, exist_ok=True)
        # Who sees this can keep journals there.
        with open(_token(self.job), "xb"):
            block.callback(os.unlink, _token(self.job))
        block.enter_context(library.utils.silence_logging_cmgr(logging.CRITICAL))
        security = None
        options: dict[str, Any] = {
            "distributed.admin.low-level-log-length": _MESSAGES_KEPT,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
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
                    threads_per_worker=self.job.at_once,
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
            self._client.subscribe_topic(_topic(self.job), self._hear)
        self._check()

    def _hear(self, event: tuple[float, tuple[int, int, int, list[Any]]]) -> None:
        """Takes in how far a chunk is, as its worker has told."""
        number, rows, failed, spent = event[1]
        self._tallies[number] = ChunkProgress(rows, failed, Spent(*spent))

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
            versions, problem, _ = told
            others = [
                f"{name} {versions[name]}, here {own[name]}"
                for name in own
                if versions[name] != own[name]
            ]
            if others or problem:
                wrong.append(f"{worker}: {problem or ', '.join(others)}")
        if wrong:
            raise ConfigError("\n".join(wrong), hint="the workers need what this process has")
        if not all(sees for _, _, sees in found.values()):
            note(
                f"workers do not see {self.job.journals}: one that is lost repeats the rows of its "
                "unfinished chunks"
            )

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
    found = snapshot()
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
    return os.path.join(job.journals, f"{job.run}.tmp")


def _versions() -> dict[str, str]:
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "saftc-runtime": __version__,
        "openai": importlib.import_module("importlib.metadata").version("openai"),
    }


# In a worker

_stopped: set[str] = set()


def _stop(run: str) -> None:
    _stopped.add(run)


def _look(job: Job) -> tuple[dict[str, str], str | None, bool]:
    """The versions here, why the job cannot run here, and whether its journals can be kept."""
    problem = None
    try:
        with configured_here(job.settings, job.around), keep_function(job.function) as function:
            function_tool(job.part_of, function)
            live_provider(settings_for())
    except Exception as error:
        problem = str(error) if isinstance(error, SaftError) else f"{type(error).__name__}: {error}"
    return _versions(), problem, os.path.exists(_token(job))


def _run(job: Job, chunk: Chunk) -> Done:
    """Runs a chunk until it is done, or no longer wanted."""
    library = _imported()
    worker = library.get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        # When its client or the scheduler has gone, the task is not there, or not executing.
        task = worker.state.tasks.get(key)
        is_running = task is not None and task.state == "executing"
        return is_running and worker.status.name == "running" and job.run not in _stopped

    def tell(tally: ChunkProgress) -> None:
        spent = list(astuple(tally.spent))
        worker.log_event(_topic(job), [chunk.number, tally.rows, tally.failed, spent])

    with ExitStack() as block:
        if not os.path.exists(_token(job)):
            own = block.enter_context(tempfile.TemporaryDirectory(prefix="saft-"))
            job = replace(job, journals=own)
        return run_chunk(
            job, chunk, block.enter_context(keep_function(job.function)), is_wanted, tell
        )
