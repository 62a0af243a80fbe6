"""A job from its first check to its last part: chunks under way, parts written as they come.

The engine runs chunks; what is done, kept, paid and stopped is decided here, in one thread.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, Protocol, TypeAlias

from runtime_support._notes import note
from runtime_support._redaction import redacted
from runtime_support._results import Usage
from runtime_support._settings import settings_for
from runtime_support._values import counted
from runtime_support.errors import BudgetSpent, JournalError, RunStopped, SaftError
from runtime_support.runs._budgets import Spent
from runtime_support.scale._chunk import BUDGETS, ROW_TIMEOUT, Chunk, ChunkProgress, Done
from runtime_support.scale._inputs import Batch
from runtime_support.scale._ledger import Ledger
from runtime_support.scale._output import Output
from runtime_support.scale._progress import Progress, Speed, width_here

# Takes what gives the line that a terminal shows of a job, nothing once the job is over.
Show: TypeAlias = Callable[[Callable[[], str]], object]

# Rows under way are waited for so long when the job is stopped, in seconds.
GRACE = 30.0
_LOOK = 0.5
_TOLD_EVERY = 10.0
_FEWEST_FOR_SHARE = 100
# A chunk of which nothing comes is begun so often. Before the last time, it is begun alone.
MOST_TRIES = 3
# A chunk may be lost with this many processes in a row of which nothing is kept; then its rows are
# run one at a time, and a row is given up that is lost so often alone.
MOST_BESIDE = MOST_ALONE = 3


# What has become of rows, by their numbers.
RowOutcomes: TypeAlias = dict[int, dict[str, Any]]


class Engine(Protocol):
    """What runs chunks: `processes` share the rates, `window` chunks are to be under way.

    `is_here` when a row that ends its process ends the job. `tallies` reports chunks under way.
    """

    @property
    def is_here(self) -> bool: ...
    @property
    def processes(self) -> int: ...
    @property
    def window(self) -> int: ...
    def submit(self, chunk: Chunk) -> None: ...
    def take(self, seconds: float) -> Done | Lost | None: ...
    def tallies(self) -> dict[int, ChunkProgress]: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Lost:
    """A chunk that no process could finish, and why."""

    number: int
    why: str


@dataclass(slots=True)
class Report:
    """What became of a job: `rows` there are, of which `done` have a result and `failed` have none.

    `failures` counts these by error. `usage` and `cost` are of the whole job, earlier processes
    included, and `seconds` of this one. `stopped` says why not all rows were asked, if so;
    `waiting` are those that wait for approval.
    """

    rows: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    stopped: str | None = None
    waiting: int = 0

    @property
    def failed(self) -> int:
        """How many rows have no result."""
        return sum(self.failures.values())

    @property
    def usage(self) -> Usage:
        """What the job took."""
        return self.spent.usage

    @property
    def cost(self) -> float:
        """What it cost in US dollars, by the prices of the settings."""
        return self.spent.cost

    def __str__(self) -> str:
        ended = f"{self.done:,} done"
        if self.failed:
            most = sorted(self.failures.items(), key=lambda one: (-one[1], one[0]))
            kinds = ", ".join(f"{name} {count:,}" for name, count in most)
            ended += f", {self.failed:,} failed ({kinds}; errors-*.jsonl)"
        if self.waiting:
            ended += f", {self.waiting:,} waiting for approval"
        if self.stopped:
            ended += f", {self.rows - self.done - self.failed - self.waiting:,} left"
        return f"{counted(self.rows, 'row')}: {ended}; {self.spent}, {self.seconds:.1f} s"


@dataclass(slots=True)
class _Apart:
    """The rows of a chunk that were run one at a time, but for those that failed."""

    values: RowOutcomes = field(default_factory=RowOutcomes)
    waiting: list[int] = field(default_factory=list[int])

    def left_of(self, rows: RowOutcomes) -> Iterator[tuple[int, dict[str, Any]]]:
        """Those of the rows that were not run yet."""
        return (one for one in rows.items() if one[0] not in (*self.values, *self.waiting))

    def add(self, done: Done) -> Done:
        """What a row came to, with all before it."""
        self.values |= done.values
        self.waiting += done.waiting
        return replace(done, values={**self.values}, waiting=[*self.waiting])


def _lost(why: str) -> dict[str, Any]:
    """Why a row has no outcome: nothing could bring it to its end."""
    return {"error": "WorkerLost", "message": why, "at": None}


class JobChunks:
    """The chunks of a job, and what has become of them."""

    def __init__(
        self,
        engine: Engine,
        ledger: Ledger,
        output: Output,
        *,
        max_failed: float | None = None,
        keeps_journals: bool = False,
        is_quiet: bool = False,
        show: Show | None = None,
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.output = output
        self.max_failed = max_failed
        self.keeps_journals = keeps_journals
        self.is_quiet = is_quiet
        self.show = show
        self._is_over = False
        self.report = Report(rows=ledger.rows, spent=ledger.spent)
        self._under_way: dict[int, Batch] = {}
        self._given: dict[int, dict[str, float]] = {}
        # To be asked again: by a larger allowance, or alone, as a worker has died of them.
        self._again: deque[Batch] = deque()
        self._suspects: deque[Batch] = deque()
        self._alone: Batch | None = None
        # Chunks whose rows are run one at a time, with what has become of these.
        self._apart: dict[int, _Apart] = {}
        # Beside how many each chunk under way was begun, and how many the budget still allows.
        self._beside: dict[int, int] = {}
        self._most: int | None = None
        # The longest output of a reply until now, which a budget needs to know.
        self._largest: int | None = None
        self._is_first = True
        # Rows that have had their time: in another attempt at their chunk they are not begun again.
        self._overdue: dict[int, dict[int, dict[str, Any]]] = {}
        # The most rows of a chunk that had an outcome, and how many attempts had no more.
        self._tries: dict[int, tuple[int, int]] = {}
        # How many rows of a chunk wait for approval.
        self._waiting: dict[int, int] = {}
        self._begun = time.monotonic()
        self._speed = Speed(self._begun, 0)
        self._passed_by = 0
        self._processes = 1

    def run(self, parts: Iterator[Batch]) -> Report:
        """Brings all parts to their end, or as far as they come; KeyboardInterrupt at Ctrl-C."""
        told = self._begun
        deadline: float | None = None
        if self.show is not None:
            self.show(self._shown)
        try:
            with _Interrupts() as interrupts:
                while True:
                    try:
                        if self.report.stopped is None:
                            self._fill(parts)
                        if not self._under_way:
                            break
                        done = self.engine.take(_LOOK)
                    except RunStopped as error:  # what chunks are run by is not there
                        self.report.stopped = self.report.stopped or _words(error)
                        break
                    try:
                        if done is not None:
                            self._receive(done)
                    except RunStopped as error:  # what they are kept in takes no more
                        self._stop(_words(error))
                    now = time.monotonic()
                    self._speed.note(now, self.progress().ended - self._passed_by)
                    if interrupts.count and self.report.stopped is None:
                        note("waiting for running rows; press Ctrl-C again to stop now")
                        self._stop("interrupted")
                    if self.report.stopped is not None:
                        deadline = deadline or now + GRACE
                        if now >= deadline:
                            break
                    is_silent = self.is_quiet or self.show is not None
                    if now - told >= _TOLD_EVERY and not is_silent:
                        told = now
                        note(self.progress().line())
        finally:
            self._is_over = True
            self.report.seconds = time.monotonic() - self._begun
        interrupts.pass_on(self.report)
        return self.report

    def _shown(self) -> str:
        return "" if self._is_over else self.progress().bar(width_here())

    def progress(self) -> Progress:
        """How far it is, with the rows that have ended in chunks that are under way."""
        report, tallies = self.report, self.engine.tallies()
        ended = report.done + report.failed + sum(tally.rows for tally in tallies.values())
        return Progress(
            rows=report.rows,
            ended=min(ended, report.rows),
            failed=report.failed + sum(tally.failed for tally in tallies.values()),
            rate=self._speed.rate,
            spent=self.ledger.spent_with({n: tally.spent for n, tally in tallies.items()}),
            processes=self._processes,
        )

    def pass_by(self, part: Batch, failed: Mapping[int, Mapping[str, Any]]) -> None:
        """Counts the rows of a chunk that was done before."""
        self.ledger.settle(part.number, len(part.kept), len(failed), keeps=self.keeps_journals)
        self._count(len(part.kept), failed)
        self._passed_by += len(part.kept)

    def pass_by_rows(self, rows: int) -> None:
        """Counts rows of a chunk that have a result from before."""
        self.report.done += rows
        self._passed_by += rows

    # What is begun

    def _fill(self, parts: Iterator[Batch]) -> None:
        """Begins chunks, as many as there is room for."""
        while self._alone is None and len(self._under_way) < self._room():
            part = self._again.popleft() if self._again else self._next(parts)
            if part is None:
                if self._under_way or not self._suspects:
                    return
                part = self._alone = self._suspects.popleft()
            if not self._submit(part):
                return

    def _next(self, parts: Iterator[Batch]) -> Batch | None:
        """The next chunk, but for those that may have been what ended earlier processes."""
        for part in parts:
            lost = self.ledger.times_lost(part.number) if self.engine.is_here else None
            times, rows = lost or (0, dict[int, int]())
            if times < MOST_BESIDE:
                return part
            note(
                f"the process has ended {times} times while {_named(part)} was under way: its rows "
                "are started one at a time, when all others are done"
            )
            for row, alone in rows.items():
                if alone >= MOST_ALONE and row in part.rows:
                    why = f"the process has ended {alone} times while this row alone was under way"
                    self._give_up_row(part, row, why)
            self._run_apart(part)
        return None

    def _run_apart(self, part: Batch) -> None:
        """Has the rows of a chunk be run one at a time, when all others are done."""
        self._apart[part.number] = _Apart()
        self._suspects.append(part)

    def _give_up_row(self, part: Batch, row: int, why: str) -> None:
        failed = self._overdue.setdefault(part.number, {})
        failed[row] = {"row": row, **_lost(why), "input": part.rows[row]}

    def _room(self) -> int:
        if self._is_first and self._is_blind():
            return 1
        window = max(1, self.engine.window)
        return window if self._most is None else min(window, self._most)

    def _is_blind(self) -> bool:
        """Whether a budget depends on how long replies are, and nothing bounds them."""
        settings = settings_for()
        has_budget = settings.max_total_tokens is not None or settings.max_cost is not None
        return has_budget and settings.max_tokens is None

    def _submit(self, part: Batch) -> bool:
        """Begins a chunk, unless there is nothing left that it may spend."""
        overdue, rows = self._overdue.get(part.number, {}), self._not_overdue(part)
        apart = self._apart.get(part.number) if self._alone is part else None
        if apart is not None:
            rows = dict(itertools.islice(apart.left_of(rows), 1))
        if not rows:
            self._alone = None if self._alone is part else self._alone
            self._finish(part, {} if apart is None else apart.values, {**overdue})
            return True
        allowance = self._allowance()
        spent = next((name for name, most in allowance.items() if most <= 0), None)
        if spent is not None:
            if self._under_way:
                self._again.appendleft(part)
            else:
                self._stop(self._budget(f"raise `{spent}` to go on"))
            return False
        if self.engine.is_here:
            try:
                self.ledger.begin(part.number, None if apart is None else next(iter(rows)))
            except JournalError as error:
                self._stop(_words(error))
                return False
        self._under_way[part.number] = part
        self._given[part.number] = allowance
        self._beside[part.number] = self._room()
        self._processes = self.engine.processes
        chunk = Chunk(part.number, rows, allowance, self._processes, self._largest)
        self.engine.submit(chunk)
        return True

    def _not_overdue(self, part: Batch) -> dict[int, dict[str, Any]]:
        """The rows of a chunk that are not begun again in vain."""
        overdue = self._overdue.get(part.number, {})
        return {row: given for row, given in part.rows.items() if row not in overdue}

    def _allowance(self) -> dict[str, float]:
        """What the next chunk may spend: a part of what is left and given to no other one."""
        settings, found = settings_for(), dict[str, float]()
        for name, what in BUDGETS.items():
            most = getattr(settings, name)
            if most is None:
                continue
            given = sum(one[name] for one in self._given.values())
            left = most - getattr(self.ledger.spent, what) - given
            share = left / max(1, self._room() - len(self._under_way))
            found[name] = share if name == "max_cost" else min(left, -(-share // 1))
        return {name: int(n) if name != "max_cost" else n for name, n in found.items()}

    # What has ended

    def _receive(self, done: Done | Lost) -> None:
        part = self._under_way.pop(done.number)
        self._given.pop(part.number)
        beside = self._beside.pop(part.number)
        was_alone, self._alone = self._alone is part, None
        apart = self._apart.get(part.number) if was_alone else None
        if isinstance(done, Lost):
            if apart is None:
                self._run_apart(part)
            else:
                row = next(iter(apart.left_of(self._not_overdue(part))))[0]
                self._give_up_row(part, row, f"row {row}: {done.why}")
                self._suspects.appendleft(part)
            return
        is_new = self.ledger.note_spent(part.number, done.spent)
        self._is_first = False
        if done.largest is not None:
            self._largest = max(self._largest or 0, done.largest)
        if apart is not None:
            self._overdue.setdefault(part.number, {}).update(done.failed)
            done = apart.add(done)
            if done.stopped is None and any(apart.left_of(self._not_overdue(part))):
                self._suspects.appendleft(part)
                return
        failed = done.failed | self._overdue.pop(part.number, {})
        ended = len(done.values) + len(failed)
        if ended == len(part.rows):
            self._finish(part, done.values, failed)
            return
        late = {row: told for row, told in failed.items() if told["error"] == ROW_TIMEOUT}
        self._overdue[part.number] = late
        self.report.waiting += len(done.waiting) - self._waiting.get(part.number, 0)
        self._waiting[part.number] = len(done.waiting)
        if ended + len(done.waiting) == len(part.rows):
            return  # the rest of its rows have to be approved first
        if isinstance(done.stopped, BudgetSpent):
            # Others may leave something; who had all that was left, and asked nothing, ends it.
            if beside == 1 and not is_new:
                self._stop(self._budget(done.stopped.hint))
            self._most = min(self._room(), max(1, beside // 2))
            self._again.append(part)
        elif done.stopped is not None:
            self._stop(_words(done.stopped))
        elif self.report.stopped is None:  # its worker is about to end
            self._try_again(part, done.values, failed)

    def _try_again(self, part: Batch, values: RowOutcomes, failed: RowOutcomes) -> None:
        """Begins a chunk again that was left, unless nothing new comes of it."""
        ended = len(values) + len(failed)
        most, times = self._tries.get(part.number, (-1, 0))
        times = 1 if ended > most else times + 1
        self._tries[part.number] = (max(ended, most), times)
        if times >= MOST_TRIES:
            why = f"{_named(part)} was started {times} times without an answer to this row"
            self._give_up(part, why, values, failed)
        else:
            (self._again if times < MOST_TRIES - 1 else self._suspects).append(part)

    def _give_up(
        self,
        part: Batch,
        why: str,
        values: RowOutcomes | None = None,
        failed: RowOutcomes | None = None,
    ) -> None:
        """Fails the rows of a chunk that have no outcome."""
        values, failed = values or {}, dict(failed or {})
        for row, given in part.rows.items():
            if row not in values and row not in failed:
                failed[row] = {"row": row, **_lost(why), "input": given}
        self._finish(part, values, failed)

    def _finish(self, part: Batch, values: RowOutcomes, failed: RowOutcomes) -> None:
        self._overdue.pop(part.number, None)
        apart = self._apart.pop(part.number, None)
        self._tries.pop(part.number, None)
        for row, problem in part.problems.items():
            told = {"error": "CheckError", "message": problem, "at": None}
            failed[row] = {"row": row, **told, "input": part.kept[row]}
        self.output.write(part.number, part.kept, values, failed)
        # What rows that are given up have been answered is paid: `--retry-failed` needs it.
        is_given_up = self.engine.is_here and apart is not None and bool(failed)
        keeps = self.keeps_journals or is_given_up
        self.ledger.finish(part.number, len(part.kept), len(failed), keeps=keeps)
        self._count(len(part.kept), failed)
        self._check_failures()

    def _check_failures(self) -> None:
        """Ends the job when more rows have failed than may: a number, or a share of them."""
        most, failed, asked = (
            self.max_failed,
            self.report.failed,
            self.report.failed + self.report.done,
        )
        if most is None:
            return
        if not isinstance(most, float) or most >= 1:
            if failed > most:
                self._stop(f"more than {most:g} rows failed")
        elif asked >= _FEWEST_FOR_SHARE and failed > most * asked:
            self._stop(f"more than {most * 100:g}% of the rows failed")

    def _count(self, rows: int, failed: Mapping[int, Mapping[str, Any]]) -> None:
        self.report.done += rows - len(failed)
        self.report.failures.update(one["error"] for one in failed.values())

    def _stop(self, why: str) -> None:
        if self.report.stopped is None:
            self.report.stopped = why
            with suppress(RunStopped):  # then there is nothing to stop
                self.engine.stop()

    def _budget(self, hint: str | None) -> str:
        spent = self.ledger.spent
        return f"BudgetSpent: the next request would pass the budget; spent: {spent}; {hint}"


def _words(error: SaftError) -> str:
    return redacted(f"{type(error).__name__}: {error}")


def _named(part: Batch) -> str:
    """A chunk in words."""
    rows = list(part.kept)
    return f"chunk {part.number} (rows {rows[0]:,} to {rows[-1]:,})"


class _Interrupts:
    """Counts Ctrl-C and its like in the block; the second ends it at once."""

    def __init__(self) -> None:
        self.count = 0
        self._number = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pass_on(self, report: Report) -> None:
        """Reports it to the program, now that all is kept."""
        if not self.count:
            return
        note(f"{report}; run the same command again to resume")
        if self._number == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM)
        raise KeyboardInterrupt

    def _note(self, number: int, _: FrameType | None) -> None:
        self.count += 1
        self._number = number
        if self.count > 1:
            raise KeyboardInterrupt
