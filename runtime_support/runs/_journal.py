"""A journal: the exchanges and the calls of tools of one run, in a file of SQLite.

    sqlite3 run.journal 'select step, data from entry'

    begun     {"script": "triage", "pid": 4711, "time": ...}       a process begins
    0, 1, ... {"used": ["gpt-4o-mini", 11, 7], "hash": ..., "reply": {...}}       an exchange
    t1        {"tool": "look_up", "sent": ..., "time": ...}            a call begins, and again
    t1        {"tool": "look_up", "sent": ..., "result": "3.5", "ms": 0.1}        when it has ended
    t2a       {"asks": "refund", "digest": ..., ...}                   it waits for approval
    t2a       {"asks": "refund", "decided": "yes", "by": "ada", ...}
    forget    {"from": 2, "forget": "ContractError: ..."}              asked again from this step on
    ended     {"ended": "ok", ...}                                     the process is over

Rows are added; the newest of a place counts, and each has a checksum. When `put` returns, a row is
on the disk (a write-ahead log, with full synchronisation); several threads share one transaction.

While a process has a journal, three files are beside it: `run.journal-wal` and `-shm` of SQLite,
and `-lock`, by which no other process begins a run with it. After a kill the first belongs to the
journal. Others may read it at any time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote
from weakref import WeakSet
from zlib import crc32

from runtime_support._context import after_fork
from runtime_support._language.files import PRIVATE, check_regular
from runtime_support._notes import note
from runtime_support._redaction import holds_secret
from runtime_support._results import Usage
from runtime_support._values import counted
from runtime_support._version import __version__
from runtime_support.errors import ConfigError, JournalError
from runtime_support.runs._closures import ClosedValues, Match
from runtime_support.runs._lines import Entry, Held, lock
from runtime_support.runs._places import Asked, order_of

VERSION = 3
_ID = 0x53414654  # "SAFT": what SQLite calls the application of a file
_TABLES = f"""
pragma journal_mode = wal;
pragma synchronous = full;
begin immediate;
create table if not exists entry (
    id integer primary key,
    scope text, key text, place text, step text not null, data text not null,
    is_over integer not null default 0,
    sum integer not null
);
create index if not exists entry_place on entry (key, scope, place, step);
pragma application_id = {_ID};
pragma user_version = {VERSION};
commit;
"""
# What comes of a database that is damaged, also of texts in it.
_PROBLEMS = (sqlite3.Error, UnicodeDecodeError)
# No database has fewer bytes.
_SMALLEST = 512
# What a row is, beside its number and its sum.
_COLUMNS = "scope, key, place, step, data, is_over"
_PLACE = "scope = ? and key = ? and place = ?"
_INSERT = f"insert into entry ({_COLUMNS}, sum) values (?, ?, ?, ?, ?, ?, ?)"
_DELETE = f"delete from entry where {_PLACE} and step = ? and data = ?"
_LATEST = "id in (select max(id) from entry where not is_over group by scope, key, place, step)"
# The ending of the file by which a process holds a journal.
_LOCK = "-lock"
# What that file says of a run whose end could not be kept.
_FAILED = "failed"
_Values: TypeAlias = tuple[Any, ...]
# By its step: the tool that was called, and the values that it closed over.
KeptClosures: TypeAlias = dict[str, tuple[str, ClosedValues]]
# Names that say nothing of which script runs.
_NO_SCRIPTS = ("", "-", "-c", "__main__", "pytest", "ipykernel_launcher")

# By which words of `saftc`, and in which folder, the run of this process was begun.
command_here: tuple[list[str], str] | None = None


def note_command(words: list[str], folder: str) -> None:
    """Has a run that waits say by which command it was begun, unless that holds a key, or a script
    that is in no file; without words it says nothing from now on.
    """
    global command_here
    is_repeatable = words and "-c" not in words and "-" not in words
    command_here = (words, folder) if is_repeatable and not holds_secret(" ".join(words)) else None


class KeptPrompt(NamedTuple):
    """A call that is kept: where it was asked last, and what the tools closed over."""

    place: str
    closures: KeptClosures


class EqualPrompts(NamedTuple):
    """The calls that are kept and ask the same in one scope: those that this run has not asked for,
    by place where they were asked last, and all names that are taken.
    """

    left: dict[Asked, KeptPrompt]
    at: dict[str, Asked]
    taken: set[Asked]
    is_single: bool


class _Pending(NamedTuple):
    """A statement that is to be executed; one that `is_synced` has to be on the disk then."""

    statement: str
    values: _Values
    is_synced: bool


class Journal:
    """What is kept of a run, by place; for all threads of the process, which alone writes it.

    One that is `part_of` the job of a script, beside others, does not report its own beginning
    and end.
    """

    def __init__(self, path: str, part_of: str | None = None) -> None:
        self.path = path
        self.script = script_here() if part_of is None else part_of
        self._is_part = part_of is not None
        self._equal: dict[tuple[str, str], EqualPrompts] = {}
        self._waiting: deque[_Pending] = deque()
        self._lock = threading.Lock()
        self._broken: str | None = None
        self.new = 0
        # Is called with the rows that were added or changed; it keeps them, and not this file.
        self.listener: Callable[[list[_Values]], object] | None = None
        self._held = _Owner(path)
        try:
            make_private(path)
            check_head(path, self.script)
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._database.executescript(_TABLES)
            self._check_rows()
            self.kept = self._kept()
            self._tell_of_beginning()
            head = {"version": VERSION, "saftc": __version__, "script": self.script}
            self._note("begun", {**head, "pid": os.getpid(), "time": _now()})
            self.check_whole()
        except (*_PROBLEMS, OSError) as error:
            self._held.close()
            raise _unusable(path, error) from None
        except BaseException:
            self._held.close()
            raise
        _open.add(self)

    def claim(self, asked: Asked, match: Callable[[KeptClosures], Match]) -> Asked | None:
        """What is kept of a call that was asked at this very place, and is none of another's.

        `match` says whether its tools had the values that they have now.
        """
        with self._lock:
            equal = self._equal_prompts(asked)
            one = equal.at.get(asked.place)
            if one is None or one not in equal.left:
                return None
            found = match(equal.left[one].closures)
            if found == "other" or (found == "unsure" and not equal.is_single):
                return None
            del equal.left[one]
        return one

    def claim_equal(self, asked: Asked, match: Callable[[KeptClosures], Match]) -> Asked | None:
        """The first that is kept of equal calls, that this run has not asked for yet; from now on
        it is of this place.

        All that comes before in the script has to have ended, so that what is left belongs to none
        of it. JournalError where nobody knows whether it is the same call.
        """
        with self._lock:
            equal = self._equal_prompts(asked)
            left = sorted(equal.left, key=lambda one: order_of(equal.left[one].place))
            found = [(match(equal.left[one].closures), one) for one in left]
            unsure = next((one for how, one in found if how == "unsure"), None)
            chosen = next((one for how, one in found if how == "same"), None)
            if chosen is None and equal.is_single:
                chosen = unsure
            if chosen is not None:
                del equal.left[chosen]
        if chosen is not None:
            self._insert(*chosen, "place", {"place": asked.place})
        elif unsure is not None and told_to("SAFT_ON_INTERRUPTED_CALL", "stop") == "stop":
            closures = equal.left[unsure].closures
            tools = ", ".join(sorted({tool for tool, _ in closures.values()}))
            raise JournalError(
                f"{self.path}: the same was asked more than once, and {tools} may have been called "
                "for this or for something else: what it closes over is not the same",
                hint="have the prompt say what it is about, or name it by `journal_scope`; with "
                "SAFT_ON_INTERRUPTED_CALL=call it is asked again",
            )
        return chosen

    def has_equal(self, asked: Asked) -> bool:
        """Whether something is kept of equal calls that this run has not asked for yet."""
        with self._lock:
            return bool(self._equal_prompts(asked).left)

    def begin(self, asked: Asked) -> Asked:
        """The name of a call of which nothing is kept: its place, if that is not another's."""
        with self._lock:
            taken = self._equal_prompts(asked).taken
            names = (asked, *(asked.another(number) for number in range(1, len(taken) + 1)))
            asked = next(one for one in names if one not in taken)
            taken.add(asked)
        return asked

    def _equal_prompts(self, asked: Asked) -> EqualPrompts:
        """What was kept, when this run began, of calls that are equal; requires the lock."""
        known = self._equal.get(asked[:2])
        if known is None:
            parts = (
                f"case when json_valid(data) then json_extract(data, '$.{name}') end"
                for name in ("tool", "closed", "place")
            )
            query = (
                f"select place, step, {', '.join(parts)} from entry "
                "where scope = ? and key = ? and not is_over order by id"
            )
            places: dict[Asked, str] = {}
            closures: dict[Asked, KeptClosures] = {}
            for name, step, tool, closed, place in self._execute(query, *asked[:2]):
                one = Asked(*asked[:2], name)
                places[one] = str(place) if step == "place" else places.get(one, str(name))
                found = closures.setdefault(one, {})
                if closed is not None:
                    found[step] = tool, ClosedValues(*json.loads(closed))
            left = {one: KeptPrompt(places[one], closures[one]) for one in places}
            at = {place: one for one, place in places.items()}
            known = self._equal[asked[:2]] = EqualPrompts(left, at, set(left), len(left) == 1)
        return known

    def find(self, asked: Asked, step: int | str) -> Entry | None:
        """What is kept of a step; JournalError when that of a call is damaged."""
        found = self._rows(
            f"select {_COLUMNS}, sum from entry where {_PLACE} and step = ? and not is_over "
            "order by id desc limit 1",
            *(*asked, str(step)),
        )
        if not found:
            return None
        *row, total = found[0]
        if _sum(tuple(row)) == total:
            return json.loads(row[4])
        if isinstance(step, str):
            raise _call_damaged(self.path)
        note(f"{self.path}: an answer is damaged; that prompt is sent again")
        return None

    def put(self, asked: Asked, step: int | str, entry: Entry) -> None:
        """Keeps an entry: when this returns, it is on the disk. JournalError when it cannot be."""
        self._insert(*asked, str(step), entry)
        with self._lock:
            self.new += type(step) is int

    def forget(self, asked: Asked, step: int, why: str) -> None:
        """Makes a prompt be asked again from this step on when the run resumes."""
        self._insert(*asked, "forget", {"from": step, "forget": why})
        where = (
            f"{_PLACE} and not is_over and "
            "(step = 'forget' or (step glob '[0-9]*' and cast(step as integer) >= ?))"
        )
        self._change(where, (*asked, step), lambda row: (*row[:5], 1))

    @property
    def paid(self) -> dict[str, tuple[Usage, int]]:
        """By model: what all that was ever answered has taken, and the longest output."""
        model, longest = (f"json_extract(data, '$.used[{n}]')" for n in (0, 2))
        counts = ", ".join(f"total(json_extract(data, '$.used[{n}]'))" for n in range(1, 6))
        query = (
            f"select {model}, count(*), max({longest}), {counts} from entry "
            f"where json_valid(data) and {model} is not null group by 1"
        )
        found: dict[str, tuple[Usage, int]] = {}
        for model, requests, longest, sent, answered, *parts in self._rows(query):
            usage = Usage(int(sent), int(answered), requests, *map(int, parts))
            found[model] = usage, longest
        return found

    @property
    def began_by(self) -> Entry:
        """By which command its run was begun, and where, as parts of an entry; nothing of a part of
        a job.
        """
        if command_here is None or self._is_part:
            return {}
        return {"command": command_here[0], "folder": command_here[1]}

    def check_whole(self) -> None:
        """JournalError when nothing can be kept any more: then nothing is to be asked."""
        if self._broken is not None:
            raise JournalError(
                f"cannot keep answers in {self.path}: {self._broken}",
                hint="what was kept before is whole: make room, and run the same command again",
            )

    def close(self, ended: str) -> None:
        """The process is over, or the run in it: "ok", "failed", "interrupted" or "waiting".

        It does nothing in a forked process. JournalError when that cannot be noted, or when what
        was answered in a run that seems to have ended well could not be kept.
        """
        if not self._held.is_open:
            return
        try:
            if ended == "ok":
                self.check_whole()
            if self._broken is None:  # else the error was raised where it happened
                end = {"ended": ended, "time": _now(), "kept": self.kept, "new": self.new}
                self._note("ended", end)
                self.check_whole()
        finally:
            with self._lock:
                is_whole = self._broken is None
                self._broken = self._broken or "the run is over"
                self._database.close()
                self._held.close(is_whole=is_whole)
            if not os.path.exists(self.path):  # somebody has removed it meanwhile
                remove(self.path)
        count = self.kept + self.new
        if self._is_part:
            return
        if ended == "waiting":
            note(f"`saftc approve {self.path}` decides; then run the same command again to resume")
        elif ended != "ok" and count:
            note(f"{_answers(count)} kept in {self.path}; run the same command again to resume")

    def leave(self) -> None:
        """In a forked process: the parent goes on to hold the file, and to write."""
        _left_behind.append(self._database)
        self._lock, self._broken = threading.Lock(), "this process was forked"
        self._held.leave()

    def _kept(self) -> int:
        query = (
            f"select count(*) from entry where {_LATEST} and step glob '[0-9]*' "
            "and json_valid(data)"
        )
        return self._rows(query)[0][0]

    def _tell_of_beginning(self) -> None:
        query = "select step, data from entry where key is null order by id desc"
        processes = [(step, json.loads(data)) for step, data in self._rows(query)]
        begun = next((entry for step, entry in processes if step == "begun"), None)
        if begun is None or not self.kept or self._is_part:
            return
        step, last = processes[0]
        is_ok = step == "ended" and last["ended"] == "ok"
        what = "repeats the run that succeeded" if is_ok else "resumes the run"
        started = time_text(begun["time"])
        note(f"{self.path}: {what}, last started {started}; {_answers(self.kept)} kept")

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._execute(query, *values)

    def _execute(self, query: str, *values: Any) -> list[Any]:
        """The rows of a query; requires the lock."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:  # it is closed
            self.check_whole()
            raise
        except _PROBLEMS as error:
            raise _damaged(self.path, error) from None

    def _note(self, step: str, entry: Entry) -> None:
        self._insert(None, None, None, step, entry)

    def _check_rows(self) -> None:
        """JournalError where the file is damaged, and more may be lost by that than an answer."""
        problem = self._rows("pragma integrity_check(1)")[0][0]
        if problem != "ok":
            raise _damaged(self.path, problem)
        # One after the other: a job has more rows than there is memory for.
        for *row, total in self._database.execute(f"select {_COLUMNS}, sum from entry"):
            step, data = map(str, row[3:5])
            # An answer can be asked for again; what else it may be is not known.
            if _sum(tuple(row)) != total and not (step.isdigit() and '"tool"' not in data):
                raise _call_damaged(self.path)

    def _insert(
        self, scope: str | None, key: str | None, place: str | None, step: str, entry: Entry
    ) -> None:
        """Adds a row, with those that other threads add at the same time."""
        row = _with_sum((_plain(scope), key, place, step, _text(entry), 0))
        self.write(_INSERT, *row, is_synced=self.listener is None)
        if self.listener is not None:
            self.listener([row])

    def write(self, statement: str, *values: Any, is_synced: bool = False) -> None:
        """Executes a statement, with those of other threads at the same time; when this returns, it
        outlives the process, and also the machine if `is_synced`.
        """
        self.write_soon(statement, *values, is_synced=is_synced)
        self.flush()

    def write_soon(self, statement: str, *values: Any, is_synced: bool = False) -> None:
        """Executes a statement together with the next one that somebody waits for."""
        self._waiting.append(_Pending(statement, values, is_synced))

    def flush(self) -> None:
        """Executes what is to be written; JournalError when that cannot be."""
        with self._lock:
            self._commit_waiting()
        self.check_whole()

    def _commit_waiting(self) -> None:
        """Commits what waits for that; requires the lock."""
        if self._waiting and self._broken is None:
            self._commit([self._waiting.popleft() for _ in range(len(self._waiting))])

    def read(self, query: str, *values: Any) -> list[Any]:
        """The rows of a query, with all that was written. JournalError when the file is damaged, or
        the journal is closed.
        """
        with self._lock:
            self._commit_waiting()
            return self._execute(query, *values)

    def rows_within(self, scope: str) -> list[_Values]:
        """All rows of a scope and of those inside of it, as `merge_rows` takes them."""
        query = (
            f"select {_COLUMNS}, sum from entry where key is not null "
            "and (scope = ?1 or (scope > ?1 || '/' and scope < ?1 || '0')) order by id"
        )
        return [tuple(row) for row in self._rows(query, scope)]

    def merge_rows(self, rows: list[_Values]) -> None:
        """Takes in rows of another journal, in the place of equal ones."""
        self._waiting.extend(  # at once: nobody commits a part of them
            [
                _Pending(statement, values, True)
                for row in rows
                for statement, values in ((_DELETE, tuple(row[:5])), (_INSERT, tuple(row)))
            ]
        )
        self.flush()

    def merge(self, path: str) -> None:
        """Takes in all that another journal holds, and removes that."""
        with suppress(FileNotFoundError), reading(path) as other:
            if _has_tables(other):
                query = f"select {_COLUMNS}, sum from entry where key is not null order by id"
                self.merge_rows(other.execute(query).fetchall())
        remove(path)

    def release(self, scope: str) -> None:
        """Forgets what it knows of equal calls in a scope that is over, and in those inside."""
        # Without the lock, in which somebody may wait for the disk: these are nobody's any more.
        for known in list(self._equal):
            if f"{known[0]}/".startswith(f"{scope}/"):
                self._equal.pop(known, None)

    def _commit(self, rows: list[_Pending]) -> None:
        is_synced = any(one.is_synced for one in rows)
        try:
            self._database.execute(f"pragma synchronous = {'full' if is_synced else 'normal'}")
            with _transaction(self._database):
                for statement, group in groupby(rows, lambda one: one.statement):
                    self._database.executemany(statement, [one.values for one in group])
        except sqlite3.Error as error:  # from now on nothing is taken: it would come after a gap
            self._broken = str(error)
            return

    def _change(
        self, where: str, values: tuple[Any, ...], change: Callable[[_Values], _Values]
    ) -> None:
        """Replaces rows by changed ones, all of them or none."""
        found = list[_Values]()
        with self._lock:
            try:
                with _transaction(self._database):
                    query = f"select id, {_COLUMNS} from entry where {where}"
                    found = [
                        (*_with_sum(change(tuple(row))), number)
                        for number, *row in self._database.execute(query, values).fetchall()
                    ]
                    self._database.executemany(
                        f"update entry set ({_COLUMNS}, sum) = (?, ?, ?, ?, ?, ?, ?) where id = ?",
                        found,
                    )
            except sqlite3.Error as error:
                self._broken = self._broken or str(error)
        self.check_whole()
        if self.listener is not None:
            self.listener([row[:-1] for row in found])


# Those of this process; a forked one leaves them to its parent, and closes nothing.
_open: WeakSet[Journal] = WeakSet()
_left_behind: list[sqlite3.Connection] = []


def _leave_all() -> None:
    for journal in list(_open):
        journal.leave()


after_fork(_leave_all)


def add(path: str, at: tuple[Any, ...], entry: Entry, check: Callable[[], None]) -> None:
    """Adds an entry to a journal, also while its run goes on; nobody else adds one between what is
    checked and that. ConfigError when that cannot be.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("pragma synchronous = full")
            with _transaction(database):
                check()
                row = (*at[:3], str(at[3]), _text(entry), 0)
                database.execute(_INSERT, _with_sum(row))
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def remove(path: str) -> None:
    """Removes a journal, with what a process that was killed has left beside it."""
    for beside in (*(_beside(path, one) for one in (_LOCK, "-journal", "-shm", "-wal")), path):
        with suppress(FileNotFoundError):
            os.unlink(beside)


def is_in_use(path: str) -> bool:
    """Whether the run of a journal goes on."""
    try:
        with open(_beside(path, _LOCK), "rb") as file:
            return not lock(file.fileno(), waits=False)
    except OSError:
        return False


def has_failed(path: str) -> bool:
    """Whether the last run of a journal has ended with what could not be kept."""
    return _last_line(_beside(path, _LOCK)) == _FAILED


def is_journal(path: str) -> bool:
    """Whether a file is a journal."""
    try:
        with reading(path) as database:
            return _has_tables(database)
    except (ConfigError, OSError):
        return False


@contextmanager
def reading(path: str) -> Generator[sqlite3.Connection]:
    """A journal, also while its run goes on; ConfigError when it is none, or is damaged."""
    try:
        check_regular(path)
    except OSError as error:
        raise ConfigError(f"cannot read the journal {path}: {error.strerror or error}") from None
    check_head(path)
    try:
        with closing(_read_only(path)) as database:
            yield database
    except _PROBLEMS as error:
        raise ConfigError(str(_damaged(path, error))) from None


def check_head(path: str, script: str = "") -> None:
    """ConfigError when the file is none that this run can be kept in; it stays as it is."""
    try:
        with closing(_read_only(path)) as database:
            identity, version = (
                database.execute(f"pragma {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            )
            if not identity and not _has_tables(database):
                if 0 < os.path.getsize(path) < _SMALLEST:
                    raise _no_journal(path)
                return  # a new one, or a process was killed when it had just begun
            begun = None
            if (identity, version) == (_ID, VERSION):
                if _schema(database) != _own_schema():
                    raise ConfigError(str(_damaged(path, "its tables have changed")))
                query = "select data from entry where step = 'begun' order by id limit 1"
                begun = database.execute(query).fetchone()
    except _PROBLEMS as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise _no_journal(path) from None
        raise ConfigError(str(_damaged(path, error)), setting="journal") from None
    if identity != _ID:
        raise _no_journal(path)
    if version != VERSION:
        raise ConfigError(
            f"{path} is a journal of version {version}; this one writes version {VERSION}",
            setting="journal",
            hint="resume it with the saftc that started it, or name another file",
        )
    other = "" if begun is None else _script_of(begun[0])
    if other and script and other != script:
        raise ConfigError(
            f"{path} is the journal of another script, {other}: this is {script}",
            setting="journal",
            hint="name another file",
        )


def _schema(database: sqlite3.Connection) -> list[Any]:
    # A job keeps its rows in tables of its own beside that.
    query = "select type, name, tbl_name, sql from sqlite_master where tbl_name = 'entry'"
    return database.execute(query).fetchall()


@cache
def _own_schema() -> list[Any]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.executescript(_TABLES)
        return _schema(database)


def _script_of(begun: str) -> str:
    try:
        return str(json.loads(begun)["script"])
    except (ValueError, KeyError, TypeError):
        return ""  # it is damaged, which is said when the rows are read


def _has_tables(database: sqlite3.Connection) -> bool:
    return database.execute("select count(*) from sqlite_master").fetchone()[0] > 0


def _read_only(path: str) -> sqlite3.Connection:
    """The database, in which nothing is changed, and beside which nothing is made."""
    # Without a log beside it nobody writes to it, and it can be in a folder that is read-only.
    how = "mode=ro" if os.path.exists(_beside(path, "-wal")) else "immutable=1"
    return sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{how}", uri=True)


def _beside(path: str, ending: str) -> str:
    """A file beside a journal, also where a link leads to that."""
    return os.path.realpath(path) + ending


def _no_journal(path: str) -> ConfigError:
    """That a file is something else, as its first line tells."""
    with open(path, "rb") as file:
        line = file.readline(10_000)
    what, hint = f"{path} is not a journal", "name another file"
    if line.startswith(b"SQLite format 3\0"):
        what = f"{path} is not a journal, or is damaged"
    elif line.startswith(b'{"saft": "journal"'):
        what = f"{path} is a journal of an earlier saftc, in lines of text"
        hint = "resume it with the saftc that started it, or name another file"
    elif b'"key": ' in line and b'"repeat": ' in line:
        what, hint = f"{what}; it is a recording", "`--replay` takes recordings"
    return ConfigError(what, setting="journal", hint=hint)


def entries(path: str, *, latest: bool = False) -> Iterator[Entry]:
    """The rows of a journal as they were added, each with its place; of those that count still, if
    `latest`, the newest of each place. ConfigError when it is damaged.
    """
    with reading(path) as database:
        if not _has_tables(database):
            raise ConfigError(f"{path} is empty")
        where = f"where {_LATEST}" if latest else ""
        for *row, total in database.execute(
            f"select {_COLUMNS}, sum from entry {where} order by id"
        ):
            if _sum(tuple(row)) != total:
                raise ConfigError(f"{path} is damaged: a row of it has changed")
            scope, key, place, step, data, _ = row
            at: Entry = {"at": [scope, key, place, int(step) if step.isdigit() else step]}
            yield (at if key is not None else {"process": step}) | json.loads(data)


def exchanges(path: str) -> Iterator[Entry]:
    """The exchanges that a run would be answered with, and the calls of tools of other programs
    that have ended.
    """
    for entry in entries(path, latest=True):
        is_outside = "ms" in entry and str(entry.get("tool", "")).startswith("mcp(")
        if "hash" in entry or is_outside:
            yield entry


def told_to(variable: str, default: str) -> str:
    """What a variable says is to be done about a call of which not all is known: call, or stop."""
    wanted = os.environ.get(variable) or default
    if wanted not in ("call", "stop"):
        raise ConfigError(f"{variable}: expected call or stop, got {wanted!r}")
    return wanted


def script_here() -> str:
    """The name of the script that runs, without its ending; empty when it is unknown."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    stem = os.path.splitext(name)[0]
    return "" if stem in _NO_SCRIPTS else stem


def time_text(seconds: float) -> str:
    """A time as somebody here reads it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


class _Owner:
    """The process that alone runs with a journal: it holds the file `-lock` beside it, which says
    its number, and goes when it ends.
    """

    def __init__(self, path: str) -> None:
        try:
            if os.path.exists(path):
                check_regular(path)
            self._path = _beside(path, _LOCK)
            self._file = Held(self._path, PRIVATE, waits=False)
            try:
                self._file.add(f"{os.getpid()}\n".encode())
            except OSError:
                self._file.close()
                raise
        except BlockingIOError:
            raise ConfigError(
                f"the journal {path} is in use by {self._owner()}",
                setting="journal",
                hint="only one process can use a journal; name another one for another run",
            ) from None
        except (OSError, ValueError) as error:
            raise _unusable(path, error) from None

    @property
    def is_open(self) -> bool:
        """Whether this process has the journal: not after `close`, and not in a forked process."""
        return self._file.is_open

    def close(self, *, is_whole: bool = True) -> None:
        """Lets others use the journal; the file stays where the journal cannot say how it ended."""
        if self.is_open:
            with suppress(OSError):  # then it stays, and says nothing
                if is_whole:
                    os.unlink(self._path)
                else:
                    self._file.add(f"{_FAILED}\n".encode())  # there is room in its block
            self._file.close()

    def leave(self) -> None:
        """In a forked process: the parent goes on to hold it."""
        self._file.leave()

    def _owner(self) -> str:
        number = _last_line(self._path)
        return f"process {number}" if number.isdigit() else "another process"


def _last_line(path: str) -> str:
    """The last whole line of a small file, empty where there is none."""
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return file.read().rpartition("\n")[0].rpartition("\n")[2]
    return ""


@contextmanager
def _transaction(database: sqlite3.Connection) -> Generator[None]:
    """All that is changed in the block is on the disk after it, or nothing."""
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise


def make_private(path: str) -> None:
    """Makes a file that only its owner can read, where there is none; OSError where that cannot
    be.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    check_regular(path)


def _unusable(path: str, error: Exception) -> ConfigError:
    reason = getattr(error, "strerror", None) or error
    return ConfigError(f"cannot use {path!r} as a journal: {reason}")


def _damaged(path: str, problem: object) -> JournalError:
    return JournalError(
        f"{path} is damaged: {problem}",
        hint="begin another journal; find out which calls were made before you do",
    )


def _call_damaged(path: str) -> JournalError:
    return JournalError(
        f"{path}: what is kept of a call is damaged: it may have been made",
        hint="find out whether it was; begin another journal to go on",
    )


def _with_sum(row: _Values) -> _Values:
    return *row, _sum(row)


def _sum(row: _Values) -> int:
    """The checksum of a row: of all that it says."""
    return crc32(json.dumps(row, default=repr).encode())


def _text(data: Any) -> str:
    return _plain(json.dumps(data, ensure_ascii=False))


def _plain(text: Any) -> Any:
    """The text without halves of surrogate pairs, which are no UTF-8: JSON has escapes for them."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


def _answers(count: int) -> str:
    return counted(count, "answer is", "answers are")


def _now() -> float:
    return round(time.time(), 3)
