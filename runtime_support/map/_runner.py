"""A job from its first row to its last part, in the process of the command.

    run = JobRun(...)
    run.take()                   the next row that is open; None when no more is to begin
    run.end(number, outcome)     what became of it: kept in the store, counted in the report
    run.watch(run.work_here(job, function))      brings all to its end; a Report

Rows are taken and ended by any thread. What is shown and written, and what stops the job, is seen
to here, in one thread, beside them.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeAlias

from runtime_support._notes import note
from runtime_support._redaction import redacted
from runtime_support._results import Usage
from runtime_support._values import counted
from runtime_support.errors import BudgetSpent, RunStopped, SaftError
from runtime_support.map._binding import Binding
from runtime_support.map._inputs import Table
from runtime_support.map._output import Output, cut_parts
from runtime_support.map._progress import Progress, Speed, width_here
from runtime_support.map._rows import RowThreads
from runtime_support.map._script import Function, Job
from runtime_support.map._store import MOST_ENDS, JobStore, Outcome, Row
from runtime_support.runs._budgets import Spent, spent_here

# Takes what gives the line that a terminal shows of a job, nothing once the job is over.
Show: TypeAlias = Callable[[Callable[[], str]], object]

# Rows under way are waited for so long when the job is stopped, in seconds.
GRACE = 30.0
# How often it is looked at what is to be shown and written, in seconds.
LOOK = 0.1
_TOLD_EVERY = 10.0
_FEWEST_FOR_SHARE = 100
# So many rows of the table are looked up at once.
_AT_ONCE = 1000


@dataclass(slots=True)
class Report:
    """What became of a job: `rows` there are, of which `done` have a result and `failed` have none.

    `failures` counts these by error. `usage` and `cost` are of the whole job, earlier processes
    included, and `seconds` of this one. `stopped` says why not all rows were asked, if so, and
    `budget_spent` whether that is the budget; `waiting` are those that wait for approval.
    """

    rows: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    stopped: str | None = None
    budget_spent: bool = False
    waiting: int = 0

    @property
    def failed(self) -> int:
        """How many rows have no result."""
        return sum(self.failures.values())

    @property
    def left(self) -> int:
        """How many rows have not ended, and wait for nobody."""
        return self.rows - self.done - self.failed - self.waiting

    @property
    def usage(self) -> Usage:
        """What the job took."""
        return self.spent.usage

    @property
    def cost(self) -> float:
        """What it cost in US dollars, by the prices of the settings."""
        return self.spent.cost

    def summary(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "rows": self.rows,
            "done": self.done,
            "failed": self.failed,
            "failures": dict(sorted(self.failures.items())),
            "waiting": self.waiting,
            "left": self.left,
            "stopped": self.stopped,
            "budget_spent": self.budget_spent,
            "requests": self.spent.requests,
            "input_tokens": self.spent.input_tokens,
            "output_tokens": self.spent.output_tokens,
            "cost": self.cost,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        ended = f"{self.done:,} done"
        if self.failed:
            most = sorted(self.failures.items(), key=lambda one: (-one[1], one[0]))
            kinds = ", ".join(f"{name} {count:,}" for name, count in most)
            ended += f", {self.failed:,} failed ({kinds}; errors-*.jsonl)"
        if self.waiting:
            ended += f", {self.waiting:,} waiting for approval"
        if self.stopped:
            ended += f", {self.left:,} left"
        return f"{counted(self.rows, 'row')}: {ended}; {self.spent}, {self.seconds:.1f} s"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a job in order; `report` says how far it came."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


class JobRun:
    """The rows of a job while they are under way; any thread may take and end them."""

    def __init__(
        self,
        store: JobStore,
        binding: Binding,
        output: Output,
        rows: int,
        part_rows: int,
        max_failed: float | None,
        show: Show | None,
        *,
        is_quiet: bool,
    ) -> None:
        table = binding.table
        done, failures = store.counts()
        self.store = store
        self.report = Report(rows, done, failures, spent_here())
        self.suspects: deque[Row] = deque()
        # How many processes share the rates; how many rows have ended and failed in batches that
        # they have under way, by their names.
        self.processes = 1
        self.under_way: dict[str, tuple[int, int]] = {}
        self._binding = binding
        self._max_failed = max_failed
        self._is_quiet = is_quiet
        self._show = show
        self._lock = threading.RLock()
        self._tries = store.suspects()
        self._alone: int | None = None
        self._is_over = False
        self._open = self._open_rows(table, rows)
        kept = itertools.islice(table.rows(binding.kept_names), rows)
        blocks = cut_parts(map(binding.kept, (row.values for row in kept)), part_rows)
        self._parts = self._write_parts(blocks, output)
        self._ended_before = self.report.done + self.report.failed
        self._began = self._told = time.monotonic()
        self._speed = Speed(self._began, 0)

    # Rows

    def take(self) -> Row | None:
        """The next row that is to begin; None when there is none, or the job is stopped."""
        try:
            with self._lock:
                while self.report.stopped is None:
                    row = next(self._open, None)
                    if row is None or isinstance(row, Row):
                        return row
                    self.end(*row)
        except RunStopped as error:  # what it is kept in takes no more
            self.stop(error)
        return None

    def begin(self) -> Row | None:
        """The same for a row of this process, which may end it: it is marked before that."""
        row = self.take()
        return row if row is not None and self._mark(row) else None

    def _mark(self, row: Row, *, alone: bool = False) -> bool:
        """Marks a row as under way; whether it may begin."""
        try:
            self.store.begin(row.number, alone=alone)
        except RunStopped as error:
            self.stop(error)
        return self.report.stopped is None

    def end(self, number: int, outcome: Outcome) -> None:
        """Takes in what became of a row."""
        with self._lock:
            if self._is_over:
                return
            report, told = self.report, outcome.data
            try:
                if outcome.status != "open" or number != self._alone:
                    self.store.end(number, outcome)
            except RunStopped as error:
                self.stop(error)
                return
            match outcome.status:
                case "done":
                    report.done += 1
                case "failed":
                    report.failures[told["error"]] += 1
                case "waiting":
                    report.waiting += 1
                case "open":
                    pass
            if outcome.stop is not None:
                self.stop(outcome.stop)
            else:
                self._stop_at_failures()

    def stop(self, why: str | SaftError) -> None:
        """Has no row begin any more."""
        with self._lock:
            if self.report.stopped is None:
                is_error = isinstance(why, SaftError)
                self.report.stopped = redacted(f"{type(why).__name__}: {why}" if is_error else why)
                self.report.budget_spent = isinstance(why, BudgetSpent)

    def give_up(self, row: Row, why: str) -> None:
        """Fails a row that ended the processes that it was in."""
        self.end(row.number, row.failed({"error": "WorkerLost", "message": why, "at": None}))

    def _stop_at_failures(self) -> None:
        """Stops when more rows have failed than may: a number, or a share of them."""
        most, failed = self._max_failed, self.report.failed
        if most is None:
            return
        asked = failed + self.report.done
        if not isinstance(most, float) or most >= 1:
            if failed > most:
                self.stop(f"more than {most:g} rows failed")
        elif asked >= _FEWEST_FOR_SHARE and failed > most * asked:
            self.stop(f"more than {most * 100:g}% of the rows failed")

    def _open_rows(self, table: Table, rows: int) -> Iterator[Row | tuple[int, Outcome]]:
        """The rows that have not ended, those that cannot be read with why; suspects are put by."""
        numbered = enumerate(itertools.islice(table.rows(self._binding.names), rows))
        while block := list(itertools.islice(numbered, _AT_ONCE)):
            ended = self.store.ended(block[0][0], block[-1][0])
            for number, found in block:
                if number in ended:
                    continue
                if found.problem:
                    told = {"error": "CheckError", "message": found.problem, "at": None}
                    yield number, Row(number, self._binding.kept(found.values)).failed(told)
                    continue
                row = Row(number, self._binding.arguments(found.values))
                if number in self._tries:
                    self.suspects.append(row)
                else:
                    yield row

    # Work in this process

    def work_here(self, job: Job, function: Function) -> Generator[None]:
        """Answers the rows in threads of this process, first those that are under no suspicion."""
        yield from self._work(RowThreads(job, function, self.begin, self.end), job.rows_at_once)
        if self.suspects and self.report.stopped is None:
            rows = counted(len(self.suspects), "row")
            note(
                f"the process has ended {MOST_ENDS} times while {rows} were under way: they are "
                "tried one at a time"
            )
            yield from self._work(RowThreads(job, function, self._begin_suspect, self.end), 1)

    def _work(self, threads: RowThreads, most: int) -> Generator[None]:
        threads.start(most)
        try:
            while threads.wait(LOOK):
                self.report.spent = spent_here()
                yield
        finally:
            threads.abandon()
            self.report.spent = spent_here()

    def _begin_suspect(self) -> Row | None:
        while self.suspects and self.report.stopped is None:
            row = self.suspects.popleft()
            if self._tries[row.number] >= MOST_ENDS:
                self.give_up(row, f"its process ended {MOST_ENDS} times while it ran alone")
                continue
            self._alone = row.number
            return row if self._mark(row, alone=True) else None
        return None

    # What is seen to beside that

    def watch(self, work: Generator[None]) -> Report:
        """Brings the work to its end, or as far as it comes; Interrupted at Ctrl-C."""
        if self._show is not None:
            self._show(self._shown)
        with _signals() as caught:
            try:
                with closing(work):
                    self._follow(work, caught)
                self._look(time.monotonic())
                self._write_all_parts()
            finally:
                self._is_over = True
                self.report.seconds = time.monotonic() - self._began
        if caught:
            journal = self.store.journal
            kept = counted(journal.kept + journal.new, "answer is", "answers are")
            again = "run the same command again to resume"
            note(f"{self.report}; {kept} kept in {journal.path}; {again}")
            if caught[0] == signal.SIGTERM:
                raise SystemExit(128 + signal.SIGTERM)
            raise Interrupted(self.report)
        return self.report

    def _follow(self, work: Generator[None], caught: list[int]) -> None:
        """Looks after the work until it is over, or has been waited for long enough."""
        deadline: float | None = None
        try:
            for _ in work:
                now = time.monotonic()
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

    def progress(self) -> Progress:
        """How far it is."""
        report, under_way = self.report, list(self.under_way.values())
        return Progress(
            rows=report.rows,
            ended=report.done + report.failed + sum(ended for ended, _ in under_way),
            failed=report.failed + sum(failed for _, failed in under_way),
            rate=self._speed.rate,
            spent=report.spent,
            processes=self.processes,
        )

    def _shown(self) -> str:
        return "" if self._is_over else self.progress().bar(width_here())

    def _look(self, now: float) -> None:
        self._speed.note(now, self.progress().ended - self._ended_before)
        try:
            next(self._parts, None)
        except RunStopped as error:
            self.stop(error)
        if now - self._told >= _TOLD_EVERY and not self._is_quiet and self._show is None:
            self._told = now
            note(self.progress().line())

    def _write_all_parts(self) -> None:
        self._is_over = True
        try:
            for _ in self._parts:
                pass
        except RunStopped as error:
            self.stop(error)

    def _write_parts(
        self, blocks: Iterator[list[dict[str, Any]]], output: Output
    ) -> Generator[None]:
        """Writes each part as soon as its rows have ended; those before it come first, until the
        job is over.
        """
        first = 0
        for number, block in enumerate(blocks):
            last = first + len(block) - 1
            while not (is_whole := self.store.have_ended(first, last)) and not self._is_over:
                yield
            if self.report.stopped is not None and first > self.store.last_unwritten():
                return
            if is_whole and (self.store.is_unwritten(first, last) or not output.has(number)):
                output.write(number, first, block, self.store.rows(first, last))
                self.store.note_written(first, last)
            first = last + 1


@contextmanager
def _signals() -> Generator[list[int]]:
    """Collects Ctrl-C and its like in the block; the second ends it at once."""
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
