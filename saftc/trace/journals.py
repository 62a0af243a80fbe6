"""Reads journals for `saftc trace` and `saftc journals`, also while the run still writes them.

as_lines(path)    the requests and replies, as the text of a trace
timeline(path)    the requests and replies, drawn over time
summary(path)     a Summary: the script, the progress and the usage
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from runtime_support._budgets import Spent
from runtime_support._core.redaction import escaped, redacted
from runtime_support._core.scopes import PromptKey, enclosing_scopes
from runtime_support._journal.journal import RowKind, entries, has_failed, is_in_use
from runtime_support._journal.json_lines import Entry, usage_of
from runtime_support._observability.tracing import Event, trace_text
from saftc.trace.timeline import Timeline


@dataclass(slots=True)
class Summary:
    """The state, progress and usage of a run with a journal.

    `state` is "running", "ok", "waiting", "failed", "interrupted" or "killed". `begun` is in
    seconds since 1970. `size` is the size of the journal in bytes.
    """

    script: str = ""
    begun: float = 0.0
    processes: int = 0
    state: str = "killed"
    size: int = 0
    prompts: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    spent: Spent = field(default_factory=Spent)
    tools: int = 0


def as_lines(path: str) -> Iterator[str]:
    """The requests and replies as the texts of a trace, in the order of the journal."""
    return (trace_text(event) for event in events(path) if event["event"] != "over")


def events(path: str) -> Iterator[Event]:
    """The entries of a journal as events for a trace or a timeline, in the order of the journal."""
    # Numbers of prompts by hash, and numbers of the prompts that made calls by the hash of the
    # call's scope: a journal may have too many for keeping the keys themselves in memory.
    numbers: dict[int, int] = {}
    makers: dict[int, int] = {}
    for entry in entries(path):
        if "at" not in entry:
            continue
        asked, (step, kind) = PromptKey(*entry["at"][:3]), entry["at"][3:]
        number = numbers.setdefault(hash(asked), len(numbers) + 1)
        if kind == RowKind.RETRY:
            over = {"event": "over", "prompt": number, "key": number, "error": entry["why"]}
            yield {**over, "began": 0.0, "time": 0.0}
            continue
        if kind == RowKind.APPROVAL:
            yield {"event": "decision", "prompt": number, "told": _decision(entry), "began": 0.0}
            continue
        if "tool" in entry:
            makers[hash(asked.inside(step))] = number
        if "ms" not in entry:
            continue
        inside = map(hash, enclosing_scopes(asked.scope))
        base: Event = {
            "prompt": number,
            "place": entry.get("place"),
            "function": entry.get("function", ""),
            "key": number,
            "within": next((makers[one] for one in inside if one in makers), None),
            "began": entry["time"],
            "waited": 0.0,
        }
        ended = {**base, "duration": entry["ms"]}
        if "tool" in entry:
            call = {"args": entry["sent"], **entry, "result": entry["result"] or ""}
            yield {**call, **ended, "event": "tool"}
            continue
        request: Entry = {"messages": [], "model": entry["used"][0], **entry["request"]}
        yield {**base, **request, "event": "request", "new_from": 0}
        if "reply" in entry:
            yield {**ended, **entry["reply"], "event": "reply"}
        else:
            error = {"error": "ToolsUnsupported", "message": entry.get("message", "")}
            yield {**ended, **error, "event": "failure"}


def _decision(entry: Entry) -> str:
    """The text for an entry about approval.

    The text has the decision about a call, or says that the call waits for approval.
    """
    call = escaped(redacted(entry["shown"]))
    by = f" by {escaped(entry['by'])}" if entry.get("by") else ""
    match entry.get("decided"):
        case None:
            return f"waits for approval: {call}"
        case _ if "begun" in entry:
            found = "has taken effect" if entry["result"] is not None else "has not taken effect"
            return f"{found}, as was found out{by}: {call}"
        case "no":
            reason = f" ({escaped(redacted(entry['reason']))})" if entry["reason"] else ""
            return f"refused{by}{reason}: {call}"
        case "changed":
            others = escaped(redacted(entry["arguments"]))
            return f"approved{by} with other arguments, {others}: {call}"
        case _:
            return f"approved{by}: {call}"


def timeline(path: str) -> Timeline:
    """The timeline of a run. Pauses between two processes that worked on the run are left out."""
    begun = [entry["time"] for entry in entries(path) if entry.get("process") == "begun"][1:]
    found = Timeline(os.path.basename(path))
    state = summary(path).state
    known = ("failed", "interrupted", "killed", "running", "waiting")
    found.how = state if state in known else "ok"
    shift, last, number = 0.0, None, 0
    for event in events(path):
        if event["event"] == "decision":
            continue
        while number < len(begun) and begun[number] <= event["began"]:
            if last is not None:
                shift += max(0.0, begun[number] - last)
                found.marks.append(begun[number] - shift)
            number += 1
        last = max(last or 0.0, event["began"] + event.get("duration", 0.0) / 1000)
        found.see({**event, "began": event["began"] - shift})
    return found


def summary(path: str) -> Summary:
    """The state, progress and usage of the run with the journal at `path`."""
    found = Summary(size=os.path.getsize(path) if os.path.isfile(path) else 0)
    open_questions: set[tuple[object, ...]] = set()
    for entry in entries(path):
        if "version" in entry:
            found.script, found.begun = entry["script"], found.begun or entry["time"]
            found.processes += 1
            found.state = "killed"
        elif "ended" in entry:
            found.state = entry["ended"]
        elif "used" in entry:
            _, *used = entry["used"]
            found.prompts.add(tuple(entry["at"][:3]))
            found.spent.add(Spent(**asdict(usage_of(*used))))
        if "asks" in entry:
            is_open = "decided" not in entry
            (open_questions.add if is_open else open_questions.discard)(tuple(entry["at"]))
        found.tools += "tool" in entry and "ms" in entry
    if found.state == "killed" and has_failed(path):
        found.state = "failed"
    if found.state == "killed" and open_questions:
        found.state = "waiting"
    if is_in_use(path):
        found.state = "running"
    return found
