"""Recording and replaying exchanges.

    SAFT_RECORD=file                     every exchange is made and written to the file
    SAFT_REPLAY=file                     every answer comes from the file; a miss is an error
    SAFT_REPLAY=file SAFT_RECORD=file    what is missing is made and written

A recording has one JSON line for each exchange, sorted by key so that it diffs well: the key of
the canonical request, the number of the repeat, the request and the reply. There are no headers in
it, and nothing like a key: an exchange that holds one is refused.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeAlias

from runtime_support.errors import ConfigError, ReplayMiss, ToolsUnsupported
from runtime_support.exchange import Provider, Reply, Request, ToolRequest
from runtime_support.media import text_of
from runtime_support.redaction import holds_secret
from runtime_support.values import is_object

KEY_LENGTH = 16
MOST_DIFFERENCES = 30

Entry: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, int]


class Recording:
    """The entries of one file, shared by the threads of the process."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: dict[Place, Entry] = _read(path)
        self.used: set[Place] = set()
        self.asked: Counter[str] = Counter()
        self.has_changed = False
        self._lock = threading.Lock()

    def place(self, request: Request) -> Place:
        """The place of this request: its key, and how often it came before."""
        key = key_of(request)
        with self._lock:
            repeat = self.asked[key]
            self.asked[key] += 1
        return key, repeat

    def find(self, place: Place) -> Entry | None:
        """The entry at a place, which then counts as used."""
        with self._lock:
            entry = self.entries.get(place)
            if entry is not None:
                self.used.add(place)
            return entry

    def put(self, place: Place, request: Request, reply: Entry) -> None:
        """Writes an exchange; ConfigError when there is a secret in it."""
        entry = {"key": place[0], "repeat": place[1], "request": request.canonical(), **reply}
        line = _line(entry)
        if holds_secret(line):
            raise ConfigError(
                f"not recorded in {self.path}: the exchange holds something like a key",
                hint="take the secret out of the prompt",
            )
        with self._lock:
            self.entries[place] = entry
            self.used.add(place)
            self.has_changed = True
            _make_folder(self.path)
            # At once, so that a crash loses nothing; `close` sorts.
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")

    def unused(self) -> list[Entry]:
        """The entries that were not asked for."""
        return [entry for place, entry in sorted(self.entries.items()) if place not in self.used]

    def close(self) -> None:
        """Sorts the file, when something was written to it."""
        with self._lock:
            if self.has_changed:
                # Read again: other processes may have written to it, and later lines replace.
                lines = [_line(entry) + "\n" for _, entry in sorted(_read(self.path).items())]
                temporary = f"{self.path}.{os.getpid()}.tmp"
                with open(temporary, "w", encoding="utf-8") as file:
                    file.writelines(lines)
                os.replace(temporary, self.path)
                self.has_changed = False


class Replaying:
    """A provider that answers from a recording, or records what another one answers."""

    def __init__(
        self, replay: str | None, record: str | None, live: Callable[[], Provider]
    ) -> None:
        self.replay = None if replay is None else opened(replay)
        self.record = None if record is None else opened(record)
        self.live = live

    def complete(self, request: Request) -> Reply:
        """The recorded reply, or the live one; ReplayMiss when neither may be."""
        recordings = {id(r): r for r in (self.replay, self.record) if r is not None}
        places = {identity: r.place(request) for identity, r in recordings.items()}
        if self.replay is not None:
            entry = self.replay.find(places[id(self.replay)])
            if entry is not None:
                return _reply_of(entry)
            if self.record is None:
                raise _miss(self.replay, request)
        try:
            reply = self.live().complete(request)
        except ToolsUnsupported as refusal:
            self._put(places, request, {"refused": "tools", "message": refusal.message})
            raise
        self._put(places, request, {"reply": asdict(reply)})
        return reply

    def _put(self, places: dict[int, Place], request: Request, reply: Entry) -> None:
        if self.record is not None:
            self.record.put(places[id(self.record)], request, reply)


def key_of(request: Request) -> str:
    """The key of a request: the same for the same canonical data."""
    text = json.dumps(request.canonical(), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


_open: dict[str, Recording] = {}
_open_lock = threading.Lock()


def opened(path: str) -> Recording:
    """The recording at this path, shared by the process until it is closed."""
    path = os.path.abspath(path)
    with _open_lock:
        if path not in _open:
            if not _open:
                atexit.register(_close_all)
            _open[path] = Recording(path)
        return _open[path]


def close(path: str) -> list[Entry]:
    """Finishes the recording at this path, and gives the entries that were not used."""
    with _open_lock:
        recording = _open.pop(os.path.abspath(path), None)
    if recording is None:
        return []
    recording.close()
    return recording.unused()


def _close_all() -> None:
    for path in list(_open):
        unused = close(path)
        if unused:
            names = ", ".join(f"{entry['key']} ({_excerpt(entry)})" for entry in unused[:5])
            print(f"saft: {counted(unused)} in {path}: {names}", file=sys.stderr)


def counted(unused: list[Entry]) -> str:
    """`1 unused entry`, `2 unused entries`."""
    return f"{len(unused)} unused {'entry' if len(unused) == 1 else 'entries'}"


def _read(path: str) -> dict[Place, Entry]:
    if not os.path.exists(path):
        return {}
    entries: dict[Place, Entry] = {}
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                entry = json.loads(line)
                if not is_object(entry) or not {"key", "repeat", "request"} <= set(entry):
                    raise ConfigError(f"{path}:{number} is no entry of a recording")
                entries[entry["key"], entry["repeat"]] = entry
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read the recording {path}: {error}") from None
    return entries


def _line(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False)


def _reply_of(entry: Entry) -> Reply:
    if "refused" in entry:
        raise ToolsUnsupported(str(entry.get("message", "the provider takes no tools")))
    reply = dict(entry["reply"])
    calls = tuple(ToolRequest(**call) for call in reply.pop("tool_calls", ()))
    return Reply(**reply, tool_calls=calls)


def _miss(recording: Recording, request: Request) -> ReplayMiss:
    """The error, with the difference to the nearest entry."""
    import difflib

    def pretty(data: Any) -> list[str]:
        return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True).splitlines()

    wanted = pretty(request.canonical())
    known = [entry["request"] for _, entry in sorted(recording.entries.items())]
    if not known:
        return ReplayMiss(
            f"the recording {recording.path} has no entries",
            hint="set SAFT_RECORD to the same file to record what is missing",
        )
    ranked = [(difflib.SequenceMatcher(None, pretty(k), wanted).ratio(), k) for k in known]
    nearest = max(ranked, key=lambda pair: pair[0])[1]
    difference = list(
        difflib.unified_diff(pretty(nearest), wanted, "recorded", "asked", lineterm="", n=1)
    )
    shown = "\n".join(difference[:MOST_DIFFERENCES]) or "the same request, but more often than then"
    return ReplayMiss(
        f"the recording {recording.path} has no such request; the nearest one differs so:\n{shown}",
        nearest=nearest,
        hint="set SAFT_RECORD to the same file to record what is missing",
    )


def _excerpt(entry: Entry) -> str:
    messages: list[Any] = entry["request"].get("messages", [])
    first = next((m["content"] for m in messages if m.get("role") == "user"), "")
    return " ".join(text_of(first).split())[:50]


def _make_folder(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
