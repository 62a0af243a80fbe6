"""Rows in the threads of a process: a row is a call of the function as a tool.

No thread can be stopped. So a row that has had its time fails, and its thread is replaced: it goes
on with the call, asks no model any more, and its result is dropped.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextvars import copy_context
from types import FrameType
from typing import Any

from runtime_support._context import change_here, context_here
from runtime_support._jsontext import to_json
from runtime_support._language.failures import error_words
from runtime_support._order import Clock
from runtime_support._positions import Place, is_ours
from runtime_support._redaction import redacted
from runtime_support._schema.checking import validate
from runtime_support._spending import is_of_block
from runtime_support._tools import bind_arguments, function_tool
from runtime_support._uncaught import position_of_error, position_of_frame
from runtime_support._values import plain
from runtime_support.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    RateLimited,
    ReplayMiss,
    RunStopped,
    RunWaiting,
    SaftError,
    printable,
)
from runtime_support.map._columns import RESULT, fit_column, split_columns
from runtime_support.map._printing import printing_apart
from runtime_support.map._script import Function, Job
from runtime_support.map._store import Outcome, Row
from runtime_support.runs._lines import Entry
from runtime_support.runs._places import Scope, within

# So many threads may still be busy with rows that have had their time.
MOST_LEFT = 500
_PYTHONS = os.path.dirname(os.__file__) + os.sep
# The kind of a row that has had its time.
ROW_TIMEOUT = "RowTimeout"


class RowThreads:
    """Threads that answer the rows that `take` gives until that is None, `most` at once.

    `end` is told what became of each. What `take` or `end` raises is the `problem`.
    """

    # How many threads of the process are still busy with rows that are no longer waited for.
    left = 0

    def __init__(
        self,
        job: Job,
        function: Function,
        take: Callable[[], Row | None],
        end: Callable[[int, Outcome], object],
    ) -> None:
        self.problem: BaseException | None = None
        self._job = job
        self._tool = function_tool(job.name, function)
        self._take = take
        self._end = end
        self._context = copy_context()
        self._lock = threading.Lock()
        self._over = threading.Condition(self._lock)
        self._under_way: dict[int, _RunningRow] = {}
        self._threads = 0
        self._most = 0

    def start(self, most: int) -> None:
        """Begins with the rows."""
        self._most = most
        self._hire()

    def wait(self, seconds: float) -> bool:
        """Waits until all rows are over, but not longer than this; whether some are not."""
        limit = self._job.row_timeout
        with self._over:
            if self._threads:
                self._over.wait(seconds if limit is None else min(seconds, max(0.01, limit / 4)))
        if limit is not None:
            self._give_up_late(limit)
        if self.problem is not None:
            raise self.problem
        return self._threads > 0

    def abandon(self) -> None:
        """Waits no longer for the rows under way: they ask no more."""
        with self._lock:
            for row in self._under_way.values():
                row.is_left.set()
            RowThreads.left += len(self._under_way)
            self._under_way.clear()

    def _hire(self) -> None:
        with self._lock:
            if self._threads >= self._most:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="saft row", daemon=True).start()

    def _work(self) -> None:
        try:
            while (row := self._take()) is not None:
                self._hire()
                if not self._context.copy().run(self._answer, row):
                    return
        except BaseException as error:
            self.problem = error
        with self._over:
            self._threads -= 1
            self._over.notify_all()

    def _answer(self, row: Row) -> bool:
        """Answers a row; whether it was waited for."""
        running = _RunningRow(row)
        abandoned = (*context_here().abandoned, running.is_left)
        change_here(clock=running.clock, abandoned=abandoned)
        with self._lock:
            self._under_way[row.number] = running
        try:
            outcome = self._call(row, running)
        except BaseException as error:  # while it was told what went wrong
            found = {"error": type(error).__name__, "message": "it cannot be shown", "at": None}
            outcome = row.failed(found)
        with self._lock:
            if self._under_way.pop(row.number, None) is None:
                RowThreads.left -= 1
                return False
        self._end(row.number, outcome)
        return True

    def _call(self, row: Row, running: _RunningRow) -> Outcome:
        """What a row came to, or what ends the job.

        That ends it even if the function has caught it: what it returned then does not answer the
        row.
        """
        limit, stopped = self._job.row_timeout, list[RunStopped]()
        change_here(stops=stopped)
        try:
            with within(Scope(f"row/{row.number}")), printing_apart():
                value = bind_arguments(self._tool, {**row.arguments, **self._job.constants})()
                if inspect.isawaitable(value):
                    value = asyncio.run(_awaited(value))
                outcome = Outcome("done", self._columns(value))
        except RunWaiting:
            return Outcome("waiting", {})
        except BaseException as error:  # no interrupt: those are for the main thread
            if isinstance(error, SaftError) and _ends_the_job(error) and not is_of_block(error):
                return Outcome("open", {}, error)
            found = describe_error(error)
            if limit is not None and running.clock.seconds() >= limit:  # its request ended by it
                found = self._out_of_time(limit, found["at"])
            outcome = row.failed(found)
        return Outcome("open", {}, stopped[0]) if stopped else outcome

    def _columns(self, value: Any) -> Entry:
        returns = self._tool.signature.returns
        data = json.loads(to_json(validate(plain(value), returns, path=RESULT)))
        columns = split_columns(data, returns)
        if self._job.columns is None:
            return columns
        return {n: fit_column(columns[n], form, n) for n, form in self._job.columns.items()}

    def _give_up_late(self, limit: float) -> None:
        """Fails the rows whose time is over, and starts threads in the place of theirs."""
        with self._lock:
            late = [one for one in self._under_way.items() if one[1].clock.seconds() >= limit]
            for number, running in late:
                running.is_left.set()
                del self._under_way[number]
                RowThreads.left += 1
                self._threads -= 1
        for number, running in late:
            frame = sys._current_frames().get(running.thread)  # pyright: ignore[reportPrivateUsage]
            found = self._out_of_time(limit, position_of_frame(frame) or _line_of(frame))
            stop = None
            if RowThreads.left >= MOST_LEFT:
                stop = RunStopped(
                    f"{RowThreads.left} calls that have had their time are still running, and no "
                    "thread can be stopped from outside",
                    hint="give what they wait for its own time limit; then run the same command "
                    "again",
                )
            self._end(number, running.row.failed(found, stop))
            self._hire()

    def _out_of_time(self, limit: float, at: str | None) -> Entry:
        """Why a row failed whose time is over; its place is at least that of the function."""
        if at is None:
            function: Any = inspect.unwrap(self._tool.function)
            if hasattr(function, "__code__"):
                at = Place(function.__code__, 0, function.__globals__).text()
        message = f"the row took longer than {limit:g} s"
        return {"error": ROW_TIMEOUT, "message": message, "at": at}


class _RunningRow:
    """A row that a thread works on; `is_left` when it is no longer waited for."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.thread = threading.get_ident()
        self.clock = Clock()
        self.is_left = threading.Event()


async def _awaited(value: Any) -> Any:
    """What a coroutine comes to, and the result that it may give of a prompt."""
    while inspect.isawaitable(value):
        value = await value
    return value


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


def _line_of(frame: FrameType | None) -> str | None:
    """The line of Python that a thread is at, outside of this package and of Python's own."""
    while frame is not None and _is_of_others(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _is_of_others(path: str) -> bool:
    return is_ours(path) or path.startswith((_PYTHONS, "<frozen "))


def _in_python(error: BaseException) -> str | None:
    """The line that raised it, when no script did."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SaftError | ReplayMiss):
        return None
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
