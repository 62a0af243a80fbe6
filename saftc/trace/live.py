"""What happens in a run, as it happens: a line of JSON for each event, written at once.

    SAFT_LIVE=live.jsonl

    {"event": "request", "key": 3, "place": "triage.saft:12:5", "messages": [...], ...}
    {"event": "piece", "key": 3, "text": "It is w"}         of a reply that is streamed
    {"event": "reply", "key": 3, "text": ..., "tokens": [61, 17], "seconds": 0.64, "cost": 0.0001}
    {"event": "over", "key": 3, "error": null}
    {"event": "begun"}                                      what has no key is of the run itself

`saftc play` shows them. The log of the runtime (SAFT_LOG) has them in the order of the script
instead, as that has come to them. A request has the `messages` that are new in it, and `whole`: the
request as it can be sent again, where no secret and no file was in it. Secrets are redacted.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from typing import Any

from runtime_support import Usage
from runtime_support._budgets import cost_of
from runtime_support._core.messages import TOKEN_PARTS
from runtime_support._core.notes import note
from runtime_support._core.redaction import redacted
from runtime_support._core.settings import settings_for
from runtime_support._language.files import open_private
from runtime_support._media import describe_content
from runtime_support._observability.tracing import Event
from runtime_support._values.kinds import is_list, is_object

LIVE = "SAFT_LIVE"

# Of one text; of longer ones, as tools may give them, the beginning is shown.
MOST_SHOWN = 20_000

# A secret has no blank in it: it may go on with the next piece while its last word does.
_WORD_AT_END = re.compile(r"[!-~]+\Z")
_LONGEST_HELD = 10_000

_REQUEST = ("model", "messages", "tools", "tool_choice", "schema", "options")


class LiveFile:
    """Writes the events of this process to a file; for all threads."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._prices = settings_for().prices
        # By its key, the request of a prompt that has no reply yet.
        self._requests: dict[object, Event] = {}
        # By its key, the end of the text of a prompt, which may be the beginning of a secret.
        self._held: dict[object, str] = {}
        self._lock = threading.Lock()
        self._has_failed = False

    def see(self, event: Event) -> None:
        """Writes an event down; of the text of a reply, what no later piece can make a secret."""
        held = self._held.pop(event["key"], "")
        if event["event"] == "piece":
            text = held + event["text"]
            rest = _WORD_AT_END.search(text)
            start = len(text) if rest is None or len(rest[0]) > _LONGEST_HELD else rest.start()
            self._held[event["key"]] = text[start:]
            event = {**event, "text": text[:start]}
        elif held:
            self._write({**event, "event": "piece", "text": held})
        if event["event"] != "piece" or event["text"]:
            self._write(event)

    def _write(self, event: Event) -> None:
        text = json.dumps(shortened(self._told(event)), ensure_ascii=False, default=str)
        line = redacted(text)
        if event["event"] == "request":
            line = f'{line[:-1]}, "whole": {_whole(event)}}}'
        with self._lock:
            try:
                append_line(self.path, line)
            except OSError as error:
                if not self._has_failed:
                    note(f"cannot write {self.path}: {error.strerror or error}")
                self._has_failed = True

    def _told(self, event: Event) -> Event:
        names = ("event", "key", "within", "item", "place")
        told: Event = {name: event[name] for name in names if event.get(name) is not None}
        match event["event"]:
            case "request":
                self._requests[event["key"]] = event
                tools = [tool["function"]["name"] for tool in event.get("tools", ())]
                told |= {"model": event.get("model"), "options": event.get("options")}
                told |= {"tools": tools or None, "messages": new_messages(event)}
            case "piece":
                told["text"] = event["text"]
            case "over":
                self._requests.pop(event["key"], None)
                told["error"] = event["error"]
            case "tool":
                told |= {name: event[name] for name in ("tool", "args", "result", "error")}
            case _:
                usage = usage_in(event)
                cost, unpriced = cost_in(
                    self._prices, self._requests.get(event["key"], {}), event, usage
                )
                told |= {"model": event.get("model"), "finish": event.get("finish")}
                told |= {"text": event.get("text"), "calls": event.get("tool_calls") or None}
                told |= {"tokens": [usage.input_tokens, usage.output_tokens], "cost": cost}
                told |= {"most": unpriced > 0, "error": event.get("error")}
                told |= {"message": event.get("message")}
        if "duration" in event:
            told["seconds"] = round(event["duration"] / 1000, 4)
        return told


def append_line(path: str, line: str) -> None:
    """Writes a line of JSON at the end of the file, at once."""
    # Of half a surrogate pair, the escape is JSON as well.
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    with open(path, "ab", opener=open_private) as file:
        file.write(data)


_files: dict[str, LiveFile] = {}


def live_file() -> LiveFile | None:
    """The file that the environment asks for."""
    path = os.environ.get(LIVE)
    return None if not path else (_files.get(path) or _files.setdefault(path, LiveFile(path)))


def _whole(request: Event) -> str:
    """JSON of the request as it can be sent again; null where it cannot."""
    contents = [one.get("content") for one in request["messages"]]
    text = json.dumps(
        {name: request[name] for name in _REQUEST if name in request}, ensure_ascii=False
    )
    return text if not any(map(is_list, contents)) and redacted(text) == text else "null"


def usage_in(event: Event) -> Usage:
    """What the request has taken whose reply this is."""
    names = ("input_tokens", "output_tokens", *TOKEN_PARTS)
    return Usage(**{name: event.get(name, 0) for name in names})


def cost_in(
    prices: Mapping[str, Any], request: Event, event: Event, usage: Usage
) -> tuple[float | None, int]:
    """What that has cost at most, and of how many tokens the price is not known.

    The price is that of the name that was asked for, or that of who has answered.
    """
    models = (str(request.get("model")), str(event.get("model")))
    price = next((prices[name] for name in models if name in prices), None)
    return (None, 0) if price is None else cost_of(price, usage)


def new_messages(request: Event) -> list[list[str]]:
    """The messages that the request before it did not have: each one's role and its text."""
    new: list[dict[str, Any]] = request["messages"][request["new_from"] :]
    return [[one["role"], describe_content(one["content"])] for one in new if one.get("content")]


def shortened(value: Any) -> Any:
    """What is told, without secrets that a cut could leave a part of, and not too long."""
    if isinstance(value, str):
        if len(value) <= MOST_SHOWN:
            return value
        more = len(value) - MOST_SHOWN
        return f"{redacted(value)[:MOST_SHOWN]}... ({more:,} characters more)"
    if is_list(value):
        return [shortened(item) for item in value]
    if is_object(value):
        return {name: shortened(item) for name, item in value.items() if item is not None}
    return value
