"""What a folder of output is the output of, and what that has taken: `job.journal`.

    {"saft": "map", "version": 1, "same": {...}, "rows": 100000, ...}      what is mapped
    {"begun": 1795317109.8, "process": "node3-4711"}                       a process takes it up
    {"chunk": 17, "rows": 200, "failed": 3, "spent": [203, 8120, 4060, 0.12], "journals": [...]}

One process at a time has it. A chunk's line comes after its part, and before its journals go.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from runtime_support._config import Settings
from runtime_support._files import UNFINISHED
from runtime_support._names import listed
from runtime_support._runs.journal import time_text
from runtime_support._runs.lines import Entry, Held, line_of, usage_of
from runtime_support._runs.spending import Spending, Spent
from runtime_support._values import counted, is_object
from runtime_support.errors import ConfigError
from runtime_support.scale._chunk import journals_of, lines_in
from runtime_support.scale._output import cannot_write

VERSION = 1


class Ledger:
    """The lines of a job; ConfigError when the folder holds another one, or another has it."""

    def __init__(self, folder: str, same: Mapping[str, Any], count: Callable[[], int]) -> None:
        self.path = os.path.join(folder, "job.journal")
        self.journals = os.path.join(folder, "journal")
        self.spent = Spent()
        # What chunks have taken that are not done, and those that have a line.
        self._under_way: dict[int, Spent] = {}
        self._finished: set[int] = set()
        # Journals whose cost stands in the lines of their chunks, and those that are kept.
        self._counted: set[str] = set()
        self._keeps: set[str] = set()
        try:
            os.makedirs(folder, exist_ok=True)
            is_empty = not os.path.exists(self.path)
            if is_empty and any(name.startswith("part-") for name in os.listdir(folder)):
                raise ConfigError(f"{folder} has parts, and no job.journal says of what")
            self._file = Held(self.path, 0o600, waits=False)
        except BlockingIOError:
            raise ConfigError(f"{folder}: another process is at it, {self._holder()}") from None
        except OSError as error:
            raise ConfigError(f"cannot use {folder}: {error.strerror or error}") from None
        try:
            self._file.mend()
            self.rows = self._read(folder, same, count)
            self._add({"begun": _now(), "process": _process()})
            begun = [name for name in os.listdir(folder) if name.startswith(UNFINISHED)]
            parts = [os.path.join(folder, name) for name in begun]
            for unfinished in [*parts, *journals_of(self.journals, ending=".tmp")]:
                os.unlink(unfinished)
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
                os.unlink(path)
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
        torn = journals_of(self.journals, number, ".tmp")
        for path in torn if keeps else [*paths, *torn]:
            with suppress(FileNotFoundError):  # an attempt that nobody waits for has it
                os.unlink(path)

    def close(self) -> None:
        """Lets the folder go."""
        self._file.close()

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
        if head.get("saft") != "map" or head.get("version") != VERSION:
            raise ConfigError(f"{self.path} is no journal of a job of this version")
        now = json.loads(json.dumps(same))
        others = [name for name in now if head["same"].get(name) != now[name]]
        if others:
            parts = sum(name.startswith("part-") for name in os.listdir(folder))
            stay = counted(parts, "part that stays", "parts that stay")
            raise ConfigError(
                f"{folder} holds another job: not the same are {listed(others)}",
                hint=f"it has {stay}: name another folder"
                if parts
                else "it has no parts: remove it, or name another folder",
            )
        for line in lines:
            if "chunk" in line:
                self.spent.add(Spent(*line["spent"]))
                self._finished.add(line["chunk"])
                self._counted.update(line["journals"])
                self._keeps.update(line["journals"] if line["keep"] else ())
        return int(head["rows"])

    def _lines(self) -> Iterator[Entry]:
        """The lines that can be read."""
        with open(self.path, "rb") as file:
            for line in file:
                with suppress(ValueError):
                    yield json.loads(line)

    def _holder(self) -> str:
        begun = [line for line in self._lines() if "begun" in line]
        if not begun:
            return "just now"
        return f"{begun[-1]['process']} since {time_text(begun[-1]['begun'])}"


def _exchanges(journals: list[str]) -> Iterator[Any]:
    """The model and the tokens of each exchange that the attempts at a chunk have left."""
    for line in lines_in(journals):
        with suppress(ValueError):  # damaged, which the next attempt passes over
            entry = json.loads(line)
            if is_object(entry) and "used" in entry:
                yield entry["used"]


def _process() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def _now() -> float:
    return round(time.time(), 3)
