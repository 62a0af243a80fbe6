"""A journal: the exchanges and the calls of tools of one run, in a file of JSON lines.

    {"saft": "journal", "version": 1, "script": "triage", ...}        a process begins
    {"at": ["", "3f2a...", 0, 0], "used": ["gpt-4o-mini", 11, 7], "hash": ..., "reply": {...}}
    {"at": ["", "3f2a...", 0, "t1"], "tool": "look_up", "sent": ..., "time": ...}     it begins
    {"at": ["", "3f2a...", 0, "t1"], "tool": "look_up", "sent": ..., "result": "3.5", "ms": 0.1}
    {"at": ["", "3f2a...", 0, "t2a"], "asks": "refund", "digest": ..., ...}     waits for approval
    {"at": ["", "3f2a...", 0, "t2a"], "asks": "refund", "decided": "yes", "by": "ada", ...}
    {"at": ["", "3f2a...", 0, 2], "forget": "ContractError: ..."}     from this step on, ask again
    {"at": ["", "3f2a...", 0, 3], "kept": false, "held": "the form sk-...", ...}    it held a key
    {"ended": "ok", ...}                                              the process is over

Each line ends with a checksum of what comes before it. Lines are added and never changed; later
ones take the place of earlier ones. Of what they hold only the places are kept in memory.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from math import isfinite
from typing import Any

from runtime_support._exchange import TOKEN_PARTS
from runtime_support._notes import note
from runtime_support._redaction import holds_secret, redacted_data, secret_in
from runtime_support._results import Usage
from runtime_support._values import counted, is_list, is_object
from runtime_support._version import __version__
from runtime_support.errors import ConfigError
from runtime_support.runs._lines import (
    JOURNAL_START,
    Entry,
    Lines,
    Sums,
    line_of,
    sum_fits,
    with_sum,
    without_opaque,
)
from runtime_support.runs._places import (
    Asked,
    enclosing_scopes,
    lines_ahead,
    order_ahead,
    without_order,
)

VERSION = 1
_TEXT = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
_START = re.compile(
    rb'\{"at": (\[%b, "[0-9a-f]+", \d{1,18}, (?:(\d{1,18})|"\w+")\]), "(\w+)": '
    rb"(?:\[%b, (\d{1,18}(?:, \d{1,18}){1,4})\])?" % (_TEXT.replace(b"(", b"(?:", 1), _TEXT)
)
# Names that say nothing of which script runs.
_NO_SCRIPTS = ("", "-", "-c", "__main__", "pytest", "ipykernel_launcher")
_LENGTH_BITS = 32
_LATEST = 253_402_300_799  # the end of the year 9999, in seconds


# By which words of `saftc`, and in which folder, the run of this process was begun.
command_here: tuple[list[str], str] | None = None


def note_command(words: list[str], folder: str) -> None:
    """Has a run that waits say by which command it was begun, unless that holds a key, or a script
    that is in no file; without words it says nothing from now on.
    """
    global command_here
    is_repeatable = words and "-c" not in words and "-" not in words
    command_here = (words, folder) if is_repeatable and not holds_secret(" ".join(words)) else None


class Journal:
    """What is kept of a run, by place; for all threads of the process.

    One that is `part_of` the job of a script, beside others, does not report its own beginning
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
        # Those of exchanges whose reply held a key and is not there.
        self._lost: set[int] = set()
        # The scopes of calls that were not made, as how they have ended is kept.
        self._ended_calls: set[str] = set()
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
                note(f"{path}: {lines} damaged; those prompts are sent again")
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
        """A call with this key that was asked elsewhere, and that this run has not asked for yet.

        What ran ahead then and does not now, or the other way round, has another scope. All that
        comes before in the script has to have ended, so that what is left belongs to none of it.
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
        lines = lines_ahead(asked.scope)
        # What is in the same lines is there for those who ask for it.
        return (other for other in like if lines_ahead(other.scope) != lines)

    def find(self, asked: Asked, step: int | str) -> Entry | None:
        """What is kept of a step."""
        where = self._at.get(_place(asked, step))
        if where is None:
            return None
        line = self.lines.at(where >> _LENGTH_BITS, where & ((1 << _LENGTH_BITS) - 1))
        try:
            entry: Entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = {}
        fits = sum_fits(line)
        # No decision counts that has no sum, which earlier versions did not write.
        if fits is False or not is_sound(entry) or ("asks" in entry and not fits):
            note(f"{self.path}: a line is damaged; those prompts are sent again")
            return None
        return entry if entry["at"] == [*asked, step] else None

    def put(self, asked: Asked, step: int | str, entry: Entry, needed: str | None = None) -> None:
        """Keeps an entry: when this returns, it is on the disk. JournalError when it cannot be.

        Secrets are left out of it. When there is one in the part that is `needed` when the run
        goes on, it says that this is not kept, and which kind of secret it held.
        """
        line = line_of({"at": [*asked, step], **entry})
        bare = without_opaque(entry)
        if holds_secret((line if bare is entry else line_of(bare)).decode(errors="replace")):
            whole = {needed: entry[needed]} if needed is not None and needed in entry else {}
            held = secret_in(json.dumps([bare[name] for name in whole], ensure_ascii=False))
            entry = redacted_data(bare)
            if held is None:
                entry |= whole
            else:
                entry = {"kept": False, "held": held, **entry}
                self._tell(f"not kept in {self.path}: {_told_held(entry, 'holds')}")
            line = line_of({"at": [*asked, step], **entry})
        line = with_sum(line)
        offset = self.lines.append(line)
        with self._lock:
            place = _place(asked, step)
            self._at[place] = offset << _LENGTH_BITS | len(line)
            if step == 0:
                self._used.add(place)
            self.new += type(step) is int and "kept" not in entry

    @property
    def began_by(self) -> Entry:
        """By which command its run was begun, and where, as parts of an entry; nothing of a part of
        a job.
        """
        if command_here is None or self._is_part:
            return {}
        return {"command": command_here[0], "folder": command_here[1]}

    def not_made(self, scope: str) -> None:
        """A call was not made, since it has ended before: what it asked then is not asked now."""
        with self._lock:
            self._ended_calls.add(scope)

    def tell_lost(self, entry: Entry) -> None:
        """Tells that what is asked now was answered before, and could not be kept."""
        self._tell(f"{self.path}: asked again, as {_told_held(entry, 'held')} and was not kept")

    def forget(self, asked: Asked, step: int, why: str) -> None:
        """Makes a prompt be asked again from this step on when the run resumes."""
        self._note({"at": [*asked, step], "forget": why})

    def close(self, ended: str) -> None:
        """The process is over, or the run in it: "ok", "failed", "interrupted" or "waiting".

        It does nothing in a forked process. JournalError when that cannot be noted, or when what
        was answered in a run that seems to have ended well could not be kept.
        """
        if not self.lines.is_open:
            return
        unused = 0
        try:
            if ended == "ok":
                self.lines.check_whole()
                unused = 0 if self._is_part else self._unused()
            if self.lines.is_whole:  # else the error was raised where it happened
                end = {"ended": ended, "time": _now(), "kept": self.kept, "new": self.new}
                self._note(end)
        finally:
            self.lines.close()
        count = self.kept + self.new
        if self._is_part:
            return
        if ended == "waiting":
            note(f"`saftc approve {self.path}` decides; then run the same command again to resume")
        elif ended != "ok" and count:
            note(f"{_answers(count)} kept in {self.path}; run the same command again to resume")
        elif unused:
            note(f"{self.path}: {_answers(unused)} kept that this run did not ask for")

    def _unused(self) -> int:
        """How many prompts have answers that this run had no use for, and could have had.

        Those inside of calls that were not made again are not asked, and an answer that was taken
        from another place is kept in both.
        """
        if self._prompts == self._claimed:
            return 0
        same: dict[int, int] = {}
        first: dict[int, str] = {}
        for _, line in self.lines:
            start = _START.match(line)
            if start is None or start[2] != b"0" or start[3] == b"forget":
                continue
            at = json.loads(start[1])
            place = _place(Asked(*at[:3]), 0)
            if place not in self._at or place in self._lost:
                continue
            if start[3] == b"instead":
                other = json.loads(line)["instead"]
                origin = _place(Asked(*other[:3]), 0)
                same[place] = same.get(origin, origin)
            first[place] = at[0]
        used = {same.get(place, place) for place in self._used}
        left = {same.get(place, place): scope for place, scope in first.items()}
        return sum(
            place not in used
            and not any(one in self._ended_calls for one in enclosing_scopes(scope))
            for place, scope in left.items()
        )

    def _read(self) -> None:
        matched, paid = _START.match, dict[bytes, list[int]]()
        longest: dict[bytes, int] = {}
        lines = Sums()
        for offset, line in self.lines:
            start = matched(line)
            if not lines.fit(line) or not line.endswith(b"}\n"):
                self.damaged += 1
                continue
            if start is None:
                self.damaged += not self._read_other(line)
                continue
            at, number, kind, model, used = start.groups()
            if kind == b"forget":
                self._drop(json.loads(at))
                continue
            place = hash(at)
            is_lost = kind == b"kept"
            if is_lost:
                model, used = _used_in(line)
            if number is not None:
                was_kept = place in self._at and place not in self._lost
                self.kept += (not is_lost) - was_kept
                self._prompts += number == b"0" and place not in self._at
                (self._lost.add if is_lost else self._lost.discard)(place)
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
        """Leaves out what the file has from a step on."""
        asked, step = Asked(*at[:3]), at[3]
        while self._at.pop(place := _place(asked, step), None) is not None:
            self.kept -= place not in self._lost
            self._lost.discard(place)
            self._prompts -= not step
            step += 1

    def _read_other(self, line: bytes) -> bool:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not is_sound(entry) or "at" in entry:
            return False
        if "saft" in entry:
            self._begun, self._ended = entry["time"], None
        else:
            self._ended = entry["ended"]
        return True

    def _free_ones(self) -> dict[tuple[str, str], list[Asked]]:
        """The calls that this run has not asked for, by scope and key, in the script's order."""
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
                like.sort(key=lambda one: (order_ahead(one.scope), one.repeat))
        return self._free

    def _tell_of_beginning(self) -> None:
        if self._begun is None or not self.kept or self._is_part:
            return
        what = "resumes the run" if self._ended != "ok" else "repeats the run that succeeded"
        begun = time_text(self._begun)
        note(f"{self.path}: {what}, last started {begun}; {_answers(self.kept)} kept")

    def _note(self, entry: Entry) -> None:
        self.lines.append(with_sum(line_of(entry)))

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
    if line.startswith(JOURNAL_START) and sum_fits(line) is False:
        return  # a damaged line like others
    try:
        head = json.loads(line)
        is_journal = head["saft"] == "journal"
        version = head["version"]
        other = str(head["script"])
    except (ValueError, KeyError, TypeError, RecursionError):
        head, is_journal, version, other = {}, False, 0, ""
    if not is_journal:
        is_recording = b'"key": ' in line and b'"repeat": ' in line
        raise ConfigError(
            f"{path} is not a journal" + ("; it is a recording" if is_recording else ""),
            setting="journal",
            hint="`--replay` takes recordings" if is_recording else "name another file",
        )
    if version != VERSION:
        raise ConfigError(
            f"{path} is a journal of version {version}; this one writes version {VERSION}",
            setting="journal",
            hint="resume it with the saftc that started it, or name another file",
        )
    if other and script and other != script:
        raise ConfigError(
            f"{path} is the journal of another script, {other}: this is {script}",
            setting="journal",
            hint="name another file",
        )
    if not is_sound(head):
        raise ConfigError(
            f"{path} is not a journal that saftc has written: its first line has no time of a run",
            setting="journal",
            hint="name another file",
        )


def is_sound(entry: Any) -> bool:
    """Whether an entry has the parts that those of a journal have; others count as damaged."""
    match entry:
        case {"saft": "journal", "script": str(), "time": time}:
            return _is_time(time)
        case {"ended": "ok" | "failed" | "interrupted" | "waiting"}:
            return True
        case {"at": [str(), str(), int(), int()], "forget": str()}:
            return True
        case {"at": [str(), str(), int(), str()], "tool": str(), "sent": str(), "time": time}:
            has_end = _is_number(entry.get("ms")) and all(
                isinstance(entry.get(name, 0), str | None) for name in ("result", "error")
            )
            return _is_time(time) and ("ms" not in entry or has_end)
        case {"at": [str(), str(), int(), str()], "asks": str(), **others}:
            return _is_question(others)
        case {"at": [str(), str(), int(), int()], "hash": str(), "time": time, "ms": ms}:
            is_counted = "instead" in entry or _is_used(entry.get("used"))
            is_told = _is_time(time) and _is_number(ms)
            return is_counted and is_told and _has_request(entry) and _has_answer(entry)
        case _:
            return False


def _is_question(entry: Entry) -> bool:
    """Whether this asks for approval of a call, or says what was decided about one."""
    match entry:
        case {"kind": "call" | "program", "digest": str(), "sent": str(), "shown": str()}:
            pass
        case _:
            return False
    if not _is_time(entry.get("time")):
        return False
    match entry:
        case {"decided": "yes" | "no", "reason": str(), "arguments": None, "by": str()}:
            return isinstance(entry.get("result"), str | None)
        case {"decided": "changed", "reason": str(), "arguments": str(), "by": str()}:
            return isinstance(entry.get("result"), str | None)
        case _:
            return "decided" not in entry


def _has_request(entry: Entry) -> bool:
    messages = entry["request"].get("messages", []) if is_object(entry.get("request")) else None
    return is_list(messages) and all(
        is_object(one) and isinstance(one.get("role"), str) for one in messages
    )


def _has_answer(entry: Entry) -> bool:
    if "refused" in entry:
        return True
    match entry.get("reply"):
        case {"text": str(), "finish": str(), "model": str(), "tool_calls": calls, **others}:
            counts = others.get("input_tokens"), others.get("output_tokens")
            return all(isinstance(count, int) for count in counts) and _are_calls(calls)
        case _:
            return False


def _are_calls(calls: Any) -> bool:
    return is_list(calls) and all(
        is_object(one) and all(isinstance(one.get(part), str) for part in ("name", "arguments"))
        for one in calls
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= _LATEST


def _is_used(used: Any) -> bool:
    """Whether this is the model of an exchange, with the tokens that it took, and parts of them."""
    match used:
        case [str(), int(), int(), *parts]:
            return len(parts) <= len(TOKEN_PARTS) and all(isinstance(one, int) for one in parts)
        case _:
            return False


def script_here() -> str:
    """The name of the script that runs, without its ending; empty when it is unknown."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    stem = os.path.splitext(name)[0]
    return "" if stem in _NO_SCRIPTS else stem


def _place(asked: Asked, step: int | str) -> int:
    """A number for a place, of which there are too many to keep them as they are."""
    text = json.dumps([*asked, step], ensure_ascii=False)
    return hash(text.encode("utf-8", "backslashreplace"))


def _used_in(line: bytes) -> tuple[bytes | None, bytes]:
    """The model and the tokens of an exchange as they are in its line; no model without them."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None, b""
    if not is_sound(entry) or "used" not in entry:
        return None, b""
    model, *counts = entry["used"]
    text = json.dumps(model, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return text[1:-1], ", ".join(map(str, counts)).encode()


def _told_held(entry: Entry, verb: str) -> str:
    """What it is that holds a key, and which kind of one."""
    what = f"the result of {entry['tool']}" if "tool" in entry else "an answer"
    place = f", at {entry['place']}" if entry.get("place") else ""
    return f"{what} {verb} something like a key ({entry['held']}{place})"


def _answers(count: int) -> str:
    return counted(count, "answer is", "answers are")


def time_text(seconds: float) -> str:
    """A time as somebody here reads it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _now() -> float:
    return round(time.time(), 3)
