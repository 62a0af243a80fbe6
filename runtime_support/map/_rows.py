"""Runs rows in the threads of a process: a row is one call of the function as a tool.

A thread cannot be stopped. So a row that times out fails and frees its slot. Its thread finishes
the call without sending more requests, and the result is dropped.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, ClassVar, TypeGuard

from runtime_support._core.positions.frames import is_ours
from runtime_support._core.positions.uncaught import position_of_error, position_of_frame
from runtime_support._core.redaction import redacted
from runtime_support._core.scopes import RunScope, within
from runtime_support._core.spending import is_of_block
from runtime_support._core.tasks.clock import Clock
from runtime_support._core.tools import bind_arguments, function_tool
from runtime_support._journal.json_lines import Entry
from runtime_support._language.failures import error_words
from runtime_support._schema.checking import validate
from runtime_support._values.context import current_context, set_context
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import plain
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
from runtime_support.map._printing import line_buffered_output
from runtime_support.map._script import Function, Job
from runtime_support.map._store import Outcome, Row

# How many threads may still be busy with rows that timed out, before the job ends.
MOST_LEFT = 500
_PYTHONS = os.path.dirname(os.__file__) + os.sep
# The error of a row that timed out.
ROW_TIMEOUT = "RowTimeout"


class RunningRows:
    """The running rows, each in a thread; one other thread starts them and collects outcomes.

    A row first waits for one of the `places`, a semaphore that several batches may share. After
    that, the row does not start if `are_wanted` returns False, or if another row has ended the job.
    """

    # Threads of the process that are still busy with abandoned rows.
    left: ClassVar[list[threading.Thread]] = []

    def __init__(
        self,
        job: Job,
        function: Function,
        places: threading.Semaphore,
        are_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._is_stopped = False
        self._are_wanted = are_wanted
        self._job = job
        self._tool = function_tool(job.name, function)
        self._places = places
        self._context = copy_context()
        self._running: dict[int, _RunningRow] = {}
        self._begun: SimpleQueue[_RunningRow | None] = SimpleQueue()
        self._threads = 0
        self._over: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, row: Row) -> None:
        """Starts a row in an idle thread or, if there is none, in a new thread."""
        running = self._running[row.number] = _RunningRow(row)
        self._begun.put(running)
        if self._threads < len(self._running):
            self._threads += 1
            threading.Thread(target=self._work, name="saft row", daemon=True).start()

    def ended(self, seconds: float) -> Iterator[tuple[int, Outcome]]:
        """Yields the outcomes of rows that ended or timed out; waits `seconds` for the first."""
        limit = self._job.row_timeout
        seconds = seconds if limit is None else min(seconds, max(0.01, limit / 4))
        with suppress(Empty):
            while True:
                number, outcome = self._over.get(timeout=seconds)
                seconds = 0
                if self._running.pop(number, None) is not None:
                    yield number, outcome
        for number, running in list(self._running.items()):
            if limit is not None and running.seconds() >= limit:
                self._leave(number)
                yield number, self._late(running, limit)

    def abandon(self) -> None:
        """Abandons the running rows: their threads send no more requests."""
        for number in list(self._running):
            self._leave(number)
        self._begun.put(None)

    def _leave(self, number: int) -> None:
        running = self._running.pop(number)
        running.is_left.set()
        self._threads -= 1  # so that another thread can start in place of this one
        self._free(running)
        busy = [one for one in (*RunningRows.left, running.thread) if one and one.is_alive()]
        RunningRows.left = busy

    def _free(self, running: _RunningRow) -> None:
        """Releases the slot of a row, unless it was released before."""
        with suppress(IndexError):
            running.places.pop().release()

    def _work(self) -> None:
        while (running := self._begun.get()) is not None:
            running.thread = threading.current_thread()
            self._places.acquire()
            running.places.append(self._places)
            outcome = self._context.copy().run(self._answer, running)
            self._is_stopped |= outcome.stop is not None
            self._free(running)
            self._over.put((running.row.number, outcome))
            if running.is_left.is_set():
                return
        self._begun.put(None)  # for the other threads

    def _answer(self, running: _RunningRow) -> Outcome:
        if self._is_stopped or running.is_left.is_set() or not self._are_wanted():
            return Outcome("open", {})
        running.clock = Clock()
        abandoned = (*current_context().abandoned, running.is_left)
        set_context(clock=running.clock, abandoned=abandoned)
        try:
            return self._call(running.row, running.clock)
        except BaseException as error:  # another error was raised while the first was described
            found = {"error": type(error).__name__, "message": "it cannot be shown", "at": None}
            return running.row.failed(found)

    def _call(self, row: Row, clock: Clock) -> Outcome:
        """Calls the function and returns the outcome of the row.

        If an error must end the job, it is the `stop` of the outcome, even if the function has
        caught the error and returned a value. This value is dropped.
        """
        limit, stopped = self._job.row_timeout, list[RunStopped]()
        set_context(stops=stopped)
        try:
            with within(RunScope(f"row/{row.number}")), line_buffered_output():
                value = bind_arguments(self._tool, {**row.arguments, **self._job.constants})()
                if inspect.isawaitable(value):
                    value = asyncio.run(_awaited(value))
                outcome = Outcome("done", self._columns(value))
        except RunWaiting:
            return Outcome("waiting", {})
        except BaseException as error:  # never an interrupt: only the main thread gets those
            if _ends_the_job(error) and not is_of_block(error):
                return Outcome("open", {}, error)
            found = describe_error(error)
            if limit is not None and clock.seconds() >= limit:  # the limit ended its request
                found = _out_of_time(limit, found["at"])
            outcome = row.failed(found)
        return Outcome("open", {}, stopped[0]) if stopped else outcome

    def _columns(self, value: Any) -> Entry:
        returns = self._tool.signature.returns
        data = json.loads(to_json(validate(plain(value), returns, path=RESULT)))
        columns = split_columns(data, returns)
        if self._job.columns is None:
            return columns
        return {n: fit_column(columns[n], form, n) for n, form in self._job.columns.items()}

    def _late(self, running: _RunningRow, limit: float) -> Outcome:
        """The failed outcome of a row that timed out, with the line that it had reached.

        The outcome ends the job if too many abandoned threads are still running.
        """
        at = stop = None
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        frame = frames.get(running.thread.ident or 0) if running.thread is not None else None
        if frame is not None:
            at = position_of_frame(frame) or _line_in(traceback.walk_stack(frame))
        if len(RunningRows.left) >= MOST_LEFT:
            stop = RunStopped(
                f"{len(RunningRows.left)} calls are still running past their time limit; Python "
                "cannot stop a thread",
                hint="set a time limit for what they wait for; then run the same command again",
            )
        return running.row.failed(_out_of_time(limit, at), stop)


class _RunningRow:
    """A row, and the thread that runs the row once it has started.

    `is_left` is set when the row is abandoned. While the row holds a slot, `places` has the
    semaphore of the slot.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.thread: threading.Thread | None = None
        self.places: list[threading.Semaphore] = []
        self.clock: Clock | None = None
        self.is_left = threading.Event()

    def seconds(self) -> float:
        """How long the row has been running, without the time that it waited to send requests."""
        return 0.0 if self.clock is None else self.clock.seconds()


def _out_of_time(limit: float, at: str | None) -> Entry:
    """The error of a row that timed out; `at` is the position that the row had reached."""
    return {"error": ROW_TIMEOUT, "message": f"the row took longer than {limit:g} s", "at": at}


async def _awaited(value: Any) -> Any:
    """Awaits a coroutine; if it returns a prompt's awaitable result, awaits that too."""
    while inspect.isawaitable(value):
        value = await value
    return value


def _ends_the_job(error: BaseException) -> TypeGuard[SaftError | ReplayMiss]:
    """True if the error would now make all other rows fail in the same way."""
    match error:
        case RunStopped() | ConfigError() | AuthenticationFailed() | RateLimited() | ReplayMiss():
            return True
        case ProviderError():
            return error.stays_away
        case _:
            return False


def describe_error(error: BaseException) -> Entry:
    """The error of a row as JSON data, without secrets."""
    position = replies = None
    if isinstance(error, SaftError | ReplayMiss):
        position, replies, message = error.saft_position, error.replies, str(error)
    else:
        try:
            message = printable(error_words(error))
        except BaseException as other:  # a class from elsewhere whose `__str__` fails
            message = f"it cannot be shown: {type(other).__name__}"
    return {
        "error": type(error).__name__,
        "message": redacted(message),
        "at": position
        or position_of_error(error, error.__traceback__)
        or _line_in(reversed(list(traceback.walk_tb(error.__traceback__)))),
        **({} if replies is None else {"replies": replies}),
    }


def _line_in(frames: Iterable[tuple[FrameType, int]]) -> str | None:
    """The first line that is neither in this package nor in Python's standard library, or None."""
    for frame, line in frames:
        path = frame.f_code.co_filename
        if not is_ours(path) and not path.startswith((_PYTHONS, "<frozen ")):
            return f"{os.path.basename(path)}:{line}"
    return None
