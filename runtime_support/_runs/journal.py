"""A journal: the exchanges and the calls of tools of one run, in a file of JSON lines.

    {"saft": "journal", "version": 1, "script": "triage", ...}        a process begins
    {"at": ["", "3f2a...", 0, 0], "used": ["gpt-4o-mini", 11, 7], "hash": ..., "reply": {...}}
    {"at": ["", "3f2a...", 0, "t1"], "tool": "look_up", "sent": ..., "time": ...}     it begins
    {"at": ["", "3f2a...", 0, "t1"], "tool": "look_up", "sent": ..., "result": "3.5", "ms": 0.1}
    {"at": ["", "3f2a...", 0, 2], "forget": "ContractError: ..."}     from this step on, ask again
    {"ended": "ok", ...}                                              the process is over

Lines are added and never changed; later ones take the place of earlier ones. Of what they hold only
the places are kept in memory.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from runtime_support._redaction import holds_secret
from runtime_support._results import Usage
from runtime_support._runs.lines import JOURNAL_START, Entry, Lines, line_of, without_opaque
from runtime_support._runs.places import Asked, lines_of, order_of, without_order
from runtime_support._tracing import note
from runtime_support._values import counted
from runtime_support._version import __version__
from runtime_support.errors import ConfigError

VERSION = 1
_TEXT = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
_START = re.compile(
    rb'\{"at": (\[%b, "[0-9a-f]+", \d+, (?:(\d+)|"\w+")\]), "(\w+)": '
    rb"(?:\[%b, (\d+(?:, \d+)+)\])?" % (_TEXT.replace(b"(", b"(?:", 1), _TEXT)
)
# Names that say nothing of which script runs.
_NO_SCRIPTS = ("", "-", "-c", "__main__", "pytest", "ipykernel_launcher")
_LENGTH_BITS = 32


class Journal:
    """What is kept of a run, by place; for all threads of the process.

    One that is `part_of` the job of a script, beside others, does not tell of its own beginning
    and end.
    """

    def __init__(self, path: str, part_of: str | None = None) -> None:
        self.path = path
        self.script = script_here() if part_of is None else part_of
        self._is_part = part_of is not None
        self.kept = self.damaged = 0
        self.new = 0
        # By model: what all that was ever answered has taken, and the longest output.
        self.paid: dict[str, tuple[Usage, int]] = {}
        self._at: dict[int, int] = {}
        self._used: set[int] = set()
        self._prompts = self._claimed = 0
        self._begun: float | None = None
        self._ended: str | None = None
        self._free: dict[tuple[str, str], list[Asked]] | None = None
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self.lines = Lines(path)
        try:
            for _, line in self.lines:
                check_head(path, line, self.script)
                break
            if self.lines.mend():
                note(f"{path}: the last line is incomplete and is left out")
            self._read()
            if self.damaged:
                lines = counted(self.damaged, "line is", "lines are")
                note(f"{path}: {lines} damaged; what stood there is asked again")
            self._tell_of_beginning()
            head = {"saft": "journal", "version": VERSION, "saftc": __version__}
            self._note({**head, "script": self.script, "process": os.getpid(), "time": _now()})
        except BaseException:
            self.lines.close()
            raise

    def claim(self, asked: Asked) -> bool:
        """Whether something is kept of this call; then it is this one's."""
        place = _place(asked, 0)
        with self._lock:
            if place not in self._at or place in self._used:
                return False
            self._used.add(place)
            self._claimed += 1
        return True

    def claim_like(self, asked: Asked) -> Asked | None:
        """A call with this key that was asked elsewhere, and that nobody has asked for until now.

        What ran ahead then and does not now, or the other way round, has another scope. All that
        comes before in the script has to have ended, so that what is left is nobody's.
        """
        with self._lock:
            for other in self._like(asked):
                if _place(other, 0) not in self._used:
                    self._used.add(_place(other, 0))
                    self._claimed += 1
                    return other
        return None

    def has_like(self, asked: Asked) -> bool:
        """Whether there may be such a call."""
        with self._lock:
            return any(self._like(asked))

    def _like(self, asked: Asked) -> Iterator[Asked]:
        like = self._free_ones().get((without_order(asked.scope), asked.key), ())
        lines = lines_of(asked.scope)
        # What is in the same lines is there for those who ask for it.
        return (other for other in like if lines_of(other.scope) != lines)

    def find(self, asked: Asked, step: int | str) -> Entry | None:
        """What is kept of a step."""
        where = self._at.get(_place(asked, step))
        if where is None:
            return None
        line = self.lines.at(where >> _LENGTH_BITS, where & ((1 << _LENGTH_BITS) - 1))
        try:
            entry: Entry = json.loads(line)
        except ValueError:
            note(f"{self.path}: a line is damaged; what stood there is asked again")
            return None
        return entry if entry["at"] == [*asked, step] else None

    def put(self, asked: Asked, step: int | str, entry: Entry) -> None:
        """Keeps an entry: when this returns, it is on the disk. JournalError when it cannot be."""
        line = line_of({"at": [*asked, step], **entry})
        bare = without_opaque(entry)
        if holds_secret((line if bare is entry else line_of(bare)).decode()):
            self._tell(f"not kept in {self.path}: an answer holds something like a key")
            return
        offset = self.lines.append(line)
        with self._lock:
            self._at[_place(asked, step)] = offset << _LENGTH_BITS | len(line)
            if step == 0:
                self._used.add(_place(asked, 0))
            self.new += type(step) is int

    def forget(self, asked: Asked, step: int, why: str) -> None:
        """Has a prompt be asked again from this step on when the run goes on."""
        self._note({"at": [*asked, step], "forget": why})

    def close(self, ended: str) -> None:
        """The process is over, or the run in it: "ok" or "failed"; nothing in a forked process."""
        if not self.lines.is_open:
            return
        unused = self._prompts - self._claimed
        end = {"ended": ended, "time": _now(), "kept": self.kept, "new": self.new}
        try:
            self._note(end)
        finally:
            self.lines.close()
        count = self.kept + self.new
        if self._is_part:
            return
        if ended != "ok" and count:
            note(f"{_answers(count)} kept in {self.path}; the same command goes on from there")
        elif ended == "ok" and unused:
            note(f"{self.path}: {_answers(unused)} kept that this run did not ask for")

    def _read(self) -> None:
        matched, paid = _START.match, dict[bytes, list[int]]()
        longest: dict[bytes, int] = {}
        for offset, line in self.lines:
            start = matched(line)
            if start is None or not line.endswith(b"}\n"):
                self.damaged += not self._read_other(line)
                continue
            at, number, kind, model, used = start.groups()
            if kind == b"forget":
                self._drop(json.loads(at))
                continue
            place = hash(at)
            if number is not None and place not in self._at:
                self.kept += 1
                self._prompts += number == b"0"
            self._at[place] = offset << _LENGTH_BITS | len(line)
            if model is not None:
                sent, answered, *parts = map(int, used.split(b","))
                sums = paid.get(model) or paid.setdefault(model, [0, 0, 0, 0, 0, 0])
                for place, count in enumerate((sent, answered, 1, *parts)):
                    sums[place] += count
                longest[model] = max(longest.get(model, 0), answered)
        for model, sums in paid.items():
            self.paid[json.loads(b'"' + model + b'"')] = Usage(*sums), longest[model]

    def _drop(self, at: list[Any]) -> None:
        """Leaves out what stands in the file from a step on."""
        asked, step = Asked(*at[:3]), at[3]
        while self._at.pop(_place(asked, step), None) is not None:
            self.kept -= 1
            self._prompts -= not step
            step += 1

    def _read_other(self, line: bytes) -> bool:
        try:
            entry = json.loads(line)
            self._begun = entry.get("time", self._begun) if "saft" in entry else self._begun
            self._ended = None if "saft" in entry else str(entry["ended"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def _free_ones(self) -> dict[tuple[str, str], list[Asked]]:
        """The calls that nobody has asked for, by scope and key, in the order of the script."""
        if self._free is None:
            self._free = {}
            for _, line in self.lines if self._prompts > self._claimed else ():
                start = _START.match(line)
                if start is None or start[2] != b"0" or start[3] == b"forget":
                    continue
                scope, key, repeat, _ = json.loads(start[1])
                asked = Asked(scope, key, repeat)
                place = _place(asked, 0)
                if place in self._at and place not in self._used:
                    like = self._free.setdefault((without_order(scope), key), [])
                    if asked not in like:
                        like.append(asked)
            for like in self._free.values():
                like.sort(key=lambda one: (order_of(one.scope), one.repeat))
        return self._free

    def _tell_of_beginning(self) -> None:
        if self._begun is None or not self.kept or self._is_part:
            return
        what = "goes on with the run" if self._ended != "ok" else "repeats the run that ended well"
        begun = time_text(self._begun)
        note(f"{self.path}: {what}, last begun {begun}; {_answers(self.kept)} kept")

    def _note(self, entry: Entry) -> None:
        self.lines.append(line_of(entry))

    def _tell(self, text: str) -> None:
        with self._lock:
            is_new = text not in self._told
            self._told.add(text)
        if is_new:
            note(text)


def check_head(path: str, line: bytes, script: str = "") -> None:
    """ConfigError when the file is none that this run can be kept in; it stays as it is."""
    if not line.endswith(b"\n") and line[: len(JOURNAL_START)] == JOURNAL_START[: len(line)]:
        return  # a crash has left this of a head
    try:
        head = json.loads(line)
        is_journal = head["saft"] == "journal"
        version = head["version"]
        other = str(head["script"])
    except (ValueError, KeyError, TypeError):
        is_journal, version, other = False, 0, ""
    if not is_journal:
        is_recording = b'"key": ' in line and b'"repeat": ' in line
        raise ConfigError(
            f"{path} is no journal" + ("; it is a recording" if is_recording else ""),
            setting="journal",
            hint="`--replay` takes recordings" if is_recording else "name another file",
        )
    if version != VERSION:
        raise ConfigError(
            f"{path} is a journal of version {version}; this one writes version {VERSION}",
            setting="journal",
            hint="go on with the saftc that has begun it, or name another file",
        )
    if other and script and other != script:
        raise ConfigError(
            f"{path} is the journal of another script, {other}: this is {script}",
            setting="journal",
            hint="name another file",
        )


def script_here() -> str:
    """The name of the script that runs, without its ending; empty when nobody knows."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    stem = os.path.splitext(name)[0]
    return "" if stem in _NO_SCRIPTS else stem


def _place(asked: Asked, step: int | str) -> int:
    """A number for a place, of which there are too many to keep them as they are."""
    text = json.dumps([*asked, step], ensure_ascii=False)
    return hash(text.encode("utf-8", "backslashreplace"))


def _answers(count: int) -> str:
    return counted(count, "answer is", "answers are")


def time_text(seconds: float) -> str:
    """A time as somebody here reads it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _now() -> float:
    return round(time.time(), 3)
