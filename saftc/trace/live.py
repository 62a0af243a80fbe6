"""The live file: a log of a run's events, each written as a line of JSON when it happens.

    SAFT_LIVE=live.jsonl

    {"event": "request", "key": 3, "place": "triage.saft:12:5", "messages": [...], ...}
    {"event": "piece", "key": 3, "text": "It is w"}         of a streamed reply
    {"event": "reply", "key": 3, "text": ..., "tokens": [61, 17], "seconds": 0.64, "cost": 0.0001}
    {"event": "over", "key": 3, "error": null}
    {"event": "begun"}                                      without a key: about the run itself

`saftc play` shows these events. (The runtime's log, SAFT_LOG, has events in the order of the script
instead.) The event of a request has `messages`, without those of the prompt's previous request. Its
`whole` is all that is needed to send the request again, or null if the request contained a secret
or a file. Secrets are redacted.
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

# The most characters of a text in an event; longer texts, as results of tools, are truncated.
MOST_SHOWN = 20_000

# The last word of a piece: it may be the beginning of a secret that continues in the next piece.
# Secrets have no blanks.
_WORD_AT_END = re.compile(r"[!-~]+\Z")
_LONGEST_HELD = 10_000

_REQUEST = ("model", "messages", "tools", "tool_choice", "schema", "options")


class LiveFile:
    """Writes the events of this process to a file. Several threads may use it at the same time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._prices = settings_for().prices
        # The request of each prompt that waits for a reply, by key.
        self._requests: dict[object, Event] = {}
        # The end of each prompt's text that may be the beginning of a secret, by key.
        self._held: dict[object, str] = {}
        self._lock = threading.Lock()
        self._has_failed = False

    def see(self, event: Event) -> None:
        """Writes an event.

        The last word of a piece is withheld until it is complete, so that secrets are recognized.
        """
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
                told |= reply_data(self._prices, self._requests.get(event["key"], {}), event)
        if "duration" in event:
            told["seconds"] = round(event["duration"] / 1000, 4)
        return told


def append_line(path: str, line: str) -> None:
    """Appends a line of JSON to the file, without buffering."""
    # JSON may contain the backslash escape of a lone surrogate, which UTF-8 cannot encode.
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    with open(path, "ab", opener=open_private) as file:
        file.write(data)


_files: dict[str, LiveFile] = {}


def live_file() -> LiveFile | None:
    """The live file that SAFT_LIVE names; None if SAFT_LIVE is not set."""
    path = os.environ.get(LIVE)
    return None if not path else (_files.get(path) or _files.setdefault(path, LiveFile(path)))


def _whole(request: Event) -> str:
    """The JSON from which a request can be sent again; `null` if it has secrets or files."""
    contents = [one.get("content") for one in request["messages"]]
    text = json.dumps(
        {name: request[name] for name in _REQUEST if name in request}, ensure_ascii=False
    )
    return text if not any(map(is_list, contents)) and redacted(text) == text else "null"


def usage_in(event: Event) -> Usage:
    """The token counts in the event of a reply."""
    names = ("input_tokens", "output_tokens", *TOKEN_PARTS)
    return Usage(**{name: event.get(name, 0) for name in names})


def cost_in(
    prices: Mapping[str, Any], request: Event, event: Event, usage: Usage
) -> tuple[float | None, int]:
    """An upper bound for the cost of a reply, and the number of its tokens without a known price.

    The price is that of the requested model, or else of the model that the reply names. The cost is
    None if neither model has a price.
    """
    models = (str(request.get("model")), str(event.get("model")))
    price = next((prices[name] for name in models if name in prices), None)
    return (None, 0) if price is None else cost_of(price, usage)


def reply_data(prices: Mapping[str, Any], request: Event, event: Event) -> Event:
    """What the page of `saftc play` shows of a reply or of a failure."""
    usage = usage_in(event)
    cost, unpriced = cost_in(prices, request, event, usage)
    names = ("model", "finish", "text", "error", "message")
    return {
        **{name: event.get(name) for name in names},
        "calls": event.get("tool_calls", []),
        "tokens": [usage.input_tokens, usage.output_tokens],
        "cost": cost,
        "most": unpriced > 0,
    }


def new_messages(request: Event) -> list[list[str]]:
    """The role and text of each message that was not in the prompt's previous request."""
    new: list[dict[str, Any]] = request["messages"][request["new_from"] :]
    return [[one["role"], describe_content(one["content"])] for one in new if one.get("content")]


def shortened(value: Any) -> Any:
    """A copy of a value in which long texts are truncated, and members that are None are left out.

    Secrets in long texts are redacted first, as truncation might cut one in two.
    """
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
