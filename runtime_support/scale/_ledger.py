"""What a folder of output is the output of, and what that has taken: `job.journal`.

    {"saft": "map", "version": 1, "same": {...}, "rows": 100000, ...}      what is mapped
    {"begun": 1795317109.8, "process": "node3-4711"}                       a process takes it up
    {"try": 17, "requests": 12, "alone": false}                            it begins a chunk
    {"chunk": 17, "rows": 200, "failed": 3, "spent": [203, 8120, 4060, 0.12], "journals": [...]}
    {"ended": 1795317171.2}                                                it is over, in order

One process at a time has it. A chunk's line comes after its part, and before its journals go. What
a process had begun that was not over in order may have been what ended it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from typing import Any

from runtime_support._language.files import UNFINISHED
from runtime_support._names import listed
from runtime_support._settings import Settings
from runtime_support._values import counted, is_object
from runtime_support.errors import ConfigError, JournalError
from runtime_support.runs._budgets import Spending, Spent
from runtime_support.runs._journal import entries, remove, time_text
from runtime_support.runs._lines import Entry, Held, line_of, usage_of
from runtime_support.scale._chunk import journals_of
from runtime_support.scale._output import cannot_write

VERSION = 1
_HEAD = b'{"saft": "map"'
_UNFINISHED = re.compile(re.escape(UNFINISHED) + "[0-9a-f]{16}")
# What makes a job another one, in words.
_WORDS = {
    "function": "function",
    "script": "script",
    "input": "table",
    "columns": "`column`",
    "constants": "`set`",
    "keep": "`keep`",
    "format": "`format`",
    "limit": "`limit`",
    "chunk_rows": "`chunk_rows`",
    "settings": "model or settings",
}


@dataclass(slots=True)
class _Losses:
    """How many processes in a row were lost with a chunk under way, and with one row of it alone.

    `known` is how many requests were kept of the chunk then.
    """

    known: int = 0
    times: int = 0
    rows: Counter[int] = field(default_factory=Counter[int])

    def add(self, known: int, row: int | None) -> None:
        """Counts a process that was lost, in a row with others if nothing was kept between them."""
        if known > self.known:
            self.times, self.rows = 0, Counter()
        self.known = known
        self.times += 1
        if row is not None:
            self.rows[row] += 1


class Ledger:
    """The lines of a job; ConfigError when the folder holds another one, or another has it."""

    def __init__(self, folder: str, same: Mapping[str, Any], count: Callable[[], int]) -> None:
        self.path = os.path.join(folder, "job.journal")
        self.journals = os.path.join(folder, "journal")
        self.spent = Spent()
        # What chunks have taken that are not done, and those that have a line.
        self._under_way: dict[int, Spent] = {}
        self._finished: set[int] = set()
        # Journals whose cost is in the lines of their chunks, and those that are kept.
        self._counted: set[str] = set()
        self._keeps: set[str] = set()
        # Chunks that were under way when a process was lost.
        self._lost: dict[int, _Losses] = {}
        try:
            os.makedirs(folder, exist_ok=True)
            if os.path.islink(self.path):
                raise ConfigError(f"{self.path} is a link: remove it, or name another folder")
            is_empty = not os.path.exists(self.path)
            if is_empty and any(name.startswith("part-") for name in os.listdir(folder)):
                raise ConfigError(f"{folder} has parts, but no job.journal, which names their job")
            self._file = Held(self.path, 0o600, waits=False)
        except BlockingIOError:
            raise ConfigError(f"{folder}: another process is using it, {self._holder()}") from None
        except OSError as error:
            raise ConfigError(f"cannot use {folder}: {error.strerror or error}") from None
        try:
            self._check_head()
            self._file.mend()
            self.rows = self._read(folder, same, count)
            self._add({"begun": _now(), "process": _process()})
            for path in _unfinished(folder):
                os.unlink(path)
            for path in journals_of(self.journals, torn=True):
                os.unlink(path)
        except BaseException:
            self._file.close()
            raise

    def take_up(self, settings: Settings) -> None:
        """Counts what earlier processes have paid for chunks that they did not finish.

        What a finished chunk has left is cleared away.
        """
        unfinished: dict[int, list[str]] = {}
        for path in journals_of(self.journals):
            name = os.path.basename(path)
            number = name.partition(".")[0]
            if not number.isdecimal():  # somebody else has put it there
                continue
            if name not in self._counted:
                unfinished.setdefault(int(number), []).append(path)
            elif name not in self._keeps:
                remove(path)
        for chunk, paths in unfinished.items():
            spending = Spending()
            for model, *used in _exchanges(paths):
                spending.add_kept(settings, model, usage_of(*used), used[1])
            self.note_spent(chunk, spending.total)

    def note_spent(self, number: int, spent: Spent) -> bool:
        """Counts what a chunk has taken until now; whether that is more than was known."""
        before = self._under_way.get(number, Spent())
        self.spent.take(before)
        self._under_way[number] = spent
        self.spent.add(spent)
        return spent.requests > before.requests

    def begin(self, number: int, row: int | None) -> None:
        """Notes that a chunk is begun, or one of its rows and nothing else."""
        self._add({"try": number, "requests": self._requests(number), "row": row})

    def times_lost(self, number: int) -> tuple[int, Mapping[int, int]]:
        """How many processes in a row were lost with a chunk under way and nothing new kept of it.

        And with which of its rows alone.
        """
        lost = self._lost.get(number, _Losses())
        return (lost.times, lost.rows) if self._requests(number) <= lost.known else (0, {})

    def spent_with(self, under_way: Mapping[int, Spent]) -> Spent:
        """What the job has taken, with what running chunks have reported."""
        whole = Spent()
        whole.add(self.spent)
        for number, spent in under_way.items():
            whole.take(self._under_way.get(number, Spent()))
            whole.add(spent)
        return whole

    def settle(self, number: int, rows: int, failed: int, *, keeps: bool) -> None:
        """Finishes a chunk whose part is there, when a process was killed before its line was.

        Failed rows that were being asked again may go on.
        """
        if number in self._under_way and (not failed or number not in self._finished):
            self.finish(number, rows, failed, keeps=keeps)

    def finish(self, number: int, rows: int, failed: int, *, keeps: bool) -> None:
        """Notes that a chunk is done; its journals go, unless they are kept."""
        spent = self._under_way.pop(number, Spent())
        paths = journals_of(self.journals, number)
        line: Entry = {"chunk": number, "rows": rows, "failed": failed, "time": _now()}
        line["spent"] = list(astuple(spent))
        line["journals"] = [os.path.basename(path) for path in paths]
        line["keep"] = keeps
        self._add(line)
        # With what a process that was killed has left of a copy.
        torn = journals_of(self.journals, number, torn=True)
        for path in torn if keeps else [*paths, *torn]:
            remove(path)

    def close(self) -> None:
        """Lets the folder go."""
        with suppress(JournalError):  # a full disk was reported to the job already
            self._add({"ended": _now()})
        self._file.close()

    def _requests(self, number: int) -> int:
        return self._under_way.get(number, Spent()).requests

    def _add(self, entry: Entry) -> None:
        try:
            self._file.add(line_of(entry))
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def _read(self, folder: str, same: Mapping[str, Any], count: Callable[[], int]) -> int:
        lines = list(self._lines())
        if not lines:
            rows = count()
            head = {"saft": "map", "version": VERSION, "time": _now(), "rows": rows, "same": same}
            self._add(head)
            return rows
        head = lines[0]
        before, rows = head.get("same"), head.get("rows")
        is_known = head.get("saft") == "map" and head.get("version") == VERSION
        if not is_known or not is_object(before) or not isinstance(rows, int):
            raise ConfigError(f"{self.path} is not a journal of a job of this version")
        now = json.loads(json.dumps(same))
        others = [_WORDS[name] for name in now if before.get(name) != now[name]]
        if others:
            parts = sum(name.startswith("part-") for name in os.listdir(folder))
            stay = counted(parts, "part that stays", "parts that stay")
            raise ConfigError(
                f"{folder} holds another job, which was started with a different {listed(others)}",
                hint=f"it has {stay}: name another folder"
                if parts
                else "it has no parts: remove it, or name another folder",
            )
        for line in lines:
            with suppress(KeyError, TypeError, ValueError):  # a damaged line: its part is there
                if "chunk" in line:
                    self._read_chunk(line)
        self._read_tries(lines)
        return rows

    def _read_chunk(self, line: Entry) -> None:
        number, journals, keeps = int(line["chunk"]), list[str](line["journals"]), line["keep"]
        if not all(isinstance(part, int | float) for part in line["spent"]):
            raise ValueError
        self.spent.add(Spent(*line["spent"]))
        self._finished.add(number)
        self._counted.update(journals)
        self._keeps.update(journals if keeps else ())

    def _read_tries(self, lines: list[Entry]) -> None:
        """Counts the chunks that processes had under way when they ended out of order."""
        begun = dict[int, tuple[int, int | None]]()
        for line in [*lines, {"begun": 0.0}]:
            number, requests = line.get("chunk", line.get("try")), line.get("requests")
            if "begun" in line:
                for lost, (known, row) in begun.items():
                    self._lost.setdefault(lost, _Losses()).add(known, row)
            if "begun" in line or "ended" in line:
                begun.clear()
            elif "chunk" in line and isinstance(number, int):
                begun.pop(number, None)
                self._lost.pop(number, None)
            elif isinstance(number, int) and isinstance(requests, int):
                _, ended = begun.get(number, (0, None))
                if ended is not None and number in self._lost:
                    del self._lost[number].rows[ended]
                row = line.get("row")
                begun[number] = (requests, row if isinstance(row, int) else None)

    def _check_head(self) -> None:
        """ConfigError when the file is not a job's, before anything in it is changed."""
        with open(self.path, "rb") as file:
            first = file.readline()
        # A process that was killed may have left no more than a part of its first line.
        if first and not _HEAD.startswith(first[: len(_HEAD)]):
            raise ConfigError(
                f"{self.path} is not a journal of a job of this version",
                hint="it stays as it is: name another folder",
            )

    def _lines(self) -> Iterator[Entry]:
        """The lines that can be read."""
        with open(self.path, "rb") as file:
            for line in file:
                with suppress(ValueError, RecursionError):
                    entry = json.loads(line)
                    if is_object(entry):
                        yield entry

    def _holder(self) -> str:
        begun = [line for line in self._lines() if "begun" in line]
        if not begun:
            return "just now"
        process, since = begun[-1].get("process"), begun[-1]["begun"]
        return f"{process} since {time_text(since)}" if isinstance(since, float) else f"{process}"


def _unfinished(folder: str) -> list[str]:
    """What a process that was killed has left of parts in this folder: regular files of one's own.

    A script may write such files as well, which are not there for long.
    """
    with os.scandir(folder) as entries:
        return [
            entry.path
            for entry in entries
            if _UNFINISHED.fullmatch(entry.name)
            and entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == _user()
        ]


def _user() -> int:
    """Who runs this; on Windows, files have no owner to compare."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _exchanges(journals: list[str]) -> Iterator[Any]:
    """The model and the tokens of each exchange that the attempts at a chunk have left."""
    seen = set[str]()
    for path in journals:
        with suppress(ConfigError):  # a process was killed before it was one
            for entry in entries(path):
                text = json.dumps(entry)
                if "used" in entry and text not in seen:
                    seen.add(text)
                    yield entry["used"]


def _process() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def _now() -> float:
    return round(time.time(), 3)
