"""Some rows in a process that may have several such chunks under way: what a worker does.

    run_chunk(job, chunk, function, is_wanted, tell)    Done: what each row gave, or what went wrong

A row is a call of the function as a tool. Its prompts are kept in the journal of the chunk, each
attempt at which has a file of its own: it goes on with what the earlier attempts have left.

No thread can be killed. So a row that has had its time fails, and its thread is replaced: it goes
on with the call, asks no model any more, and its result is dropped.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from types import FrameType
from typing import Any, NamedTuple

from runtime_support._jsontext import to_json
from runtime_support._language.failures import error_words
from runtime_support._order import Clock, abandoned, clock
from runtime_support._positions import is_ours
from runtime_support._redaction import redacted
from runtime_support._schema.checking import validate
from runtime_support._settings import configured_here, settings_for
from runtime_support._tools import Tool, bind_arguments, function_tool
from runtime_support._uncaught import position_of_error, position_of_frame
from runtime_support._values import plain
from runtime_support.errors import (
    AuthenticationFailed,
    BudgetSpent,
    ConfigError,
    ProviderError,
    RateLimited,
    ReplayMiss,
    RunStopped,
    RunWaiting,
    SaftError,
    printable,
)
from runtime_support.runs._budgets import Spent, is_of_block, spending_apart, spending_here
from runtime_support.runs._journal import join, remove
from runtime_support.runs._keeper import journaled_part
from runtime_support.runs._lines import Entry
from runtime_support.runs._places import scoped
from runtime_support.scale._columns import RESULT, fit_column, split_columns
from runtime_support.scale._job import Function, Job
from runtime_support.scale._output import cannot_write
from runtime_support.scale._printing import printing_apart, whole_lines

# How often a chunk tells how far it is, and looks for rows that have had their time, in seconds.
_LOOK = 0.5
# So many threads may still be busy with rows that have had their time.
MOST_LEFT = 500
_PYTHONS = os.path.dirname(os.__file__) + os.sep
# The kind of a row that has had its time.
ROW_TIMEOUT = "RowTimeout"

# The journal of an attempt, a copy that is not whole, and what workers see the folder by.
_JOURNAL = re.compile(r".+\.jsonl", re.DOTALL)
_TORN = re.compile(
    r"(\d{6,}\..+-\d+-[0-9a-f]{8}\.jsonl)(\.tmp(-journal|-wal|-shm)?|-journal|-wal|-shm|-lock)"
    r"|[0-9a-f]{12}\.tmp",
    re.DOTALL,
)

BUDGETS = {"max_requests": "requests", "max_total_tokens": "tokens", "max_cost": "cost"}
_RATES = ("requests_per_minute", "tokens_per_minute")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows by their numbers, as arguments; what they may spend, and how many share the rates.

    `largest` is the longest output that the job knows of, in tokens.
    """

    number: int
    rows: dict[int, dict[str, Any]]
    allowance: dict[str, float] = field(default_factory=dict[str, float])
    sharing: int = 1
    largest: int | None = None


class ChunkProgress(NamedTuple):
    """How far a chunk is: the rows that have ended, those of them that failed, what it took."""

    rows: int
    failed: int
    spent: Spent


@dataclass(slots=True)
class Done:
    """What became of a chunk: the columns of each row, or what went wrong with it.

    Rows `waiting` wait for approval. Others that are in none of these were not asked, or not to
    their end; `stopped` is then what has ended the job, if it was not somebody who did. `spent` is
    what the chunk took, with earlier attempts.
    """

    number: int
    values: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    failed: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    waiting: list[int] = field(default_factory=list[int])
    stopped: SaftError | None = None
    spent: Spent = field(default_factory=Spent)
    largest: int | None = None


def run_chunk(
    job: Job,
    chunk: Chunk,
    function: Function,
    is_wanted: Callable[[], bool],
    tell: Callable[[ChunkProgress], object] = lambda _: None,
) -> Done:
    """Calls the function for each row, in threads; no new row begins when it is not wanted.

    It reports its progress now and then.
    """
    with ExitStack() as block:
        settings = {**job.settings, "max_in_flight": job.in_flight}
        block.enter_context(configured_here(settings, job.around))
        spending = block.enter_context(spending_apart(chunk.largest))
        block.enter_context(journaled_part(_attempt(job, chunk.number), job.part_of))
        block.enter_context(configured_here(_bounds(job, chunk, spending.total)))
        block.enter_context(whole_lines())
        rows = _RunningRows(job, chunk, function, block.enter_context(_pool_for(job)), is_wanted)
        rows.begin()
        while rows.are_left():
            tell(ChunkProgress(*rows.ended(), replace(spending.total)))
    return replace(rows.done, spent=replace(spending.total), largest=spending.largest)


class _RunningRows:
    """The rows of a chunk while they are under way, each in a thread of the pool."""

    def __init__(
        self,
        job: Job,
        chunk: Chunk,
        function: Function,
        pool: _RowPool,
        is_wanted: Callable[[], bool],
    ) -> None:
        self.done = Done(chunk.number)
        self._job = job
        self._chunk = chunk
        self._tool = function_tool(job.part_of, function)
        self._pool = pool
        self._is_wanted = is_wanted
        self._left = len(chunk.rows)
        self._over = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._under_way: dict[int, _UnderWay] = {}

    def begin(self) -> None:
        """Gives the rows to the pool, as threads are free."""
        for number in self._chunk.rows:
            self._pool.do(partial(copy_context().run, partial(self._answer, number)))

    def are_left(self) -> bool:
        """Waits for rows, but no longer than until they are to be reported; whether some are."""
        limit = self._job.row_timeout
        until = time.monotonic() + (_LOOK if limit is None else min(_LOOK, max(0.01, limit / 4)))
        while self._left:
            self._left -= self._over.acquire(timeout=max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                break
        if limit is not None:
            self._give_up(limit)
        self.done.stopped = self.done.stopped or self._pool.stopped
        return self._left > 0

    def ended(self) -> tuple[int, int]:
        """How many rows have ended, and how many of them have failed."""
        failed = len(self.done.failed)
        return len(self.done.values) + failed, failed

    def _answer(self, number: int) -> bool:
        """Answers a row; whether the thread is still of the pool."""
        done, pool = self.done, self._pool
        if done.stopped or pool.stopped or not self._is_wanted():
            self._over.release()
            return True
        row = _UnderWay(self._chunk.rows[number])
        clock.set(row.clock)
        abandoned.set((*abandoned.get(), row.is_left))
        with self._lock:
            self._under_way[number] = row
        outcome: dict[str, Any] | _FailedRow | SaftError | RunWaiting
        try:
            outcome = _row(self._job, self._tool, number, row)
        except BaseException as error:  # while it was told what went wrong
            found = {"error": type(error).__name__, "message": "it cannot be shown", "at": None}
            outcome = _FailedRow({"row": number, **found, "input": row.arguments})
        with self._lock:
            if self._under_way.pop(number, None) is None:  # it is no longer waited for
                return False
            match outcome:
                case SaftError():
                    done.stopped = done.stopped or outcome
                    # Another chunk may have more to spend.
                    if not isinstance(outcome, BudgetSpent):
                        pool.stopped = pool.stopped or outcome
                case RunWaiting():
                    done.waiting.append(number)
                case _FailedRow(found):
                    done.failed[number] = found
                case _:
                    done.values[number] = outcome
        self._over.release()
        return True

    def _give_up(self, limit: float) -> None:
        """Fails the rows whose time is over."""
        with self._lock:
            late = [(n, row) for n, row in self._under_way.items() if row.clock.seconds() >= limit]
            for number, row in late:
                row.is_left.set()
                del self._under_way[number]
                self.done.failed[number] = {"row": number, **_out_of_time(row, limit)}
        self._left -= len(late)
        for _ in late:
            self._pool.replace_one()


class _UnderWay:
    """A row that a thread works on; `is_left` when it is no longer waited for."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments
        self.thread = threading.get_ident()
        self.clock = Clock()
        self.is_left = threading.Event()


class _FailedRow(NamedTuple):
    """The report of a row that failed."""

    found: dict[str, Any]


def _bounds(job: Job, chunk: Chunk, kept: Spent) -> dict[str, Any]:
    """The settings by which the chunk keeps to its allowance, and to its part of the rates.

    What its journal holds was counted before, and counts as spent here. No request lasts longer
    than a row may, so that none of a row that was left goes on for long.
    """
    settings = settings_for()
    found: dict[str, Any] = {}
    if job.row_timeout is not None:
        found["timeout"] = min(settings.timeout, job.row_timeout)
    for name, most in chunk.allowance.items():
        found[name] = most + getattr(kept, BUDGETS[name])
    for name in _RATES:
        rate = getattr(settings, name)
        if rate is not None:
            found[name] = rate / chunk.sharing
    return found


def _row(
    job: Job, tool: Tool, number: int, row: _UnderWay
) -> dict[str, Any] | _FailedRow | SaftError | RunWaiting:
    """Answers a row: its columns, or what went wrong, or that it waits for approval, or else what
    ends the job or the chunk.

    That ends it even if the function has caught it: what it returned then does not answer the row.
    """
    found: dict[str, Any] | _FailedRow
    try:
        with scoped(f"row/{number}"), printing_apart():
            call = bind_arguments(tool, {**row.arguments, **job.constants})
            found = _columns(job, tool, call())
    except RunWaiting as waiting:
        return waiting
    except BaseException as error:  # no interrupt: those are for the main thread, which has no row
        if isinstance(error, SaftError) and _ends_the_job(error) and not is_of_block(error):
            return error
        limit = job.row_timeout
        if limit is not None and row.clock.seconds() >= limit:  # as its request has ended by it
            problem = _out_of_time(row, limit, error)
        else:
            problem = {**describe_error(error), "input": row.arguments}
        found = _FailedRow({"row": number, **problem})
    return spending_here().stopped or found


def _out_of_time(row: _UnderWay, limit: float, error: BaseException | None = None) -> Entry:
    """The report of a row whose time is over, with its place in the script."""
    if error is not None:
        at = describe_error(error)["at"]
    else:
        frame = sys._current_frames().get(row.thread)  # pyright: ignore[reportPrivateUsage]
        at = None if frame is None else position_of_frame(frame) or _line_of(frame)
    message = f"the row took longer than {limit:g} s"
    return {"error": ROW_TIMEOUT, "message": message, "at": at, "input": row.arguments}


def _columns(job: Job, tool: Tool, value: Any) -> dict[str, Any]:
    returns = tool.signature.returns
    data = json.loads(to_json(validate(plain(value), returns, path=RESULT)))
    columns = split_columns(data, returns)
    if job.columns is None:
        return columns
    return {name: fit_column(columns[name], form, name) for name, form in job.columns.items()}


def _ends_the_job(error: SaftError) -> bool:
    """Whether no other row would do better, for now."""
    match error:
        case RunStopped() | ConfigError() | AuthenticationFailed() | RateLimited():
            return True
        case ProviderError():
            return error.stays_away
        case _:
            return False


def describe_error(error: BaseException) -> Entry:
    """What went wrong with a row, as data; without secrets."""
    position = replies = None
    if isinstance(error, SaftError | ReplayMiss):
        position, replies, message = error.saft_position, error.replies, str(error)
    else:
        try:
            message = printable(error_words(error))
        except BaseException as other:  # the class of somebody else has a `__str__` that fails
            message = f"it cannot be shown: {type(other).__name__}"
    return {
        "error": type(error).__name__,
        "message": redacted(message),
        "at": position or position_of_error(error, error.__traceback__) or _in_python(error),
        **({} if replies is None else {"replies": replies}),
    }


def _line_of(frame: FrameType) -> str | None:
    """The line of Python that a thread is at, outside of this package and of Python's own."""
    found: FrameType | None = frame
    while found is not None and _is_of_others(found.f_code.co_filename):
        found = found.f_back
    if found is None:
        return None
    return f"{os.path.basename(found.f_code.co_filename)}:{found.f_lineno}"


def _is_of_others(path: str) -> bool:
    return is_ours(path) or path.startswith((_PYTHONS, "<frozen "))


def _in_python(error: BaseException) -> str | None:
    """The line that raised it, when no script did."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SaftError | ReplayMiss):
        return None
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"


# The journal of an attempt


def journals_of(folder: str, number: int | None = None, *, torn: bool = False) -> list[str]:
    """The journals of a chunk's attempts, or of all, the oldest first.

    If `torn`, what a process that was killed has left of copies, and of its own file there.
    """
    begins = "" if number is None else f"{number:06d}."
    form = _TORN if torn else _JOURNAL
    try:
        # Not by `glob`, which remembers each pattern that it was ever asked for.
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    mine = (form.fullmatch(name) for name in names if name.startswith(begins))
    # What is beside a journal belongs to it as long as that is there.
    found = (one[0] for one in mine if one and not (torn and one[1] in names))
    aged = ((_age(path), path) for path in (os.path.join(folder, name) for name in found))
    return [path for _, path in sorted((age, path) for age, path in aged if age is not None)]


def _age(path: str) -> float | None:
    """When a file was changed last; None if it is not one of ours, or is gone."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:  # another attempt has it by now
        return None
    return found.st_mtime if stat.S_ISREG(found.st_mode) else None


def _attempt(job: Job, number: int) -> str:
    """The path of a new journal for the chunk, which holds what earlier attempts have left."""
    unique = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
    path = os.path.join(job.journals, f"{number:06d}.{unique}.jsonl")
    try:
        os.makedirs(job.journals, mode=0o700, exist_ok=True)
        earlier = journals_of(job.journals, number)
        if earlier:
            _gather(earlier, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    return path


def _gather(earlier: list[str], path: str) -> None:
    """Makes one journal of what earlier attempts have left."""
    copy = f"{path}.tmp"
    join(earlier, copy)
    os.replace(copy, path)
    for old in earlier:
        remove(old)


# The threads of a process


class _RowPool:
    """Daemon threads that do what they are given, in order, so much at once.

    `stopped` is what has ended the job, for all its chunks here.
    """

    def __init__(self, most: int) -> None:
        self.users = 0
        self.stopped: SaftError | None = None
        self._actions: SimpleQueue[Callable[[], bool] | None] = SimpleQueue()
        self._most = most
        self._threads = 0

    def do(self, action: Callable[[], bool]) -> None:
        """Does it as soon as a thread is free; it returns whether that thread stays in the pool."""
        self._actions.put(action)
        with _hiring:
            is_wanted = self._threads < self._most
            self._threads += is_wanted
        if is_wanted:
            self._hire()

    def replace_one(self) -> None:
        """Starts another thread in the place of one that is still busy and has left the pool."""
        global _left
        with _hiring:
            _left += 1
            are_many = _left >= MOST_LEFT
        if are_many:
            self.stopped = self.stopped or RunStopped(
                f"{_left} calls that have had their time are still running, and no thread can be "
                "stopped from outside",
                hint="give what they wait for its own time limit; then run the same command again",
            )
        self._hire()

    def end(self) -> None:
        """Ends the threads after what they were given."""
        for _ in range(self._threads):
            self._actions.put(None)

    def _hire(self) -> None:
        threading.Thread(target=self._work, name="saft row", daemon=True).start()

    def _work(self) -> None:
        global _left
        while (action := self._actions.get()) is not None:
            if not action():
                with _hiring:
                    _left -= 1
                return


_pools: dict[str, _RowPool] = {}
# How many threads are still busy with rows that are no longer waited for.
_left = 0
_hiring = threading.Lock()


@contextmanager
def _pool_for(job: Job) -> Generator[_RowPool]:
    """The threads of a job, which all its chunks in this process share."""
    with _hiring:
        pool = _pools.setdefault(job.run, _RowPool(job.in_flight))
        pool.users += 1
    try:
        yield pool
    finally:
        with _hiring:
            pool.users -= 1
            if not pool.users:
                del _pools[job.run]
                pool.end()
