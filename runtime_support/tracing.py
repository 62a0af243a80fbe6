"""Looking on while a prompt runs: what is sent, received and called.

    SAFT_TRACE=1          a readable trace on standard error, see `traces`
    SAFT_LOG=saft.jsonl   the same as JSON lines

Secrets are redacted. An observer sees data and changes nothing; `add_observer` adds one's own.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeAlias

from runtime_support.exchange import Reply, Request
from runtime_support.positions import calling_place
from runtime_support.redaction import redacted
from runtime_support.results import ToolCall

Event: TypeAlias = dict[str, Any]
Listener: TypeAlias = Callable[[Event], None]

_listeners: tuple[Listener, ...] = ()
_lock = threading.Lock()


class Observer:
    """Looks on at one call; this one looks away."""

    def sent(self, request: Request) -> None:
        """A request goes out."""

    def received(self, reply: Reply) -> None:
        """A reply came in."""

    def called(self, call: ToolCall) -> None:
        """A tool was run."""


class _Telling(Observer):
    """Tells listeners of every event, each with the number of its prompt and its place."""

    def __init__(self, listeners: tuple[Listener, ...], place: str | None) -> None:
        self.listeners = listeners
        self.number = next(_numbers)
        self.place = place
        self.messages_told = 0
        self.sent_at = 0.0

    def sent(self, request: Request) -> None:
        self.sent_at = time.perf_counter()
        told, count = self.messages_told, len(request.messages)
        new_from = told if told < count else 0  # fewer messages: the prompt began anew
        self._tell("request", **request.canonical(), new_from=new_from)
        self.messages_told = count

    def received(self, reply: Reply) -> None:
        took = round((time.perf_counter() - self.sent_at) * 1000, 1)
        self._tell("reply", **asdict(reply), duration=took)

    def called(self, call: ToolCall) -> None:
        self._tell("tool", **asdict(call))

    def _tell(self, event: str, **data: Any) -> None:
        told: Event = {"event": event, "prompt": self.number, "place": self.place, **data}
        for listener in self.listeners:
            listener(told)


_SILENT = Observer()
_numbers = itertools.count(1)


def observer_for() -> Observer:
    """The observer that the environment and `add_observer` ask for."""
    listeners = _listeners
    if os.environ.get("SAFT_TRACE", "") not in ("", "0"):
        listeners = (*listeners, _trace)
    path = os.environ.get("SAFT_LOG")
    if path:
        listeners = (*listeners, _log_to(path))
    return _Telling(listeners, calling_place()) if listeners else _SILENT


def add_observer(listener: Listener) -> Callable[[], None]:
    """Calls the listener with every event of every prompt; gives what takes it away again.

    Events are dicts with `event` ("request", "reply" or "tool"), `prompt` (a number), `place`
    (where it stands) and their data, as they are: who shows them redacts them.
    """
    global _listeners
    with _lock:
        _listeners = (*_listeners, listener)

    def remove() -> None:
        global _listeners
        with _lock:
            _listeners = tuple(other for other in _listeners if other is not listener)

    return remove


def _trace(event: Event) -> None:
    from runtime_support.traces import write_event

    with _lock:
        write_event(event, sys.stderr)


def _log_to(path: str) -> Listener:
    def log(event: Event) -> None:
        told = {"time": round(time.time(), 3), "process": os.getpid(), **event}
        line = redacted(json.dumps(told, ensure_ascii=False, default=str))
        with _lock, open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    return log
