"""Stores the rows of a job in `job.db`, the file that also holds the journal of their prompts.

    job (name, value)                               the job's inputs, and how its processes ended
    row (number, status, data, tries)               the rows that were started

The status of a row is `running`, or `alone` if it runs without other rows. A row that has ended is
`done` or `failed`; its data is the columns of its result, or its error. A row that waits for
approval is `waiting`. A row that must start again is `open`, or `suspect` if it must run alone.

The crash rule: when a process is killed, one of its running rows may be the cause. After three
killed processes without progress in between, the rows that were running become suspects. They are
run one at a time. A row fails when its process ended three times while the row ran alone.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from runtime_support._core.settings import settings_for
from runtime_support._journal.hook import count_recorded, keeping_in
from runtime_support._journal.journal import Journal, is_journal, reading
from runtime_support._journal.json_lines import Entry
from runtime_support._language.files import UNFINISHED
from runtime_support._values.kinds import counted
from runtime_support._values.names import listed
from runtime_support.errors import ConfigError, ReplayMiss, SaftError
from runtime_support.map._columns import json_value

VERSION = 3
_UNFINISHED = UNFINISHED + "[0-9a-f]" * 16
# How many processes may end, one after the other and without progress, before rows are run alone.
# Also, how many may end while a row runs alone before that row fails.
MOST_ENDS = 3

Status: TypeAlias = Literal["done", "failed", "waiting", "open"]

_TABLES = (
    "create table if not exists job (name text primary key, value text)",
    "create table if not exists row (number integer primary key, status text not null, data text, "
    "tries integer not null default 0)",
)
_SET = "insert into job values (?1, ?2) on conflict do update set value = ?2"
_BEGIN = "insert into row (number, status) values (?1, ?2) on conflict do update set status = ?2"
_END = (
    "insert into row (number, status, data) values (?1, ?2, ?3) "
    "on conflict do update set status = ?2, data = ?3, tries = 0"
)
_BETWEEN = "number between ? and ? and status in ('done', 'failed')"
# Progress of a row: a new reply, or a tool call that has ended.
_NEW = "id > ? and (step glob '[0-9]*' or json_extract(data, '$.ms') is not null)"

# The values that identify a job, with their names in messages.
_WORDS = {
    "version": "version of saftc",
    "function": "function",
    "script": "script",
    "returns": "type of its result",
    "input": "table",
    "reading": "`delimiter` or `encoding`",
    "columns": "`rename`",
    "constants": "`set`",
    "keep": "`columns`",
    "format": "`format`",
    "limit": "`limit`",
    "part_rows": "`part_rows`",
    "settings": "model or settings",
}
# The values that may differ when failed rows are retried.
_EDITED = ("script", "settings")


class Outcome(NamedTuple):
    """The outcome of a row: its columns, or its error. `stop` is an error that ends the job."""

    status: Status
    data: Entry
    stop: SaftError | ReplayMiss | None = None


class Row(NamedTuple):
    """A row to run: its number and its arguments."""

    number: int
    arguments: dict[str, Any]

    def failed(self, found: Entry, stop: SaftError | None = None) -> Outcome:
        """The outcome of this row if it failed with the error `found`."""
        return Outcome("failed", {"row": self.number, **found, "input": self.arguments}, stop)


def find_job(folder: str, now: Entry, *, retry_failed: bool) -> tuple[Entry | None, list[str]]:
    """Returns the job in a folder, and the names of the inputs that were edited since it started.

    A job is the values that identify it, and its number of rows; it is None if there is no job in
    the folder. Raises ConfigError if the folder belongs to something else, to another job than
    `now`, or, without `retry_failed`, if any input was edited. The folder is not changed.
    """
    job = _read_job(folder)
    if job is None:
        return None, []
    now = json.loads(json.dumps(now))
    others = [name for name in now if job.get(name) != now[name]]
    words = [_WORDS[name] for name in others]
    if not others or (retry_failed and set(others) <= {*_EDITED}):
        return job, words
    parts = sum(name.startswith("part-") for name in os.listdir(folder))
    stay = counted(parts, "part that stays", "parts that stay")
    hint = f"it has {stay}: name another folder"
    if not parts:
        hint = "it has no parts: remove it, or name another folder"
    elif set(others) <= {*_EDITED}:
        hint += "; `--retry-failed` runs the failed and the remaining rows"
    raise ConfigError(
        f"{folder} holds another job, which was started with a different {listed(words)}", hint=hint
    )


def _read_job(folder: str) -> Entry | None:
    path = job_path(folder)
    if os.path.islink(path):
        raise ConfigError(f"{path} is a link: remove it, or name another folder")
    if not os.path.exists(path):
        if os.path.isdir(folder) and any(one.startswith("part-") for one in os.listdir(folder)):
            raise ConfigError(f"{folder} has parts, but no job.db, which names their job")
        return None
    with reading(path) as database:
        names = "select name from sqlite_master where name in ('job', 'entry')"
        found = {name for (name,) in database.execute(names)}
        if "job" in found:
            told = database.execute("select value from job where name = 'same'").fetchone()
            if told:
                return json.loads(told[0])
        # A process may have been killed just after it began.
        elif "entry" in found and database.execute("select 1 from entry where key > ''").fetchone():
            raise ConfigError(f"{path} is not the file of a job", hint="name another folder")
    return None


def job_path(folder: str) -> str:
    """The path of the job's file in an output folder."""
    return os.path.join(folder, "job.db")


@contextmanager
def begin_journal(folder: str, name: str) -> Generator[Journal]:
    """Yields the journal of the job, after merging other journals in the folder into it.

    Raises ConfigError if the folder cannot be used, or if another process uses it.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        journal = Journal(job_path(folder), name)
    except OSError as error:
        raise ConfigError(f"cannot use {folder}: {error.strerror or error}") from None
    with keeping_in(journal):
        for path in Path(folder).glob(_UNFINISHED):  # left by a killed process
            if path.is_file() and not path.is_symlink():
                path.unlink()
        for path in sorted(Path(folder, "journal").glob("*")):
            if not path.is_symlink() and is_journal(str(path)):
                journal.merge(str(path))
        count_recorded(journal, settings_for(), for_blocks=True)
        yield journal


class JobStore:
    """The rows of a job, in the process that has opened its journal."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        for statement in _TABLES:
            journal.write(statement)
        # The parts that were written before all of their rows had ended.
        self.partial = set[int]()

    def begin_process(self, job: Entry) -> None:
        """Stores the job: the values that identify it, and its number of rows.

        Rows that may have crashed earlier processes become suspects, by the crash rule of this
        module.
        """
        found = dict(self.journal.read("select name, value from job"))
        self.partial.update(json.loads(found.get("partial", "[]")))
        self._set("same", job)
        self._take_up(found)

    def _take_up(self, state: Entry) -> None:
        """Applies this module's crash rule to rows that the previous process left unfinished."""
        read, write = self.journal.read, self.journal.write
        process = "from entry where key is null and step"
        before = f"select id {process} = 'begun' order by id desc limit 1, 1"
        begun = read(f"select coalesce(({before}), 0)")[0][0]
        has_new = state.get("progress") == "1" or self.has_new(begun)
        ends = int(state.get("ends", 0))
        if has_new:
            ends = 0
            write("update row set tries = 0 where status in ('alone', 'suspect')")
        if not read(f"select 1 {process} = 'ended' and id > ?", begun):  # it was killed
            for (number,) in read("select number from row where status = 'alone'"):
                if not self.has_new(begun, number):
                    write("update row set tries = tries + 1 where number = ?", number)
            if not has_new and read("select 1 from row where status = 'running' limit 1"):
                ends += 1
        if ends >= MOST_ENDS:
            write("update row set status = 'suspect', tries = 0 where status = 'running'")
            ends = 0
        self._set("ends", ends)
        self._set("progress", 0)
        self.leave()

    def leave(self) -> None:
        """Marks running rows as `open`, and a row that runs alone as `suspect`."""
        self.journal.write("update row set status = 'open' where status = 'running'")
        self.journal.write("update row set status = 'suspect' where status = 'alone'")

    @property
    def last_entry(self) -> int:
        """The id of the newest journal entry."""
        return self.journal.read("select coalesce(max(id), 0) from entry")[0][0]

    def has_new(self, since: int, number: int | None = None) -> bool:
        """True if there is progress after the journal entry `since`.

        With `number`, only the progress of this row counts.
        """
        of_row = f"and (scope = 'row/{number}' or scope glob 'row/{number}/*')"
        where = f"{_NEW} {'' if number is None else of_row}"
        return bool(self.journal.read(f"select 1 from entry where {where} limit 1", since))

    def suspects(self) -> dict[int, int]:
        """Maps each suspect row to the number of processes that ended while the row ran alone."""
        return dict(self.journal.read("select number, tries from row where status = 'suspect'"))

    def begin(self, numbers: list[int], *, alone: bool) -> None:
        """Marks rows as running before they start; the mark survives a crash of the process."""
        for number in numbers:
            self.journal.write_soon(_BEGIN, number, "alone" if alone else "running")
        if numbers:
            self.journal.flush()

    def end(self, number: int, outcome: Outcome) -> None:
        """Records the outcome of a row; the next commit writes it to the file."""
        self.journal.write_soon(_END, number, outcome.status, json.dumps(json_value(outcome.data)))
        self.journal.write_soon(_SET, "progress", "1")
        self.journal.release(f"row/{number}")

    def reopen_failed(self) -> list[int]:
        """Marks all failed rows as `open`; returns their numbers."""
        query = "select number from row where status = 'failed' order by number"
        found = [number for (number,) in self.journal.read(query)]
        self.journal.write("update row set status = 'open', tries = 0 where status = 'failed'")
        return found

    def ended(self, first: int, last: int) -> set[int]:
        """The numbers of the rows from `first` to `last` that have ended."""
        query = f"select number from row where {_BETWEEN}"
        return {number for (number,) in self.journal.read(query, first, last)}

    def counts(self) -> tuple[int, Counter[str]]:
        """How many rows are done, and how many have failed with each error."""
        done = self.journal.read("select count(*) from row where status = 'done'")[0][0]
        query = (
            "select json_extract(data, '$.error'), count(*) from row where status = 'failed' "
            "group by 1"
        )
        return done, Counter(dict(self.journal.read(query)))

    @property
    def last_ended(self) -> int:
        """The number of the last row that has ended, or -1 if no row has ended."""
        query = "select coalesce(max(number), -1) from row where status in ('done', 'failed')"
        return self.journal.read(query)[0][0]

    def outcomes(self, first: int, last: int) -> Iterator[tuple[int, Outcome]]:
        """Yields the numbers and outcomes of the rows from `first` to `last` that have ended."""
        query = f"select number, status, data from row where {_BETWEEN} order by number"
        for number, status, text in self.journal.read(query, first, last):
            yield number, Outcome(status, json.loads(text))

    def mark_partial(self, part: int) -> None:
        """Marks an output file that lacks rows, so that it is written again with these rows later.

        The mark is stored before the incomplete file is written.
        """
        if part not in self.partial:
            self.partial.add(part)
            self._set("partial", sorted(self.partial))

    def begun_rows(self) -> set[int]:
        """The numbers of the rows that have journal entries and have not ended."""
        query = (
            "select distinct cast(substr(scope, 5) as integer) from entry "
            "where scope glob 'row/[0-9]*' except "
            "select number from row where status in ('done', 'failed')"
        )
        return {number for (number,) in self.journal.read(query)}

    def entries_of(self, number: int) -> list[Any]:
        """The journal entries of a row, to be sent to another process."""
        return self.journal.rows_within(f"row/{number}")

    def _set(self, name: str, value: Any) -> None:
        self.journal.write(_SET, name, json.dumps(value))
