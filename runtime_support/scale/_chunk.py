"""Some rows in a process that may have several such chunks under way: what a worker does.

    run_chunk(job, chunk, function, is_wanted)    Done: what each row gave, or what went wrong

A row is a call of the function as a tool. Its prompts are kept in the journal of the chunk, each
attempt at which has a file of its own: it goes on with what the earlier attempts have left.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from runtime_support._config import configured_here, settings_for
from runtime_support._failures import words_of
from runtime_support._jsontext import to_json
from runtime_support._positions import position_of_error
from runtime_support._redaction import redacted
from runtime_support._runs.keeping import journaled_part
from runtime_support._runs.places import scoped
from runtime_support._runs.spending import Spent, spending_apart, spending_here
from runtime_support._schema.checking import validate
from runtime_support._tools import Tool, bound, function_tool
from runtime_support._values import plain
from runtime_support.errors import (
    AuthenticationFailed,
    BudgetSpent,
    ConfigError,
    ProviderError,
    RateLimited,
    RunStopped,
    SaftError,
    printable,
)
from runtime_support.scale._columns import RESULT, fitted, spread
from runtime_support.scale._job import Function, Job
from runtime_support.scale._output import cannot_write

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


@dataclass(slots=True)
class Done:
    """What became of a chunk: the columns of each row, or what went wrong with it.

    Rows in neither were not asked, or not to their end; `stopped` is then what has ended the job,
    if it was not somebody who did. `spent` is what the chunk took, with earlier attempts.
    """

    number: int
    values: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    failed: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    stopped: SaftError | None = None
    spent: Spent = field(default_factory=Spent)
    largest: int | None = None


def run_chunk(job: Job, chunk: Chunk, function: Function, is_wanted: Callable[[], bool]) -> Done:
    """Calls the function for each row, in threads; no new row begins when it is not wanted."""
    done = Done(chunk.number)
    tool = function_tool(job.part_of, function)
    with ExitStack() as block:
        settings = {**job.settings, "max_in_flight": job.in_flight}
        block.enter_context(configured_here(settings, job.around))
        spending = block.enter_context(spending_apart(chunk.largest))
        block.enter_context(journaled_part(_attempt(job, chunk.number), job.part_of))
        block.enter_context(configured_here(_bounds(chunk, spending.total)))
        crew = block.enter_context(_crew(job))
        over = threading.Semaphore(0)

        def answer(number: int, arguments: dict[str, Any]) -> None:
            try:
                if not (done.stopped or crew.stopped) and is_wanted():
                    stopped = _row(job, tool, number, arguments, done)
                    done.stopped = done.stopped or stopped
                    # Another chunk may have more to spend.
                    if not isinstance(stopped, BudgetSpent):
                        crew.stopped = crew.stopped or stopped
            finally:
                over.release()

        for number, arguments in chunk.rows.items():
            crew.do(partial(copy_context().run, partial(answer, number, arguments)))
        for _ in chunk.rows:
            over.acquire()
        done.stopped = done.stopped or crew.stopped
    done.spent, done.largest = spending.total, spending.largest
    return done


def _bounds(chunk: Chunk, kept: Spent) -> dict[str, Any]:
    """The settings by which the chunk keeps to its allowance, and to its part of the rates.

    What its journal holds was counted before, and counts as spent here.
    """
    settings = settings_for()
    found: dict[str, Any] = {}
    for name, most in chunk.allowance.items():
        found[name] = most + getattr(kept, BUDGETS[name])
    for name in _RATES:
        rate = getattr(settings, name)
        if rate is not None:
            found[name] = rate / chunk.sharing
    return found


def _row(
    job: Job, tool: Tool, number: int, arguments: dict[str, Any], done: Done
) -> SaftError | None:
    """Answers a row, into `done`; gives what ends the job, or the chunk.

    That ends it even if the function has caught it: what it gave then is no answer to the row.
    """
    place, found = done.values, dict[str, Any]()
    try:
        with scoped(f"row/{number}"):
            call = bound(tool, {**arguments, **job.constants})
            found = _columns(job, tool, call())
    except (Exception, SystemExit) as error:
        if isinstance(error, SaftError) and _ends_the_job(error):
            return error
        place, found = done.failed, {"row": number, **told(error), "input": arguments}
    stopped = spending_here().stopped
    if stopped is None:
        place[number] = found
    return stopped


def _columns(job: Job, tool: Tool, value: Any) -> dict[str, Any]:
    returns = tool.signature.returns
    data = json.loads(to_json(validate(plain(value), returns, path=RESULT)))
    columns = spread(data, returns)
    if job.columns is None:
        return columns
    return {name: fitted(columns[name], form, name) for name, form in job.columns.items()}


def _ends_the_job(error: SaftError) -> bool:
    """Whether no other row would do better, for now."""
    match error:
        case RunStopped() | ConfigError() | AuthenticationFailed() | RateLimited():
            return True
        case ProviderError():
            return error.stays_away
        case _:
            return False


def told(error: BaseException) -> dict[str, Any]:
    """What went wrong with a row, as data; without secrets."""
    position = getattr(error, "saft_position", None)
    message = str(error) if isinstance(error, SaftError) else printable(words_of(error))
    replies = getattr(error, "replies", None)
    return {
        "error": type(error).__name__,
        "message": redacted(message),
        "at": position or position_of_error(error, error.__traceback__) or _in_python(error),
        **({} if replies is None else {"replies": replies}),
    }


def _in_python(error: BaseException) -> str | None:
    """The line that raised it, when no script did."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, SaftError):
        return None
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"


# The journal of an attempt


def journals_of(folder: str, number: int | None = None, ending: str = ".jsonl") -> list[str]:
    """The journals of a chunk's attempts, or of all, the oldest first.

    With the ending `.tmp`, what a process that was killed has left of copies.
    """
    begins = "" if number is None else f"{number:06d}."
    try:
        # Not by `glob`, which remembers each pattern that it was ever asked for.
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    found = (name for name in names if name.startswith(begins) and name.endswith(ending))
    return sorted((os.path.join(folder, name) for name in found), key=_age)


def _age(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except FileNotFoundError:  # another attempt has it by now
        return 0.0


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
    with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for line in lines_in(earlier):
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
    os.replace(copy, path)
    for old in earlier:
        with suppress(FileNotFoundError):  # an attempt that nobody waits for may do the same
            os.unlink(old)


def lines_in(journals: list[str]) -> Iterator[bytes]:
    """The whole lines of journals, each once: what was copied stands in two, until one is gone.

    A process that was killed may have left one that is empty, or has a half line at its end.
    """
    seen = set[bytes]()
    for journal in journals:
        with suppress(FileNotFoundError), open(journal, "rb") as file:
            for line in file:
                if line.endswith(b"\n") and line not in seen:
                    seen.add(line)
                    yield line


# The threads of a process


class _Crew:
    """Daemon threads that do what they are given, in order, so much at once.

    `stopped` is what has ended the job, for all its chunks here.
    """

    def __init__(self, most: int) -> None:
        self.users = 0
        self.stopped: SaftError | None = None
        self._actions: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._most = most
        self._threads = 0

    def do(self, action: Callable[[], object]) -> None:
        """Has it done as soon as a thread is free."""
        self._actions.put(action)
        with _hiring:
            is_wanted = self._threads < self._most
            self._threads += is_wanted
        if is_wanted:
            threading.Thread(target=self._work, name="saft row", daemon=True).start()

    def end(self) -> None:
        """Has the threads end after what they were given."""
        for _ in range(self._threads):
            self._actions.put(None)

    def _work(self) -> None:
        while (action := self._actions.get()) is not None:
            action()


_crews: dict[str, _Crew] = {}
_hiring = threading.Lock()


@contextmanager
def _crew(job: Job) -> Generator[_Crew]:
    """The threads of a job, which all its chunks in this process share."""
    with _hiring:
        crew = _crews.setdefault(job.run, _Crew(job.in_flight))
        crew.users += 1
    try:
        yield crew
    finally:
        with _hiring:
            crew.users -= 1
            if not crew.users:
                del _crews[job.run]
                crew.end()
