"""Looking on while a prompt runs: what is sent, received and called.

    SAFT_TRACE=1          a readable trace on standard error
    SAFT_LOG=saft.jsonl   the same as JSON lines

Secrets are redacted. An observer sees data and changes nothing; `add_observer` adds one's own.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeAlias

from runtime_support.exchange import Reply, Request
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
    """Tells listeners of every event, each with the number of its prompt."""

    def __init__(self, listeners: tuple[Listener, ...]) -> None:
        self.listeners = listeners
        self.identity = f"{time.time_ns() & 0xFFFFFFFF:08x}"
        self.messages_told = 0
        self.sent_at = 0.0

    def sent(self, request: Request) -> None:
        self.sent_at = time.perf_counter()
        self._tell("request", **request.canonical(), new_from=self.messages_told)
        self.messages_told = len(request.messages)

    def received(self, reply: Reply) -> None:
        took = round((time.perf_counter() - self.sent_at) * 1000, 1)
        self._tell("reply", **asdict(reply), duration=took)

    def called(self, call: ToolCall) -> None:
        self._tell("tool", **asdict(call))

    def _tell(self, event: str, **data: Any) -> None:
        told: Event = {"event": event, "prompt": self.identity, **data}
        for listener in self.listeners:
            listener(told)


_SILENT = Observer()


def observer_for() -> Observer:
    """The observer that the environment and `add_observer` ask for."""
    listeners = _listeners
    if os.environ.get("SAFT_TRACE", "") not in ("", "0"):
        listeners = (*listeners, _trace)
    path = os.environ.get("SAFT_LOG")
    if path:
        listeners = (*listeners, _log_to(path))
    return _Telling(listeners) if listeners else _SILENT


def add_observer(listener: Listener) -> Callable[[], None]:
    """Calls the listener with every event of every prompt; gives what takes it away again.

    Events are dicts with `event` ("request", "reply" or "tool"), `prompt` and their data, as they
    are: who shows them redacts them.
    """
    global _listeners
    with _lock:
        _listeners = (*_listeners, listener)

    def remove() -> None:
        global _listeners
        with _lock:
            _listeners = tuple(other for other in _listeners if other is not listener)

    return remove


def trace_text(event: Event) -> str:
    """An event as lines for a terminal, secrets redacted."""
    return redacted("\n".join(_lines(event)))


def _trace(event: Event) -> None:
    text = trace_text(event)
    with _lock:
        print(text, file=sys.stderr)


def _log_to(path: str) -> Listener:
    def log(event: Event) -> None:
        line = redacted(json.dumps(event, ensure_ascii=False, default=str))
        with _lock, open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    return log


def _lines(event: Event) -> list[str]:
    head = f"[{event['prompt']}]"
    match event["event"]:
        case "request":
            new: list[Any] = event["messages"][event["new_from"] :]
            about = {name: event[name] for name in ("model", "options") if event.get(name)}
            tools = [tool["function"]["name"] for tool in event.get("tools", ())]
            known = {**about, **({"tools": tools} if tools else {})}
            return [f"{head} -> {json.dumps(known, ensure_ascii=False)}", *_messages(new)]
        case "reply":
            calls = [f"    call {c['name']} {c['arguments']}" for c in event["tool_calls"]]
            tokens = f"{event['input_tokens']}+{event['output_tokens']} tokens"
            outline = f"{event['model']} {event['finish']} {tokens} {event['duration']} ms"
            return [f"{head} <- {outline}", *_indented(event["text"]), *calls]
        case _:
            outcome = event["result"] if event["error"] is None else f"error: {event['error']}"
            called = f"{event['tool']} {json.dumps(event['args'], ensure_ascii=False, default=str)}"
            return [f"{head} tool {called} {event['duration']:.1f} ms", *_indented(outcome)]


def _messages(messages: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for message in messages:
        if message["role"] != "assistant":
            lines += [f"  {message['role']}:", *_indented(str(message["content"]))]
    return lines


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
