"""Runs a job from its first row to its last output file, in the process of the command.

    run = JobRun(...)
    run.take(20, has_running=False)     up to 20 rows to start; none once the job is stopped
    run.end(number, outcome)            records the outcome of a row in the store and in the report
    run.watch(run.run_in_process(job, function))      runs the job to its end; returns a Report
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any

from runtime_support._budgets import current_usage
from runtime_support._core.notes import note
from runtime_support._core.redaction import redacted
from runtime_support._values.kinds import counted
from runtime_support.errors import BudgetSpent, ReplayMiss, SaftError
from runtime_support.map._binding import Binding, Show
from runtime_support.map._output import OutputFolder
from runtime_support.map._report import Interrupted, Report, Speed
from runtime_support.map._rows import RunningRows
from runtime_support.map._script import Function, Job
from runtime_support.map._store import MOST_ENDS, JobStore, Outcome, Row

# How long a stopped job waits for its running rows, in seconds.
GRACE = 30.0
# How often progress is updated and parts are written, in seconds.
LOOK = 0.1
_TOLD_EVERY = 10.0
_FEWEST_FOR_SHARE = 100
# How many rows of the table are looked up in the store at once.
_AT_ONCE = 1000


class JobRun:
    """A running job: its remaining rows, its progress and its output files."""

    def __init__(
        self,
        store: JobStore,
        binding: Binding,
        output: OutputFolder,
        rows: int,
        part_rows: int,
        max_failed: float | None,
        show: Show | None,
        *,
        is_quiet: bool,
    ) -> None:
        done, failures = store.counts()
        self.store = store
        self.report = Report(rows, done, failures, current_usage())
        # How many processes share the rates of the settings.
        self.processes = 1
        # Rows to start again; and suspects, rows to run alone because one of them may crash its
        # process.
        self.again: deque[Row] = deque()
        self.suspects: deque[Row] = deque()
        self._binding = binding
        self._max_failed = max_failed
        self._is_quiet = is_quiet
        self._show = show
        self._tries = store.suspects()
        self._is_over = False
        self._open = self._open_rows(rows)
        self._parts = self._write_parts(output, rows, part_rows)
        self._began = self._told = time.monotonic()
        self._looked = float("-inf")
        self._speed = Speed(self._began, self.report.ended)

    # Rows

    def take(self, most: int, *, has_running: bool) -> tuple[list[Row], bool]:
        """The next rows to start, at most `most`; none once the job is stopped.

        If no other row is left or running, the next suspect: a row that must run alone because it
        may crash its process. Returns the rows, and whether they are a suspect.
        """
        rows = list[Row]()
        try:
            while len(rows) < most and self.report.stopped is None:
                row = self.again.popleft() if self.again else next(self._open, None)
                if row is None:
                    break
                rows.append(row)
        except SaftError as error:
            self.stop(error)
        is_alone = not rows and not has_running
        if is_alone:
            rows = self._take_suspect()
        return rows, is_alone

    def _take_suspect(self) -> list[Row]:
        """The next suspect, or no row. Suspects whose process has ended too often fail."""
        while self.suspects and self.report.stopped is None:
            row = self.suspects.popleft()
            if self._tries.get(row.number, 0) < MOST_ENDS:
                return [row]
            self.give_up(row, MOST_ENDS)
        return []

    def end(self, number: int, outcome: Outcome) -> None:
        """Records the outcome of a row. An outcome may stop the job."""
        report = self.report
        if outcome.status != "open":
            self.store.end(number, outcome)
        report.done += outcome.status == "done"
        report.waiting += outcome.status == "waiting"
        if outcome.status == "failed":
            report.failures[outcome.data["error"]] += 1
        if outcome.stop is not None:
            self.stop(outcome.stop)
        else:
            self._stop_at_failures()

    def stop(self, why: str | SaftError | ReplayMiss) -> None:
        """Stops the job for this reason: no more rows start."""
        if self.report.stopped is None:
            said = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
            self.report.stopped = redacted(said)
            self.report.budget_spent = isinstance(why, BudgetSpent)

    def give_up(self, row: Row, times: int) -> None:
        """Fails a row because its process ended this many times while only this row ran."""
        why = f"its process ended {times} times while it ran alone"
        self.end(row.number, row.failed({"error": "WorkerLost", "message": why, "at": None}))

    def _stop_at_failures(self) -> None:
        """Stops the job if more rows failed than `max_failed` allows.

        A float below 1 is a share of the ended rows. It counts once `_FEWEST_FOR_SHARE` rows have
        ended.
        """
        most, failed = self._max_failed, self.report.failed
        if most is None:
            return
        if not isinstance(most, float) or most >= 1:
            if failed > most:
                self.stop(f"more than {most:g} rows failed")
        elif self.report.ended >= _FEWEST_FOR_SHARE and failed > most * self.report.ended:
            self.stop(f"more than {most * 100:g}% of the rows failed")

    def _open_rows(self, rows: int) -> Iterator[Row]:
        """Yields the rows that have not ended.

        Rows that cannot be read fail. Suspects, which must run alone, are put into `suspects`
        instead.
        """
        binding = self._binding
        numbered = enumerate(itertools.islice(binding.table.rows(binding.names), rows))
        while block := list(itertools.islice(numbered, _AT_ONCE)):
            binding.table.check_unchanged()
            ended = self.store.ended(block[0][0], block[-1][0])
            for number, found in block:
                if number in ended or self.report.stopped is not None:
                    continue
                row = Row(number, binding.arguments(found.values))
                if found.problem:
                    message = f"{binding.table.place(found)}: {found.problem}"
                    told = {"error": "CheckError", "message": message, "at": None}
                    self.end(number, row._replace(arguments=found.values).failed(told))
                elif number in self._tries:
                    self.suspects.append(row)
                else:
                    yield row

    # Work in this process

    def run_in_process(self, job: Job, function: Function) -> Generator[None]:
        """Runs the rows in threads of this process; rows that may crash it run last, one at a time.

        Yields every `LOOK` seconds.
        """
        running = RunningRows(job, function, threading.Semaphore(job.rows_at_once))
        try:
            while True:
                free = job.rows_at_once - len(running)
                rows, is_alone = self.take(free, has_running=len(running) > 0)
                self.store.begin([row.number for row in rows], alone=is_alone)
                for row in rows:
                    running.start(row)
                if not len(running):
                    break
                for number, outcome in running.ended(LOOK):
                    self.end(number, outcome)
                self.report.spent = current_usage()
                yield
        finally:
            running.abandon()

    # Progress, parts and signals

    def watch(self, work: Generator[None]) -> Report:
        """Runs the rows until all have ended, or until the job is stopped; returns the report.

        Raises Interrupted after Ctrl-C, and SystemExit after SIGTERM.
        """
        if self._show is not None:
            self._show(self._shown)
        with _signals() as caught:
            try:
                with closing(work):
                    self._follow(work, caught)
                self._is_over = True
                self._look(time.monotonic())
            finally:
                self._is_over = True
                self.report.seconds = time.monotonic() - self._began
        if caught:
            journal = self.store.journal
            kept = counted(journal.count_answers(), "answer is", "answers are")
            again = "run the same command again to resume"
            note(f"{self.report}; {kept} kept in {journal.path}; {again}")
            if caught[0] == signal.SIGTERM:
                raise SystemExit(128 + signal.SIGTERM)
            raise Interrupted(self.report)
        return self.report

    def _follow(self, work: Generator[None], caught: list[int]) -> None:
        """Runs the work until it is over, or until `GRACE` seconds after the job was stopped."""
        deadline: float | None = None
        try:
            for _ in work:
                now = time.monotonic()
                if now - self._looked >= LOOK:
                    self._look(now)
                if caught and self.report.stopped is None:
                    note("waiting for running rows; press Ctrl-C again to stop now")
                    self.stop("interrupted")
                if self.report.stopped is not None:
                    deadline = deadline or now + GRACE
                    if now >= deadline:
                        return
        except SaftError as error:
            self.stop(error)

    def _progress(self) -> str:
        return self.report.progress(self._speed.rate, self.processes)

    def _shown(self) -> str:
        return "" if self._is_over else f"{self.report.bar()} {self._progress()}"

    def _look(self, now: float) -> None:
        self._looked = now
        self._speed.note(now, self.report.ended)
        try:
            next(self._parts, None)
        except SaftError as error:
            self.stop(error)
        if now - self._told >= _TOLD_EVERY and not self._is_quiet and self._show is None:
            self._told = now
            note(self._progress())

    def _write_parts(self, output: OutputFolder, rows: int, part_rows: int) -> Generator[None]:
        """Writes each output file as soon as its rows have ended, in order.

        Yields while rows of the next file are running. Once the job is over, the other files are
        written with the rows that have ended.
        """
        table = itertools.islice(self._binding.table.rows(self._binding.copied_columns), rows)
        for number, first in enumerate(range(0, rows, part_rows)):
            kept = [
                self._binding.copied_values(row.values)
                for row in itertools.islice(table, part_rows)
            ]
            self._binding.table.check_unchanged()
            last = first + len(kept) - 1
            while (left := len(kept) - len(self.store.ended(first, last))) and not self._is_over:
                yield
            if self.report.stopped is not None and first > self.store.last_ended:
                return
            if left == len(kept):
                continue
            if left:
                self.store.mark_partial(number)
            if number in self.store.partial or not output.is_final(number):
                output.write(number, first, kept, self.store.outcomes(first, last))


@contextmanager
def _signals() -> Generator[list[int]]:
    """Collects SIGINT and SIGTERM in the block; the second signal raises KeyboardInterrupt."""
    caught: list[int] = []

    def note_signal(number: int, _: FrameType | None) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise KeyboardInterrupt

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, note_signal)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
