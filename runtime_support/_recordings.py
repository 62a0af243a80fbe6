"""Records and replays requests to models and calls of MCP tools, with their replies.

    SAFT_RECORD=file                     sends every request and records it with its reply
    SAFT_REPLAY=file                     takes replies from the file; if one is missing, fails
    SAFT_REPLAY=file SAFT_RECORD=file    sends and records only missing requests

A recording has one JSON line per exchange: the key of the canonical request, how often the same
request came before, the request and the reply. A model chosen by the environment or a project file
is not part of the request, so that other users can replay it with their own model. During the run,
a line is appended for each reply as it arrives; for overlapping prompts, in the order of the
script. Several processes may append at once. At the end the file is sorted by key, so that diffs
are small. HTTP headers are not recorded, and each secret is replaced by `[redacted]`. Requests are
compared after this replacement.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from heapq import nlargest
from typing import TYPE_CHECKING, Any, TypeAlias

from runtime_support._core.hooks import Hook, RequestedCall
from runtime_support._core.messages import Reply, ReplyStream, Request
from runtime_support._core.notes import note
from runtime_support._core.redaction import redacted, secret_in, without_known_secrets
from runtime_support._core.results import ToolCall
from runtime_support._core.scopes import order_of
from runtime_support._core.tasks.turns import current_task, in_turn
from runtime_support._core.tasks.waits import Steps, StreamClosed, Wait
from runtime_support._journal.journal import exchanges, is_journal
from runtime_support._journal.json_lines import (
    OPAQUE,
    Entry,
    LockedFile,
    OpenFiles,
    key_of_data,
    line_of,
    outcome_data,
    read_lines,
    reply_of,
    request_data,
)
from runtime_support._language.files import PRIVATE, replace_file
from runtime_support._media import text_of
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import counted, is_list, is_object
from runtime_support.errors import ConfigError, ReplayMiss, SaftError, ToolsUnsupported

if TYPE_CHECKING:
    from pathlib import Path

    from runtime_support._core.hooks import MakeCall, PromptRun, SendRequest

MOST_DIFFERENCES = 30
# How many entries are compared in full with a missing request. They are chosen by the first
# `_SKIMMED` characters of each entry.
MOST_COMPARED = 8
_SKIMMED = 4000
_MOST_UNUSED = 5
_READABLE = ("text", "thinking", "summary")

# The keys of prompts in a scope, and the number of the outermost group of overlapping calls.
_KEYS = re.compile(r"[0-9a-f]{16}\.")
_OVERLAPPING = re.compile(r".*?\d+(?=\.\d+:)")

EntryKey: TypeAlias = tuple[str, int]


class Recording:
    """The entries of a recording's file, shared by the threads of the process."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_journal = is_journal(path)
        self.entries, torn = (_from_journal(path), None) if self.is_journal else _read(path)
        if torn is not None:
            note(f"{path}:{torn}: the last line is incomplete and is left out")
        self.used: set[EntryKey] = set()
        self.asked: Counter[str] = Counter()
        self.misses: list[ReplayMiss] = []
        self.has_changed = False
        self._is_writable = False
        self._unwritten: list[bytes] = []
        self._lock = threading.Lock()

    def key_of(self, asked: Entry) -> str:
        """Returns the key of a request. If the file is a recording, secrets are replaced first.

        A journal computes its keys from requests with secrets.
        """
        return key_of_data(asked if self.is_journal else without_secrets(asked))

    def place(self, key: str) -> EntryKey:
        """Counts a request. Returns its key, and how many earlier requests had the same key."""
        with self._lock:
            repeat = self.asked[key]
            self.asked[key] += 1
        return key, repeat

    def find(self, place: EntryKey) -> Entry | None:
        """Returns the entry with this key, and marks it as used. Returns None if there is none."""
        with self._lock:
            self.used.add(place)
            return self.entries.get(place)

    def miss(self, asked: Entry) -> ReplayMiss:
        """Returns the error for a request without an entry, and adds it to `misses`."""
        error = _miss(self, asked)
        self.misses.append(error)
        return error

    def check(self) -> None:
        """Raises ConfigError if the file cannot be written."""
        with self._lock:
            if self._unwritten or not self._is_writable:
                try:
                    self._write()
                except OSError as error:
                    reason = error.strerror or error
                    raise ConfigError(f"cannot write the recording {self.path}: {reason}") from None
                self._is_writable = True

    def put(self, place: EntryKey, asked: Entry, reply: Entry) -> None:
        """Writes an exchange. An error is reported, not raised, because the reply was paid for."""
        shown = without_secrets(reply)
        entry = {"key": place[0], "repeat": place[1], "request": without_secrets(asked), **shown}
        with self._lock:
            self.entries[place] = entry
            self.used.add(place)
            self.has_changed = True
            self._unwritten.append(line_of(entry))
            try:
                self._write()
            except OSError as error:
                note(f"cannot write the recording {self.path}: {error.strerror or error}")

    def unused(self) -> list[Entry]:
        """Returns the entries that no request has used."""
        return [entry for place, entry in sorted(self.entries.items()) if place not in self.used]

    def close(self) -> None:
        """Sorts the file, if this process has written to it."""
        with self._lock:
            if not self.has_changed:
                return
            try:
                self._write(and_finish=True)
            except OSError as error:
                missing = f"; {len(self._unwritten)} replies are not in it" * bool(self._unwritten)
                reason = f"{error.strerror or error}{missing}"
                note(f"cannot finish the recording {self.path}: {reason}")
                return
            self.has_changed = False

    def _write(self, *, and_finish: bool = False) -> None:
        """Appends the pending entries to the file; with `and_finish`, also sorts the file."""
        with LockedFile(self.path, PRIVATE, waits=True) as file:
            file.mend()  # another process may have been killed while it wrote
            while self._unwritten:
                file.add(self._unwritten[0])
                del self._unwritten[0]
            if and_finish:
                entries, _ = _read(self.path)  # later lines replace earlier ones
                lines = [line_of(entry) for _, entry in sorted(entries.items())]
                if os.name == "nt":
                    file.close()  # Windows cannot replace an open file
                replace_file(self.path, b"".join(lines), permissions=PRIVATE)


class RecordingHook(Hook):
    """Replays requests from a recording, or sends them and records their replies."""

    def __init__(self, replay: str | None, record: str | None) -> None:
        self.replay = None if replay is None else open_recording(replay)
        self.record = None if record is None else open_recording(record)
        if self.record is not None and self.record.is_journal:
            raise ConfigError(
                f"{self.record.path} is the journal of a run: nothing is recorded there",
                hint="name another file",
            )

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the recorded reply, if there is one.

        Otherwise, sends the request and records the reply. Raises ReplayMiss if the hook only
        replays. If a stream is abandoned, the part that arrived is recorded.
        """
        asked = request_data(request)
        places = self._places(asked)
        entry = self._find(places, asked)
        if entry is not None:
            reply = reply_of(entry, "" if self.replay is None else self.replay.path)
            if request.pieces is not None and reply.finish == "left":
                request.pieces.append(reply.text)
                yield reply.text
            return reply
        if self.record is None:
            return (yield from proceed(request))
        yield Wait(self.record.check)
        put = partial(self._put_in_turn, places[self.record], asked)
        try:
            reply = yield from proceed(request)
        except StreamClosed:
            yield put(outcome_data(Reply("".join(request.pieces or ()), finish="left")))
            raise
        except ToolsUnsupported as refusal:
            yield put(outcome_data(refusal))
            raise
        except SaftError:
            in_turn(places[self.record])  # a later equal request counts this one
            raise
        yield put(outcome_data(reply))
        return reply

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Steps[Any]:
        """Returns the recorded result of a call of an MCP tool, if there is one.

        Otherwise, makes the call and records the result. Raises ReplayMiss if the hook only
        replays. The key consists of the tool, with its server's name, and the arguments.
        """
        if call.kind != "server":
            return (yield from proceed(call))
        asked: Entry = {"tool": call.name, "args": json.loads(call.sent)}
        places = self._places(asked)
        entry = self._find(places, asked)
        if entry is not None:
            return ToolCall(call.name, None, to_json(entry["reply"]), None, 0.0)
        if self.record is None:
            return (yield from proceed(call))
        yield Wait(self.record.check)
        made: ToolCall = yield from proceed(call)
        reply = {"reply": json.loads(made.result or "null")}
        yield self._put_in_turn(places[self.record], asked, reply)
        return made

    def _places(self, asked: Entry) -> dict[Recording, Callable[[], EntryKey]]:
        """Returns a function for each recording, which counts the request at its first call.

        If the calls of the script do not overlap, the request is counted at once.
        """
        used = [one for one in (self.replay, self.record) if one is not None]
        places = {one: cache(partial(one.place, one.key_of(asked))) for one in used}
        if self.replay is not None or current_task() is None:
            for place in places.values():
                place()
        return places

    def _find(
        self, places: dict[Recording, Callable[[], EntryKey]], asked: Entry
    ) -> Entry | None:
        """Returns the recorded entry; raises ReplayMiss if there is none and none is recorded."""
        entry = None if self.replay is None else self.replay.find(places[self.replay]())
        if entry is None and self.replay is not None and self.record is None:
            raise self.replay.miss(asked)
        return entry

    def _put_in_turn(self, place: Callable[[], EntryKey], asked: Entry, reply: Entry) -> Wait:
        assert self.record is not None
        put = self.record.put
        return Wait(partial(in_turn, lambda: put(place(), asked, reply)))


def hook_for(prompt: PromptRun) -> RecordingHook | None:
    """Returns the hook that records or replays, or None if no environment variable asks for it."""
    replay, record = os.environ.get("SAFT_REPLAY"), os.environ.get("SAFT_RECORD")
    return RecordingHook(replay or None, record or None) if replay or record else None


def answers_in_order(prompt: PromptRun) -> bool:
    """True during a replay, since requests must then be sent in the order of the script.

    Otherwise, equal requests might get each other's replies.
    """
    return bool(os.environ.get("SAFT_REPLAY"))


# Hints for missing requests, by the path of the recording, from code that can record them.
_advice: dict[str, str] = {}
_open: OpenFiles[Recording] = OpenFiles()


def advise(path: str, hint: str) -> None:
    """Sets the hint for errors about requests that are missing in the recording at this path."""
    _advice[os.path.realpath(path)] = hint


def open_recording(path: str) -> Recording:
    """Returns the recording at this path. The whole process shares it until it is closed."""
    return _open.at(os.path.realpath(path), Recording)


def misses_of(path: str) -> list[ReplayMiss]:
    """Returns the errors for requests that were missing in the open recording at this path."""
    recording = _open.open.get(os.path.realpath(path))
    return [] if recording is None else recording.misses


def close(path: str) -> list[Entry]:
    """Finishes the recording at this path and returns the entries that were not used."""
    recording = _open.take(os.path.realpath(path))
    if recording is None:
        return []
    recording.close()
    return recording.unused()


@atexit.register
def _close_all() -> None:
    for path, recording in list(_open.open.items()):
        try:
            unused = close(path)
        except KeyboardInterrupt:
            return  # the file is complete, but not sorted
        except SaftError as error:
            note(str(error))
            continue
        if unused and recording.asked:
            note(describe_unused(unused, path, "record the file anew"))


def describe_unused(unused: list[Entry], path: str | Path, remedy: str) -> str:
    """Describes the first few of a recording's unused entries, and how to remove them."""
    found = counted(len(unused), "unused entry", "unused entries")
    names = ", ".join(f"{entry['key']} ({_excerpt(entry)})" for entry in unused[:_MOST_UNUSED])
    lines = "its line" if len(unused) == 1 else "their lines"
    return f"{found} in {path}: {names}; delete {lines}, or {remedy}"


def _read(path: str) -> tuple[dict[EntryKey, Entry], int | None]:
    """Returns a recording's entries, and the number of its last line if that line is incomplete.

    If the file does not exist, there are no entries.
    """
    entries: dict[EntryKey, Entry] = {}
    for number, line in enumerate(read_lines(path, "recording") if os.path.exists(path) else (), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):
                return entries, number
            raise ConfigError(f"{path}:{number}: not JSON: {error}") from None
        if not _is_entry(entry):
            raise ConfigError(f"{path}:{number}: this is not an entry of a recording")
        # The key is computed again, as someone may have edited the request.
        entry["key"] = key_of_data(entry["request"])
        entries[entry["key"], entry["repeat"]] = entry
    return entries, None


def _from_journal(path: str) -> dict[EntryKey, Entry]:
    """Returns the exchanges in a journal as entries of a recording.

    Equal requests are numbered in the order of the script: that of the file, which has calls that
    overlap in the order in which they were answered.
    """
    begun: dict[tuple[str, str], int] = {}
    numbered: list[tuple[int, tuple[int, ...], Entry]] = []
    for number, entry in enumerate(exchanges(path)):
        scope, _, place, *_ = entry["at"]
        if "tool" in entry:
            wanted: Entry = {"tool": entry["tool"], "args": json.loads(entry["sent"])}
            reply = json.loads(entry["result"])
            entry: Entry = {"hash": key_of_data(wanted), "request": wanted, "reply": reply}
        position = _KEYS.sub("", f"{scope}/{place}")
        overlapping = _OVERLAPPING.match(position)
        if overlapping is not None:
            number = begun.setdefault((entry["hash"], overlapping[0]), number)
        numbered.append((number, order_of(position), entry))
    asked: Counter[str] = Counter()
    found: dict[EntryKey, Entry] = {}
    for _, _, entry in sorted(numbered, key=lambda one: one[:2]):
        key = entry["hash"]
        found[key, asked[key]] = {"key": key, "repeat": asked[key], **entry}
        asked[key] += 1
    return found


def _is_entry(entry: Any) -> bool:
    return (
        is_object(entry)
        and isinstance(entry.get("key"), str)
        and isinstance(entry.get("repeat"), int)
        and is_object(entry.get("request"))
        and ("refused" in entry or is_object(entry.get("reply")))
    )


def _miss(recording: Recording, asked: Entry) -> ReplayMiss:
    """Returns the error for a missing request, with the difference to the most similar entry."""
    import difflib

    def pretty(data: Any) -> list[str]:
        text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)
        # Line breaks inside strings become real ones, so that long prompts are compared by line.
        lined = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[0], text)
        return lined.splitlines()

    hint = _advice.get(recording.path, "set SAFT_RECORD to the same file to record what is missing")
    known = [entry["request"] for _, entry in sorted(recording.entries.items())]
    if not known:
        is_empty = os.path.exists(recording.path)
        message = "the recording {} has no entries" if is_empty else "there is no recording {}"
        return ReplayMiss(message.format(recording.path), hint=hint)
    asked = without_secrets(asked)
    wanted = pretty(asked)
    likely = _likely(known, asked)
    ranked = [(difflib.SequenceMatcher(None, pretty(k), wanted).ratio(), k) for k in likely]
    nearest = max(ranked, key=lambda pair: pair[0])[1]
    difference = list(
        difflib.unified_diff(pretty(nearest), wanted, "recorded", "asked", lineterm="", n=1)
    )
    shown = "\n".join(difference[:MOST_DIFFERENCES]) or "the same request, recorded fewer times"
    return ReplayMiss(
        f"the recording {recording.path} has no such request; the nearest one differs so:\n{shown}",
        nearest=nearest,
        hint=hint,
    )


def _likely(known: list[Entry], wanted: Entry) -> list[Entry]:
    """Returns the few recorded requests that share the most words with the missing request."""

    def words(request: Entry) -> set[str]:
        return set(json.dumps(request, ensure_ascii=False)[:_SKIMMED].split())

    own = words(wanted)

    def likeness(request: Entry) -> float:
        theirs = words(request)
        return len(own & theirs) / len(own | theirs)

    return nlargest(MOST_COMPARED, known, key=likeness)


def _excerpt(entry: Entry) -> str:
    if "tool" in entry["request"]:
        return str(entry["request"]["tool"])
    messages: list[Any] = entry["request"].get("messages", [])
    first = next((m["content"] for m in messages if m.get("role") == "user"), "")
    return " ".join(text_of(first).split())[:50]


def without_secrets(entry: Entry) -> Entry:
    """Returns the entry with each secret replaced.

    In data that only the server understands, only known secrets are replaced; readable texts in
    such data are treated like any other text.
    """
    reply = entry.get("reply")
    return _without_secrets(entry, has_opaque=is_object(reply) and "origin" in reply)


def _without_secrets(data: Any, *, has_opaque: bool, is_opaque: bool = False) -> Any:
    if isinstance(data, str):
        if is_opaque:
            return without_known_secrets(data)
        return redacted(data) if secret_in(data) is not None else data
    if is_list(data):
        return [_without_secrets(one, has_opaque=has_opaque, is_opaque=is_opaque) for one in data]
    if not is_object(data):
        return data
    found: Entry = {}
    for name, one in data.items():
        is_readable = isinstance(one, str) and (name in _READABLE or name.startswith("reasoning"))
        is_of_server = (is_opaque or (has_opaque and name in OPAQUE)) and not is_readable
        found[name] = _without_secrets(one, has_opaque=has_opaque, is_opaque=is_of_server)
    return found
