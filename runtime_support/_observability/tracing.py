"""Traces prompts while they run: requests, replies and tool calls.

    SAFT_VERBOSE=1        a readable trace on standard error
    SAFT_LOG=saft.jsonl   the same as JSON lines

    [1] triage.saft:12:5 -> gpt-4o-mini, {"temperature": 0.0}, tools: look_up
      user:
        Is it warmer in Oslo or in Cairo? Use look_up.
    [1] <- gpt-4o-mini-2024-07-18, tool_calls, 61+17 tokens, 640 ms
        call look_up {"city": "Oslo"}
    [1] tool look_up {"city": "Oslo"}, 0.1 ms
        3.5

The trace is coloured if the stream is a terminal and the package rich is installed. Secrets are
redacted. Observers, which `add_observer` adds, receive data and cannot change the run. A failing
observer or log is reported once and does not fail the prompt.
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
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from runtime_support._core.notes import note
from runtime_support._core.outputs.outputs import RETURN_PREFIX
from runtime_support._core.redaction import redacted
from runtime_support._core.tasks.turns import current_task, in_turn
from runtime_support._core.tasks.waits import StreamClosed
from runtime_support._language.files import check_can_write, open_private
from runtime_support._media import count_attachments, describe_content
from runtime_support.errors import printable
from runtime_support.events import (
    CallEnded,
    ChunkReceived,
    PromptEnded,
    ReplyReceived,
    RequestSent,
    listen,
    note_trouble,
)

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun

Event: TypeAlias = dict[str, Any]
Listener: TypeAlias = Callable[[Event], None]
LineKind: TypeAlias = Literal["sent", "received", "tool", "failed", "role", "text"]
StyledLine: TypeAlias = tuple[LineKind, str]

_STYLES: dict[LineKind, str] = {
    "sent": "bold cyan",
    "received": "bold green",
    "tool": "bold yellow",
    "failed": "bold red",
    "role": "dim",
    "text": "",
}

# The variables that turn on the timeline and its live view.
_DRAWN = ("SAFT_TIMELINE", "SAFT_CHROME", "SAFT_LIVE")

_observers: tuple[Listener, ...] = ()
_lock = threading.Lock()


class Tracer:
    """Passes the events of one prompt to listeners, with the prompt's number and place.

    `listeners` receive events in the order of the script, and `watchers` receive them at once.
    Watchers also receive a "piece" event for each piece of a streamed reply, and an "over" event
    when the prompt ends, with the error of a failed prompt.

    The events of watchers also have these keys:

    - `key` is the id of the prompt, and `within` the id of the enclosing prompt.
    - `item` is the path of the task that runs the prompt, if calls run ahead of their turn.
    - `function` is the Python function that contains the prompt.
    - `max_in_flight` is the setting of this name.
    - `began` is the start time, and `waited` is the time before a request was sent, in ms.
    """

    def __init__(
        self, listeners: dict[str, Listener], watchers: dict[str, Listener], prompt: PromptRun
    ) -> None:
        self.listeners = listeners
        self.watchers = watchers
        self.number = 0
        self.place, function = (None, "") if prompt.place is None else prompt.place.described()
        self.messages_told = 0
        caller, task = prompt.caller, current_task()
        within = None if caller is None or caller.prompt is None else caller.prompt.id
        item: tuple[int, ...] = () if task is None else task.path
        self._about: Event = {"key": prompt.id, "within": within, "item": item, "place": self.place}
        self._about["function"] = function
        self._about["max_in_flight"] = prompt.settings.max_in_flight
        # Calls of a program: reported in program order when all have ended.
        self._of_program: list[tuple[tuple[int, ...], Event, Event]] = []

    def receive(self, event: Any) -> None:
        """Passes an event of the prompt to listeners and watchers."""
        match event:
            case RequestSent(request=request):
                told, count = self.messages_told, len(request.messages)
                if not told or told >= count:  # a first request, also of a restarted conversation
                    told = request.begins if request.begins > 1 else 0  # the history was shown
                self.messages_told = count
                data = {**request.canonical(), "new_from": told}
                self._tell("request", event, data)
            case ReplyReceived(reply=None, error=error):
                kind, status = type(error).__name__, getattr(error, "status", None)
                data = {"error": kind, "message": str(error), "status": status}
                self._tell("failure", event, {**data, "duration": _milliseconds(event)})
            case ReplyReceived(reply=reply) if reply is not None:
                self._tell("reply", event, {**reply.readable(), "duration": _milliseconds(event)})
            case CallEnded(call=call, result=result) if result is not None:
                self._tell("tool", event, asdict(result), call.position)
            case ChunkReceived(text=text):
                self._watch("piece", event.began, time=event.began, text=text)
            case PromptEnded(error=error):
                self._tell_program()
                # Watchers only: listeners see the error, or the script's next event.
                self._watch("over", event.began, time=time.time(), error=_why(error))
            case _:
                pass

    def _tell(
        self, kind: str, event: Any, data: Event, position: tuple[int, ...] = ()
    ) -> None:
        head: Event = {"event": kind, "time": round(time.time(), 3)}
        waited = getattr(event, "waited", 0.0) * 1000
        self._watch(kind, event.began, time=head["time"], waited=waited, **data)
        if position:
            self._of_program.append((position, head, data))
            return
        self._tell_program()
        in_turn(partial(self._tell_in_turn, head, data))

    def _tell_program(self) -> None:
        """Reports the calls of a program to listeners, in the order of the program."""
        calls, self._of_program = self._of_program, []
        for _, head, data in sorted(calls, key=lambda one: one[0]):
            in_turn(partial(self._tell_in_turn, head, data))

    def _watch(self, kind: str, began: float, **data: Any) -> None:
        _tell_all(self.watchers, {"event": kind, **self._about, "began": began, **data})

    def _tell_in_turn(self, head: Event, data: Event) -> None:
        self.number = self.number or next(_numbers)
        _tell_all(self.listeners, {**head, "prompt": self.number, "place": self.place, **data})


def _tell_all(listeners: dict[str, Listener], event: Event) -> None:
    for name, listener in listeners.items():
        try:
            listener(event)
        except Exception as error:
            note_trouble(name, error)


def _why(error: BaseException | None) -> str | None:
    """Returns the reason why a prompt failed.

    Returns None if the prompt succeeded, or if its answer was no longer needed.
    """
    match error:
        case None | StreamClosed() | GeneratorExit():
            return None
        case KeyboardInterrupt():
            return "interrupted"
        case _:
            name = type(error).__name__
            return f"{name}: {error}" if str(error) else name


def _milliseconds(event: ReplyReceived) -> float:
    return round(event.seconds * 1000, 1)


_numbers = itertools.count(1)


def _tracer_for(prompt: PromptRun) -> Callable[[Any], None] | None:
    listeners, watchers = _current_listeners(), current_watchers()
    return Tracer(listeners, watchers, prompt).receive if listeners or watchers else None


listen(_tracer_for)


def _current_listeners() -> dict[str, Listener]:
    """Maps names to listeners: to the observers, and to the trace and the log if they are on."""
    listeners = {f"observer {n} ({_name(own)})": own for n, own in enumerate(_observers, 1)}
    if os.environ.get("SAFT_VERBOSE", "") not in ("", "0"):
        listeners["trace"] = _trace
    path = os.environ.get("SAFT_LOG")
    if path:
        listeners[f"log {path}"] = _log_to(path)
    return listeners


def current_watchers() -> dict[str, Listener]:
    """Maps a name to the timeline's listener if the environment asks for a timeline or live view.

    Otherwise the mapping is empty.
    """
    if not any(map(os.environ.get, _DRAWN)):
        return {}
    watch = _drawing()
    watcher = None if watch is None else watch()
    return {} if watcher is None else {"timeline": watcher}


@cache
def _drawing() -> Callable[[], Listener | None] | None:
    """Returns saftc's function that makes the timeline's listener, or None if saftc is missing.

    An entry point of saftc names this function.
    """
    for point in entry_points(group="saft.timeline"):
        return point.load()
    note(
        "no timeline: saftc, which draws it, is not installed in this environment; "
        "SAFT_LOG=FILE writes the same events without it"
    )
    return None


def add_observer(listener: Listener) -> Callable[[], None]:
    """Calls `listener(event)` for every event of every prompt from now on.

    Returns a function that removes the listener. An event is a dict with `event` ("request",
    "reply", "tool" or "failure"), `time` in seconds, `prompt` (a number), `place` in the script,
    and the event's data. Events come in the order of the script. They are not redacted: remove
    secrets before you show or store them.
    """
    global _observers
    with _lock:
        _observers = (*_observers, listener)

    def remove() -> None:
        global _observers
        with _lock:
            _observers = tuple(other for other in _observers if other is not listener)

    return remove


def _name(listener: Listener) -> str:
    return getattr(listener, "__qualname__", type(listener).__qualname__)


def _trace(event: Event) -> None:
    with _lock:
        write_event(event, sys.stderr)


def _log_to(path: str) -> Listener:
    check_can_write(path, "the log")

    def log(event: Event) -> None:
        told = {"time": event["time"], "process": os.getpid(), **event}
        line = redacted(json.dumps(told, ensure_ascii=False, default=str))
        # The escape of half a surrogate pair is valid JSON.
        with _lock, open(path, "ab", opener=open_private) as file:
            file.write(line.encode("utf-8", "backslashreplace") + b"\n")

    return log


def write_event(event: Event, stream: TextIO) -> None:
    """Writes an event to a stream, in colours if the stream is a terminal and rich is installed."""
    if not stream.isatty() or find_spec("rich") is None:
        print(trace_text(event), file=stream)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for part, text in _lines(event):
        console.print(Text(text, style=_STYLES[part]))


def trace_text(event: Event) -> str:
    """Returns an event as lines of plain text, with secrets redacted."""
    return "\n".join(text for _, text in _lines(event))


def _lines(event: Event) -> list[StyledLine]:
    match event["event"]:
        case "request":
            return _request_lines(event)
        case "reply":
            return _reply_lines(event)
        case "failure":
            said = f"{event['error']}: {event['message']}"
            head = f"[{event['prompt']}] failed, {_duration(event)}"
            return [_line("failed", head), *_indented(said)]
        case "decision":
            return [_line("tool", f"[{event['prompt']}] {event['told']}")]
        case _:
            return _tool_lines(event)


def _request_lines(event: Event) -> list[StyledLine]:
    about: list[str] = [str(event["model"])] if event.get("model") else []
    if event.get("options"):
        about.append(_json(event["options"]))
    if event.get("tools"):
        about.append("tools: " + " ".join(tool["function"]["name"] for tool in event["tools"]))
    if event.get("schema"):
        about.append("with schema")
    if attachments := count_attachments(event["messages"]):
        about.append(attachments)
    place = f" {event['place']}" if event["place"] else ""
    new: list[dict[str, Any]] = event["messages"][event["new_from"] :]
    lines = [_line("sent", f"[{event['prompt']}]{place} -> {', '.join(about)}".rstrip())]
    for message in _unseen(new):
        text = describe_content(message["content"])
        lines += [_line("role", f"  {message['role']}:"), *_indented(text)]
    return lines


def _reply_lines(event: Event) -> list[StyledLine]:
    cached = f", {event['cached_tokens']} cached" if event.get("cached_tokens") else ""
    tokens = f"{event['input_tokens']}+{event['output_tokens']} tokens{cached}"
    about = [event["model"], event["finish"], tokens, _duration(event)]
    head = _line("received", f"[{event['prompt']}] <- {', '.join(filter(None, about))}")
    calls = [_line("tool", f"    call {c['name']} {c['arguments']}") for c in event["tool_calls"]]
    return [head, *_indented(event["text"]), *calls]


def _tool_lines(event: Event) -> list[StyledLine]:
    failed = event["error"] is not None
    called = f"[{event['prompt']}] tool {event['tool']} {_json(event['args'])}, {_duration(event)}"
    outcome = f"error: {event['error']}" if failed else event["result"]
    return [_line("failed" if failed else "tool", called), *_indented(outcome)]


def _unseen(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the messages that the trace has not shown yet: those of the system and the user.

    Also returns the results of calls that return the answer. Replies and the results of other calls
    were shown when they arrived.
    """
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    names = {call["id"]: call["function"]["name"] for call in calls}
    return [
        message
        for message in messages
        if message["role"] in ("system", "user")
        or names.get(message.get("tool_call_id"), "").startswith(RETURN_PREFIX)
    ]


def _duration(event: Event) -> str:
    milliseconds: float = event["duration"]
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def _indented(text: str) -> list[StyledLine]:
    return [("text", f"    {printable(line)}") for line in redacted(text).splitlines()]


def _line(part: LineKind, text: str) -> StyledLine:
    return part, printable(redacted(text))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
