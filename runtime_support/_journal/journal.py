"""A journal: the requests, replies and tool calls of one run, in an SQLite file.

    sqlite3 run.journal 'select kind, step, data from entry'

    process   begun  {"script": "triage", "pid": 4711, "time": ...}
    exchange  0      {"used": ["gpt-4o-mini", 11, 7], "hash": ..., "reply": {...}}
    call      t1     {"tool": "look_up", "sent": ..., "time": ...}            at its start
    call      t1     {"tool": "look_up", "sent": ..., "result": "3.5", "ms": 0.1}   at its end
    approval  t2     {"asks": "refund", "digest": ..., ...}                   a call waits
    approval  t2     {"asks": "refund", "decided": "yes", "by": "ada", ...}
    retry     2      {"why": "ContractError: ..."}       exchanges from step 2 on are repeated
    place     place  {"place": "1.3:0"}                  the prompt now has this position in the run
    process   ended  {"ended": "ok", ...}

Rows are added and never changed. Of the rows of a prompt that have the same kind and step, the
newest counts. Each row has a checksum. When `put` returns, its row is on the disk (write-ahead log,
full synchronisation). Threads that write at the same time share a transaction.

While a process has a journal open, three more files are in its folder: SQLite's `run.journal-wal`
and `run.journal-shm`, and the lock file `run.journal-lock`. The lock file prevents other processes
from starting a run with the journal, and stores the number of rows. If the process is killed, the
three files stay and belong to the journal. Other processes may read the journal at any time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote
from weakref import WeakSet
from zlib import crc32

from runtime_support._core.notes import note
from runtime_support._core.redaction import holds_secret
from runtime_support._core.results import Usage
from runtime_support._core.scopes import PromptKey, order_of
from runtime_support._core.spending import UsageMeter
from runtime_support._journal.closures import ClosedValues, Match
from runtime_support._journal.json_lines import Entry, LockedFile, lock
from runtime_support._language.files import PRIVATE, check_regular
from runtime_support._values.context import after_fork
from runtime_support._values.kinds import counted
from runtime_support._version import __version__
from runtime_support.errors import ConfigError, JournalError, JournalInUse

VERSION = 4


class RowKind(StrEnum):
    """The kinds of rows in a journal."""

    PROCESS = "process"
    EXCHANGE = "exchange"
    CALL = "call"
    APPROVAL = "approval"
    RETRY = "retry"
    PLACE = "place"


_ID = 0x53414654  # "SAFT", the application id in the header of the SQLite file
_TABLE = """\
CREATE TABLE entry (
    id integer primary key,
    scope text, key text, place text, step text not null, kind text not null, data text not null,
    sum integer not null
)"""
_INDEX = "CREATE INDEX entry_place on entry (key, scope, place, kind, step)"
# The schema as SQLite lists it. A job has more tables in the same file.
_SCHEMA = [("table", "entry", "entry", _TABLE), ("index", "entry_place", "entry", _INDEX)]
_BEGIN = f"""
begin immediate;
{_TABLE};
{_INDEX};
pragma application_id = {_ID};
pragma user_version = {VERSION};
commit;
"""
# Errors of a damaged database, including texts that cannot be decoded.
_PROBLEMS = (sqlite3.Error, UnicodeDecodeError)
# Errors that occur if a database cannot be read although it is not damaged.
_NO_DAMAGE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_IOERR,
)
# How every SQLite database begins, and the fewest bytes that it has.
_SQLITE = b"SQLite format 3\0"
_SMALLEST = 512
# The columns of a row, without its id and its checksum.
_COLUMNS = "scope, key, place, step, data, kind"
_INSERT = f"insert into entry ({_COLUMNS}, sum) values (?, ?, ?, ?, ?, ?, ?)"
_INSERT_NEW = (
    f"insert into entry ({_COLUMNS}, sum) select ?1, ?2, ?3, ?4, ?5, ?6, ?7 where not exists "
    "(select 1 from entry where (key, scope, place, kind, step) = (?2, ?1, ?3, ?6, ?4) "
    "and data = ?5)"
)
# True for an exchange if a later row of the kind RETRY says that the request is sent again.
_IS_OVER = (
    f"(kind = '{RowKind.EXCHANGE}' and exists (select 1 from entry as later where "
    "(later.key, later.scope, later.place) = (entry.key, entry.scope, entry.place) "
    f"and later.kind = '{RowKind.RETRY}' and later.id > entry.id "
    "and cast(later.step as integer) <= cast(entry.step as integer)))"
)
_LATEST = (
    "id in (select max(id) from entry group by scope, key, place, kind, step) "
    f"and not {_IS_OVER}"
)
# The suffix of the lock file.
_LOCK = "-lock"
# The seconds after which a locked file is tried again.
_PAUSE = 0.02
# The state in a lock file if the run could not record everything.
_FAILED = "failed"
# Why a journal that was closed cannot record.
_OVER = "the run is over"
_Values: TypeAlias = tuple[Any, ...]
# By step: the name of the tool that was called, and the values that the tool closed over.
KeptClosures: TypeAlias = dict[str, tuple[str, ClosedValues]]
Matching: TypeAlias = Callable[[KeptClosures], Match]
# Program names that do not identify a script.
_NO_SCRIPTS = ("", "-", "-c", "__main__", "pytest", "ipykernel_launcher")

# The `saftc` command line that started this process's run, and its folder.
command_here: tuple[list[str], str] | None = None


def note_command(words: list[str], folder: str) -> None:
    """Sets the command line of this run, which the journal records if a call needs approval.

    No command line is recorded if `words` is empty or contains a secret key, or if the script is
    not in a file.
    """
    global command_here
    is_repeatable = words and "-c" not in words and "-" not in words
    command_here = (words, folder) if is_repeatable and not holds_secret(" ".join(words)) else None


class RecordedPrompt(NamedTuple):
    """A recorded prompt: its last position in the run, and values that its tools closed over."""

    place: str
    closures: KeptClosures


class EqualPrompts:
    """The recorded prompts of one scope that send equal requests.

    `left` are the records that no prompt of this run has taken yet.
    """

    def __init__(self, kept: dict[PromptKey, RecordedPrompt]) -> None:
        self.left = kept
        self._at = {one.place: asked for asked, one in kept.items()}
        self._taken = set(kept)
        self._is_single = len(kept) == 1

    def take(self, place: str, match: Matching) -> PromptKey | None:
        """Takes the record of the prompt at this position in the run.

        Returns None if there is no such record, if another prompt has taken it, or if it does not
        match. `match` says whether the tools close over the same values now as in the record.
        """
        one = self._at.get(place)
        return None if one is None or one not in self.left else self._first([one], match)

    def take_first(self, match: Matching) -> PromptKey | None:
        """Takes the first remaining record that matches, in the order of the script.

        All earlier prompts must have ended, so that the record cannot belong to one of them.
        """
        ordered = sorted(self.left, key=lambda one: order_of(self.left[one].place))
        return self._first(ordered, match)

    def _first(self, found: list[PromptKey], match: Matching) -> PromptKey | None:
        """Takes the first matching record in `found`; returns None if no record matches.

        A record for which `match` is unsure is taken only if no other equal prompt was recorded.
        """
        for one in found:
            how = match(self.left[one].closures)
            if how == "same" or (how == "unsure" and self._is_single):
                del self.left[one]
                return one
        return None

    def tools_in_doubt(self, match: Matching) -> set[str]:
        """The names of the tools in each remaining record for which `match` is unsure."""
        left = [one.closures for one in self.left.values() if match(one.closures) == "unsure"]
        return {tool for closures in left for tool, _ in closures.values()}

    def name(self, asked: PromptKey) -> PromptKey:
        """A key for a prompt without a record: `asked`, with a number added if it is taken."""
        names = (asked, *(asked.another(number) for number in range(1, len(self._taken) + 1)))
        name = next(one for one in names if one not in self._taken)
        self._taken.add(name)
        return name


class _Pending(NamedTuple):
    """A statement to execute; with `is_synced`, its effect must be on the disk afterwards."""

    statement: str
    values: _Values
    is_synced: bool


class Journal:
    """The rows of a run's journal, for all threads of the process that has opened it.

    `part_of` is the name of the job if the run is a job. The journal of a job, or of a block of a
    program, does not report its start and end. The journal of a block belongs to no script: another
    program may resume it.
    """

    def __init__(self, path: str, part_of: str | None = None, *, is_of_block: bool = False) -> None:
        self.path = path
        self.script = current_script() if part_of is None else part_of
        self._is_part = part_of is not None or is_of_block
        self._equal: dict[tuple[str, str], EqualPrompts] = {}
        self._waiting: deque[_Pending] = deque()
        self._lock = threading.Lock()
        self._broken: str | None = None
        # The meters that count the replies.
        self.meters: Sequence[UsageMeter] = ()
        # Gets each row that `put` adds, and must store it: this file is then not synced to disk.
        self.listener: Callable[[list[_Values]], object] | None = None
        self._owner = _Owner(path)
        try:
            # A new file is for its owner alone; a file that cannot be written is an error.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
            with reading(path, "" if is_of_block else self.script) as database:
                is_new = not _has_tables(database)
            if is_new:
                self._owner.note(0)
                _make_tables(path)
            self._database = _connected(path)
            self._drop_damaged()
            self.kept = self.count_answers()
            self._tell_of_beginning()
            head = {"version": VERSION, "saftc": __version__, "script": self.script}
            self._note("begun", {**head, "pid": os.getpid(), "time": round(time.time(), 3)})
            self._identity = hash(self.read("select data from entry order by id limit 1")[0])
        except BaseException as error:
            self._owner.give_back()
            if isinstance(error, (*_PROBLEMS, OSError)):
                raise _unusable(path, error) from None
            raise
        _open.add(self)

    @contextmanager
    def equal_prompts(self, asked: PromptKey) -> Generator[EqualPrompts]:
        """Yields the records that earlier processes have made of equal prompts.

        Only one thread at a time can use them.
        """
        with self._lock:
            if asked[:2] not in self._equal:
                self._equal[asked[:2]] = EqualPrompts(self._kept_like(asked))
            yield self._equal[asked[:2]]

    def _kept_like(self, asked: PromptKey) -> dict[PromptKey, RecordedPrompt]:
        names = ("tool", "asks", "closed", "place")
        parts = (f"json_extract(data, '$.{name}')" for name in names)
        query = (
            f"select place, step, kind, {', '.join(parts)} from entry "
            "where scope = ? and key = ? order by id"
        )
        kept: dict[PromptKey, RecordedPrompt] = {}
        for name, step, kind, tool, asks, closed, place in self._execute(query, *asked[:2]):
            one = PromptKey(*asked[:2], name)
            known = kept.setdefault(one, RecordedPrompt(name, {}))
            if kind == RowKind.PLACE:
                kept[one] = known._replace(place=place)
            if closed is not None:
                known.closures[step] = tool or asks, ClosedValues(*json.loads(closed))
        return kept

    def find(self, asked: PromptKey, kind: RowKind, step: int | str) -> Entry | None:
        """The newest entry of a step, or None."""
        found = self.read(
            "select data from entry where (scope, key, place, kind, step) = (?, ?, ?, ?, ?) "
            f"and not {_IS_OVER} order by id desc limit 1",
            *(*asked, kind, str(step)),
        )
        return json.loads(found[0][0]) if found else None

    def put(self, asked: PromptKey, kind: RowKind, step: int | str, entry: Entry) -> None:
        """Adds an entry; it is on the disk when this returns.

        Raises JournalError if the entry cannot be written.
        """
        row = _row_of((*asked, step, kind), entry)
        self.write(_INSERT, *row, is_synced=self.listener is None)
        if self.listener is not None:
            self.listener([row])

    def paid(self, meter: UsageMeter) -> dict[str, tuple[Usage, int]]:
        """Maps each model to the usage of its recorded replies and its longest output in tokens.

        Replies that the meter has counted are left out.
        """
        model, longest = (f"json_extract(data, '$.used[{n}]')" for n in (0, 2))
        counts = ", ".join(f"total(json_extract(data, '$.used[{n}]'))" for n in range(1, 6))
        query = (
            f"select {model}, count(*), max({longest}), {counts} from entry "
            f"where kind = '{RowKind.EXCHANGE}' and id > ? group by 1"
        )
        counted = meter.counted.get(self._identity, 0)
        found: dict[str, tuple[Usage, int]] = {}
        for model, requests, longest, sent, answered, *parts in self.read(query, counted):
            usage = Usage(int(sent), int(answered), requests, *map(int, parts))
            found[model] = usage, longest
        return found

    @property
    def began_by(self) -> Entry:
        """The command line that started the run, and its working directory, as fields of an entry.

        There are no fields if the command is unknown, or if the journal belongs to a job or a
        block.
        """
        if command_here is None or self._is_part:
            return {}
        return {"command": command_here[0], "folder": command_here[1]}

    def check_whole(self) -> None:
        """Raises JournalError if an earlier entry could not be written.

        Called before a request is sent or a call is made.
        """
        if self._broken is not None:
            hint = "the kept answers are intact: make room, then resume the run"
            if self._broken == _OVER:
                hint = "ask, and read streams, before the journal is closed"
            raise JournalError(f"cannot keep answers in {self.path}: {self._broken}", hint=hint)

    def close(self, ended: str) -> None:
        """Ends the run as "ok", "failed", "interrupted" or "waiting", and closes the file.

        Does nothing in a forked process. Raises JournalError if the end cannot be recorded, or if
        the run ended "ok" and some replies could not be recorded.
        """
        if not self._owner.is_open:
            return
        try:
            if ended == "ok":
                self.check_whole()
            count = self.count_answers()
            for meter in self.meters:
                meter.counted[self._identity] = _last_row(self._database)
            if self._broken is None:  # otherwise the error was raised where it happened
                counts = {"kept": self.kept, "new": count - self.kept}
                self._note("ended", {"ended": ended, "time": round(time.time(), 3), **counts})
        finally:
            with self._lock:
                state = "" if self._broken is None else _FAILED
                self._broken = self._broken or _OVER
                self._database.close()
                self._owner.release(state)
            if not os.path.exists(self.path):  # somebody has removed the file meanwhile
                remove(self.path)
        if self._is_part:
            return
        if ended == "waiting":
            note(f"`saftc approve {self.path}` decides; then run the same command again to resume")
        elif ended != "ok" and count:
            note(f"{_answers(count)} kept in {self.path}; run the same command again to resume")

    def leave(self) -> None:
        """Detaches a forked process from the journal; the parent continues to write."""
        _left_behind.append(self._database)
        self._lock, self._broken = threading.Lock(), "this process was forked"
        self._owner.leave()

    def count_answers(self) -> int:
        """The number of recorded replies, without those whose requests a resumed run sends again.

        A server's refusal to take tools is not a reply.
        """
        query = (
            f"select count(*) from entry where kind = '{RowKind.EXCHANGE}' and {_LATEST} "
            "and json_extract(data, '$.reply') is not null"
        )
        return self.read(query)[0][0]

    def _tell_of_beginning(self) -> None:
        if self._is_part or not self.kept:
            return
        query = f"select data from entry where kind = '{RowKind.PROCESS}' order by id desc limit 2"
        last, *before = (json.loads(data) for (data,) in self.read(query))
        is_ok = last.get("ended") == "ok"
        started = time_text(before[0]["time"] if "ended" in last else last["time"])
        what = "repeats the run that succeeded" if is_ok else "resumes the run"
        note(f"{self.path}: {what}, last started {started}; {_answers(self.kept)} kept")

    def _drop_damaged(self) -> None:
        """Deletes damaged replies, so that they are requested again, and reports their number.

        Raises JournalError if another part of the file is damaged.
        """
        problem = self.read("pragma integrity_check(1)")[0][0]
        if problem != "ok":
            raise _unreadable(self.path, problem)
        # Row by row, as the rows of a job may not fit into memory.
        damaged = list[int]()
        for number, *row, total in self._database.execute(
            f"select id, {_COLUMNS}, sum from entry"
        ):
            if _sum(tuple(row)) != total:
                if row[5] != RowKind.EXCHANGE:
                    raise JournalError(
                        f"{self.path}: the entry of a call is damaged: the call may have been made",
                        hint="find out whether it was; start another journal to continue",
                    )
                damaged.append(number)
        if damaged:
            self._owner.note(0)
            for number in damaged:
                self.write_soon("delete from entry where id = ?", number)
            self.flush()
            count = counted(len(damaged), "answer is damaged", "answers are damaged")
            note(f"{self.path}: {count}; their requests are sent again")

    def _note(self, step: str, entry: Entry) -> None:
        # The next answer, or closing the file, also syncs this row to the disk.
        self.write(_INSERT, *_row_of((None, None, None, step, RowKind.PROCESS), entry))

    def write(self, statement: str, *values: Any, is_synced: bool = False) -> None:
        """Executes a statement, in one transaction with statements of other threads.

        When this returns, the change survives the end of the process and, if `is_synced`, a crash
        of the machine.
        """
        self.write_soon(statement, *values, is_synced=is_synced)
        self.flush()

    def write_soon(self, statement: str, *values: Any, is_synced: bool = False) -> None:
        """Queues a statement; the next `flush` or `read` executes it."""
        self._waiting.append(_Pending(statement, values, is_synced))

    def flush(self) -> None:
        """Executes the queued statements; raises JournalError if that fails."""
        with self._lock:
            self._commit_waiting()
        self.check_whole()

    def _commit_waiting(self) -> None:
        """Commits the queued statements. The caller must hold the lock."""
        if self._waiting and self._broken is None:
            self._commit(self._waiting.copy())

    def read(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows of a query, after executing all queued statements.

        Raises JournalError if the file is damaged, or if the journal is closed.
        """
        with self._lock:
            self._commit_waiting()
            return self._execute(query, *values)

    def _execute(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows of a query. The caller must hold the lock."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:  # the database is closed
            self.check_whole()
            raise
        except _PROBLEMS as error:
            raise _unreadable(self.path, error) from None

    def rows_within(self, scope: str) -> list[_Values]:
        """All rows of a scope and its inner scopes, in the form for `merge_rows`."""
        query = (
            f"select {_COLUMNS}, sum from entry where key is not null "
            "and (scope = ?1 or (scope > ?1 || '/' and scope < ?1 || '0')) order by id"
        )
        return [tuple(row) for row in self.read(query, scope)]

    def merge_rows(self, rows: list[_Values]) -> None:
        """Adds rows of another journal, without those that this journal already has."""
        # In one step, so that no other thread commits only a part of them.
        self._waiting.extend([_Pending(_INSERT_NEW, tuple(row), True) for row in rows])
        self.flush()

    def merge(self, path: str) -> None:
        """Adds all rows of another journal, then removes that journal."""
        with reading(path) as other:
            if _has_tables(other):
                query = f"select {_COLUMNS}, sum from entry where key is not null order by id"
                self.merge_rows(other.execute(query).fetchall())
        remove(path)

    def release(self, scope: str) -> None:
        """Discards the `EqualPrompts` of a finished scope and of its inner scopes."""
        # Without the lock, whose holder may wait for the disk: no thread uses these scopes any
        # more.
        for known in list(self._equal):
            if f"{known[0]}/".startswith(f"{scope}/"):
                self._equal.pop(known, None)

    def _commit(self, rows: deque[_Pending]) -> None:
        """Executes the first statements of the queue in a transaction, and takes them out of it.

        If Ctrl-C comes before the commit, they stay in the queue: other threads wait for them.
        """
        database, has_begun = self._database, False
        is_synced = any(one.is_synced for one in rows)
        try:
            database.execute(f"pragma synchronous = {'full' if is_synced else 'normal'}")
            database.execute("begin immediate")
            has_begun = True
            for statement, group in groupby(rows, lambda one: one.statement):
                database.executemany(statement, [one.values for one in group])
            database.execute("commit")
        except sqlite3.Error as error:  # no more is written, as there is a gap
            self._broken = str(error)
        finally:
            if database.in_transaction:
                database.execute("rollback")
            elif has_begun:
                for _ in rows:
                    self._waiting.popleft()
        if is_synced and self._broken is None:
            self._owner.note(_last_row(database))


# The open journals of this process. A forked process detaches from them, and closes no connection.
_open: WeakSet[Journal] = WeakSet()
_left_behind: list[sqlite3.Connection] = []


def _leave_all() -> None:
    for journal in list(_open):
        journal.leave()


after_fork(_leave_all)


def add(path: str, at: tuple[Any, ...], entry: Entry, check: Callable[[], None]) -> None:
    """Adds an entry to a journal, even while its run is active.

    `at` has the entry's scope, key, place, step and kind. `check` runs in the same transaction.
    Raises ConfigError if the entry cannot be added.
    """
    try:
        with closing(_connected(path)) as database:
            database.execute("pragma synchronous = full")
            database.execute("begin immediate")
            check()
            database.execute(_INSERT, _row_of(at, entry))
            database.execute("commit")
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def remove(path: str) -> None:
    """Removes a journal, with the files that a killed process has left next to it."""
    for file in (
        *(_companion_path(path, one) for one in (_LOCK, "-journal", "-shm", "-wal")),
        path,
    ):
        with suppress(FileNotFoundError):
            os.unlink(file)


def is_in_use(path: str) -> bool:
    """True if an active run is using the journal."""
    try:
        with open(_companion_path(path, _LOCK), "rb") as file:
            return not lock(file.fileno(), waits=False)
    except OSError:
        return False


def has_failed(path: str) -> bool:
    """True if the last run of a journal could not record everything."""
    return _owner_of(path).state == _FAILED


class _OtherDatabase(ConfigError):
    """The file is a database of SQLite, but not a journal."""


def is_journal(path: str) -> bool:
    """True if the file is a journal, also one that is damaged or of another version."""
    try:
        check_regular(path)
        with open(path, "rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                return False
        with reading(path) as database:
            return _has_tables(database)
    except (_OtherDatabase, OSError):
        return False
    except ConfigError:
        return True


@contextmanager
def reading(path: str, script: str = "") -> Generator[sqlite3.Connection]:
    """Opens a journal for reading, even while its run is active; a new one has no tables.

    Raises ConfigError if the file is not a journal, is damaged, or belongs to another script.
    """
    try:
        check_regular(path)
    except OSError as error:
        raise ConfigError(f"cannot read the journal {path}: {error.strerror or error}") from None
    owner = _owner_of(path)  # read first: rows may be added meanwhile
    try:
        with closing(_connected(path, read_only=True)) as database:
            _check_head(database, path, owner.rows, script)
            yield database
    except _PROBLEMS as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise _no_journal(path) from None
        raise ConfigError(str(_unreadable(path, error)), setting="journal") from None


def _check_head(database: sqlite3.Connection, path: str, rows: int, script: str) -> None:
    """Raises ConfigError if the file is neither a journal of this script nor new.

    `rows` is the number of rows that it must have.
    """
    missing = f"the rows of {path}-wal are missing"
    identity, version = (
        database.execute(f"pragma {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    )
    if not identity and not _has_tables(database):
        size = os.path.getsize(path)
        if 0 < size < _SMALLEST:
            raise _no_journal(path)
        if size and rows:
            raise ConfigError(str(_unreadable(path, missing)))
        return  # a new file, or a process was killed just after it began
    if identity != _ID:
        raise _OtherDatabase(
            f"{path} is not a journal", setting="journal", hint="name another file"
        )
    if version != VERSION:
        raise ConfigError(
            f"{path} is a journal of version {version}; this one writes version {VERSION}",
            setting="journal",
            hint="resume it with the saftc that started it, or name another file",
        )
    query = "select type, name, tbl_name, sql from sqlite_master where tbl_name = 'entry'"
    if database.execute(query).fetchall() != _SCHEMA:
        raise ConfigError(str(_unreadable(path, "its tables have changed")))
    if _last_row(database) < rows:
        raise ConfigError(str(_unreadable(path, missing)))
    query = "select json_extract(data, '$.script') from entry where step = 'begun' limit 1"
    (other,) = database.execute(query).fetchone() or ("",)
    if other and script and other != script:
        raise ConfigError(
            f"{path} is the journal of another script, {other}: this is {script}",
            setting="journal",
            hint="name another file",
        )


def _has_tables(database: sqlite3.Connection) -> bool:
    return database.execute("select count(*) from sqlite_master").fetchone()[0] > 0


def _last_row(database: sqlite3.Connection) -> int:
    return database.execute("select coalesce(max(id), 0) from entry").fetchone()[0]


def _connected(path: str, *, read_only: bool = False) -> sqlite3.Connection:
    """Opens the database. With `read_only`, changes nothing and creates no files."""
    how = "mode=rw"
    if read_only:
        # Without a write-ahead log, no process is writing to the file. If it is opened as
        # `immutable`, its folder may be read-only.
        how = "mode=ro" if os.path.exists(_companion_path(path, "-wal")) else "immutable=1"
    name = f"file:{quote(os.path.abspath(path))}?{how}"
    database = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
    # The checksum finds damaged texts.
    database.text_factory = partial(str, encoding="utf-8", errors="replace")
    return database


def _companion_path(path: str, ending: str) -> str:
    """The path of a file next to the journal: the journal's resolved path with `ending` added."""
    return os.path.realpath(path) + ending


def _no_journal(path: str) -> ConfigError:
    """The error for a file that is not a journal.

    If the first line of the file shows the file's format, the message names the format.
    """
    with open(path, "rb") as file:
        line = file.readline(10_000)
    what, hint = f"{path} is not a journal", "name another file"
    if line.startswith(_SQLITE):
        what = f"{path} is not a journal, or is damaged"
    elif line.startswith(b'{"saft": "journal"'):
        what = f"{path} is a journal of an earlier saftc, in lines of text"
        hint = "resume it with the saftc that started it, or name another file"
    elif b'"key": ' in line and b'"repeat": ' in line:
        what, hint = f"{what}; it is a recording", "`--replay` takes recordings"
    return ConfigError(what, setting="journal", hint=hint)


def entries(path: str, where: str = "true", *values: Any) -> Iterator[Entry]:
    """Yields the rows of a journal for which `where` holds, in order, as entries.

    `where` is an SQL condition with these values. The field `at` of an entry is the row's scope,
    key, place, step and kind. An entry about a process has the step in the field `process` instead.
    Raises ConfigError if the journal is damaged.
    """
    with reading(path) as database:
        if not _has_tables(database):
            raise ConfigError(f"{path} is empty")
        query = f"select {_COLUMNS}, sum from entry where {where} order by id"
        for *row, total in database.execute(query, values):
            if _sum(tuple(row)) != total:
                raise ConfigError(f"{path} is damaged: a row of it has changed")
            scope, key, place, step, data, kind = row
            at: Entry = {"at": [scope, key, place, step, kind]}
            yield ({"process": step} if kind == RowKind.PROCESS else at) | json.loads(data)


def exchanges(path: str) -> Iterator[Entry]:
    """Yields the exchanges that a resumed run would replay, and the finished calls of MCP tools."""
    for entry in entries(path, _LATEST):
        is_outside = "ms" in entry and str(entry.get("tool", "")).startswith("mcp(")
        if "hash" in entry or is_outside:
            yield entry


def recovery_setting(variable: str, default: str) -> str:
    """The value of an environment variable that may be "call" or "stop".

    The variable says whether calls that may have run are made again. Raises ConfigError for any
    other value.
    """
    wanted = os.environ.get(variable) or default
    if wanted not in ("call", "stop"):
        raise ConfigError(f"{variable}: expected call or stop, got {wanted!r}")
    return wanted


def current_script() -> str:
    """The name of the running script, without its suffix, or "" if the name is unknown."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    stem = os.path.splitext(name)[0]
    return "" if stem in _NO_SCRIPTS else stem


def time_text(seconds: float) -> str:
    """The local date and time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


class _OwnerStatus(NamedTuple):
    """The content of a lock file: process id, number of rows on the disk, and state.

    The state is "failed" if the run could not record everything.
    """

    process: str = ""
    rows: int = 0
    state: str = ""


def _owner_of(path: str) -> _OwnerStatus:
    """The content of a journal's lock file, or an empty status if the file cannot be read."""
    with (
        suppress(OSError, ValueError),
        open(_companion_path(path, _LOCK), encoding="utf-8") as file,
    ):
        process, rows, state, _ = file.read().split("\n")
        return _OwnerStatus(process.strip(), int(rows), state.strip())
    return _OwnerStatus()


class _Owner(LockedFile):
    """The lock file of a journal, held by the one process that runs with the journal.

    The file is removed when the journal is closed, unless the run could not record everything.
    """

    def __init__(self, path: str) -> None:
        try:
            if os.path.exists(path):
                check_regular(path)
            self._path = _companion_path(path, _LOCK)
            self._before = _owner_of(path)
            self._rows = self._before.rows
            try:
                super().__init__(self._path, PRIVATE, waits=False)
            except BlockingIOError:  # perhaps another process only asks `is_in_use`
                time.sleep(_PAUSE)
                super().__init__(self._path, PRIVATE, waits=False)
            self._write(self._rows)
        except BlockingIOError:
            number = _owner_of(path).process
            owner = f"process {number}" if number else "another process"
            if number == str(os.getpid()):
                owner = "another run of this process"
            raise JournalInUse(
                f"the journal {path} is in use by {owner}",
                setting="journal",
                hint="only one run at a time can use a journal; name another one for another run",
            ) from None
        except (OSError, ValueError) as error:
            self.close()
            raise _unusable(path, error) from None

    def note(self, rows: int, state: str = "") -> None:
        """Stores how many rows are on the disk.

        The number reveals missing rows, because SQLite silently drops damaged parts of its log.
        """
        self._rows = rows
        with suppress(OSError):  # without it, missing rows may go unnoticed
            self._write(rows, state)

    def _write(self, rows: int, state: str = "") -> None:
        # Of constant length, so that a write replaces the whole content.
        self.overwrite(f"{os.getpid():>10}\n{rows:>16}\n{state:>6}\n".encode())

    def release(self, state: str = "") -> None:
        """Releases the journal; with a `state`, the lock file stays and contains the state."""
        if self.is_open:
            if state:
                self.note(self._rows, state)
            else:
                with suppress(OSError):
                    os.unlink(self._path)
            self.close()

    def give_back(self) -> None:
        """Releases a journal that this process could not use; restores the lock file."""
        if self._before.rows:
            self.note(self._before.rows, self._before.state)
            self.close()
        self.release()


def _make_tables(path: str) -> None:
    """Makes the tables of a new journal, which are on the disk when this returns."""
    with closing(_connected(path)) as database:
        # One synchronisation at the end, in place of five.
        database.execute("pragma synchronous = off")
        database.execute("pragma journal_mode = wal")
        database.executescript(_BEGIN)
    # Only without a connection: closing a file ends the locks that SQLite has on it.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: str, error: Exception) -> ConfigError:
    reason = getattr(error, "strerror", None) or error
    return ConfigError(f"cannot use {path!r} as a journal: {reason}")


def _unreadable(path: str, problem: object) -> JournalError:
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF in _NO_DAMAGE:
        return JournalError(f"cannot read {path}: {problem}")
    return JournalError(
        f"{path} is damaged: {problem}",
        hint="find out which calls were made, then start another journal",
    )


def _row_of(at: _Values, entry: Entry) -> _Values:
    """The row of an entry, with a checksum. `at` has the scope, key, place, step and kind."""
    scope, key, place, step, kind = at
    data = _plain(json.dumps(entry, ensure_ascii=False))
    row = (_plain(scope), key, place, str(step), data, str(kind))
    return *row, _sum(row)


def _sum(row: _Values) -> int:
    """The checksum of a row, over all of its columns."""
    return crc32(json.dumps(row, default=repr).encode())


def _plain(text: Any) -> Any:
    """The text with an escape for each half of a surrogate pair, which UTF-8 cannot encode.

    Values that are not texts are returned unchanged.
    """
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


def _answers(count: int) -> str:
    return counted(count, "answer is", "answers are")
