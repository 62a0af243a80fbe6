"""A run drawn over time: a self-contained page, or a trace for Chrome and Perfetto.

    SAFT_TIMELINE=run.html        the page, written while the process runs and when it ends
    SAFT_CHROME=trace.json        the trace, written when the process ends
    SAFT_LIVE=live.jsonl          the events as they happen (`saftc.trace.live`)

    timeline = Timeline("triage")
    timeline.see(event)           for each event of a prompt; events of several prompts may mix
    timeline.page()               one file of HTML that loads no other files

All prompts of one place in the script share a row, and prompts at the same time have separate lanes
in the row. The steps of a prompt are bars: requests, requests that ask again (repairs), calls of
tools, programs. The last step of a failed prompt is marked. Secrets are redacted.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from runtime_support._core.notes import note
from runtime_support._core.redaction import redacted
from runtime_support._core.settings import settings_for
from runtime_support._journal.journal import current_script
from runtime_support._language.files import PRIVATE, check_can_write, replace_file
from runtime_support._observability.tracing import Event
from runtime_support._values.kinds import counted
from saftc.trace.live import LIVE, cost_in, live_file, new_messages, shortened, usage_in
from saftc.trace.places import function_at, line_at
from saftc.trace.steps import (
    Prompt,
    Step,
    StepKind,
    allowed_in_flight,
    explain_time,
    mark_critical,
    put_in_lanes,
    requests_in_flight,
    sums_of,
)

How: TypeAlias = Literal["ok", "failed", "interrupted", "killed", "running", "waiting"]

# The most steps that are drawn, so that browsers stay fast; further steps are only counted.
MOST_STEPS = 25_000
MOST_TOLD = 25_000_000
_MICROSECOND = 0.000_001
# The most characters in the name of a trace's slice.
_MOST_WORDS = 60


class Timeline:
    """The prompts of a run. Several threads may use the timeline at the same time."""

    def __init__(self, title: str) -> None:
        self.title = title
        # The times at which a further process resumed the run.
        self.marks: list[float] = []
        # How the run ended, and its error.
        self.how: How = "ok"
        self.error = ""
        # By place: how its prompts overlap with others, or why they do not.
        self.overlaps: Mapping[str, str] = {}
        self._prompts: dict[object, Prompt] = {}
        # By place: the Python function that contains its prompts.
        self._functions: dict[str, str] = {}
        self._prices = settings_for().prices
        self._lock = threading.Lock()
        self._steps = self._told = 0
        # The number of requests and calls of tools that are not drawn.
        self.left_out = 0
        # How often the timeline has changed.
        self.changes = 0

    @property
    def is_full(self) -> bool:
        """Whether the timeline has as many steps, or as much text, as it may have.

        Further steps are not drawn.
        """
        return self._steps >= MOST_STEPS or self._told >= MOST_TOLD

    def see(self, event: Event) -> None:
        """Records an event that the runtime passes to the functions given to `add_observer`.

        Besides its own data, an event must have `key`, `within`, `began` and `waited`. It may also
        have `item` and `max_in_flight`.
        """
        with self._lock:
            prompt = self._prompts.get(event["key"])
            if event["event"] == "piece":
                if prompt is not None and prompt.request is not None and prompt.heard is None:
                    prompt.heard = max(0.0, event["time"] - prompt.request["began"])
                return
            self.changes += 1
            if self.is_full and event["event"] != "over":
                if prompt is not None:
                    prompt.request = None
                self.left_out += event["event"] != "request"
                return
            if prompt is None:
                if event["event"] == "over":
                    return  # nothing was sent
                place = redacted(str(event["place"] or "(no place)"))
                within = self._prompts.get(event["within"])
                item, most = tuple(event.get("item", ())), event.get("max_in_flight", 0)
                prompt = Prompt(event["key"], place, event["began"], within, item, most)
                self._prompts[prompt.key] = prompt
                self._functions.setdefault(place, event.get("function", ""))
            if event["event"] == "request":
                prompt.request, prompt.heard, prompt.error = event, None, None
            elif event["event"] == "over":
                self._end(prompt, event["time"], event["error"])
            elif event["event"] == "tool":
                told = {name: event[name] for name in ("tool", "args", "result", "error")}
                is_failed = event["error"] is not None
                self._add(prompt, _step("tool", event, told, is_failed))
            elif prompt.request is not None:
                self._add(prompt, self._answered(prompt, prompt.request, event))
                prompt.request = None

    def _end(self, prompt: Prompt, now: float, error: str | None) -> None:
        """Records the end of a prompt. A request without an answer becomes a failed step."""
        prompt.error = None if error is None else redacted(error)
        request = prompt.request
        if request is not None:
            duration = max(0.0, now - request["began"]) * 1000
            name, _, message = (error or "cancelled: its answer is not needed").partition(": ")
            ended = {"event": "failure", "began": request["began"], "duration": duration}
            left = {**ended, "waited": 0.0, "error": name, "message": message}
            self._add(prompt, self._answered(prompt, request, left))
            prompt.request = None

    def _until_now(self, prompt: Prompt) -> Prompt:
        """A copy of a prompt in which a running request is a step that lasts until now."""
        request = prompt.request
        if request is None:
            return prompt
        asks_again = prompt.asks_again
        seconds = max(0.0, time.time() - request["began"])
        under_way = {"event": "reply", "began": request["began"], "duration": seconds * 1000}
        step = self._answered(prompt, request, {**under_way, "waited": 0.0, "text": "(not yet)"})
        prompt.asks_again = asks_again
        return replace(prompt, steps=[*prompt.steps, step])

    def _add(self, prompt: Prompt, step: Step) -> None:
        prompt.steps.append(step)
        self._steps += 1
        self._told += step.size

    def _answered(self, prompt: Prompt, request: Event, event: Event) -> Step:
        kind: StepKind = "repair" if prompt.asks_again else "request"
        prompt.asks_again = not event.get("tool_calls")
        told: dict[str, Any] = {
            "model": event.get("model") or request.get("model"),
            "options": request.get("options") or None,
            "tools": [tool["function"]["name"] for tool in request.get("tools", ())] or None,
            "messages": new_messages(request),
            "reply": event.get("text"),
            "calls": [[call["name"], call["arguments"]] for call in event.get("tool_calls", ())],
            "finish": event.get("finish"),
            "error": _said(event["error"], event["message"]) if "error" in event else None,
        }
        step = _step(kind, event, told, "error" in event)
        step.heard = prompt.heard
        usage = usage_in(event)
        step.tokens, step.cached = (usage.input_tokens, usage.output_tokens), usage.cached_tokens
        step.cost, step.unpriced = cost_in(self._prices, request, event, usage)
        return step

    def page(self) -> bytes:
        """One self-contained file of HTML that shows the run."""
        prompts = self._drawn()
        begun = min((prompt.start for prompt in prompts), default=time.time())
        places = list(dict.fromkeys(prompt.place for prompt in prompts))
        numbers = {prompt.key: number for number, prompt in enumerate(prompts)}
        run = {
            "title": redacted(self.title),
            "begun": begun,
            "marks": [round(mark - begun, 4) for mark in self.marks],
            "how": self.how,
            "error": redacted(self.error),
            "sums": sums_of(prompts),
            "why": redacted(explain_time(prompts, self.overlaps)),
            "most": allowed_in_flight(prompts),
            "left": self.left_out,
            "places": [self._about(place) for place in places],
        }
        # One prompt after the other, so that other threads of the run can go on in between.
        told = ",\n".join(
            _json(
                {
                    "place": places.index(prompt.place),
                    "lane": prompt.lane,
                    "within": None if prompt.within is None else numbers.get(prompt.within.key),
                    "item": prompt.item,
                    "error": prompt.error,
                    "steps": [_data(step, begun) for step in prompt.steps],
                }
            )
            for prompt in prompts
        )
        template = files("saftc.trace").joinpath("timeline.html").read_text(encoding="utf-8")
        # The escape of half a surrogate pair is valid JSON; no text can end the script element.
        data = f'{_json(run)[:-1]}, "prompts": [{told}]}}'.replace("<", "\\u003c")
        return template.replace('"THE RUN"', data, 1).encode("utf-8", "backslashreplace")

    def _about(self, place: str) -> dict[str, str]:
        """Data about a place: the line of the script, the function, and how its prompts overlap.

        The line is empty if it is unknown. Other unknown parts are left out.
        """
        known = self.overlaps.get(place)
        overlap = {} if known is None else {"overlap": redacted(known)}
        function = function_at(place, self._functions[place])
        within = {"function": function} if function else {}
        return {"place": place, "line": redacted(line_at(place)), **within, **overlap}

    def chrome(self) -> bytes:
        """The run in the trace event format of chrome://tracing and Perfetto.

        In that format, each place is a process, and each prompt is a slice named by its function
        and first words. A counter shows the requests in flight. Arrows connect the prompts of the
        same loop item, and a prompt with the prompts that its tools send.
        """
        prompts = self._drawn()
        begun = min((prompt.start for prompt in prompts), default=0.0)
        events: list[dict[str, Any]] = []
        rows: dict[str, int] = {}
        functions: dict[str, str] = {}
        before: dict[tuple[int, ...], Prompt] = {}
        for number, prompt in enumerate(prompts):
            if prompt.place not in rows:
                row = rows[prompt.place] = len(rows) + 1
                function = functions[prompt.place] = function_at(
                    prompt.place, self._functions[prompt.place]
                )
                named = {"name": f"{function} {prompt.place}".strip()}
                about = {"ph": "M", "name": "process_name", "pid": row, "tid": 0, "args": named}
                events.append(about)
            here = _lane_of(prompt, rows)
            whole = {"ts": _micro(prompt.start - begun), "dur": _micro(prompt.end - prompt.start)}
            failed = {} if prompt.error is None else {"args": {"error": prompt.error}}
            parts = functions[prompt.place], _first_words(prompt)
            name = ": ".join(filter(None, parts)) or "prompt"
            about = {"name": name, "cat": "prompt", **failed}
            events.append({"ph": "X", **here, **whole, **about})
            for step in prompt.steps:
                length = {"ts": _micro(step.start - begun), "dur": _micro(step.seconds)}
                name = step.told["tool"] if step.kind == "tool" else step.kind
                about = {"name": name, "cat": step.kind, "args": step.told}
                events.append({"ph": "X", **here, **length, **about})
            led = prompt.within, before.get(prompt.item) if prompt.item else None
            for side, other in enumerate(one for one in led if one is not None):
                # The format requires that an arrow begins inside of the slice that it leaves.
                left = min(other.end, prompt.start) - _MICROSECOND
                common = {"name": "leads to", "cat": "flow", "id": 2 * number + side}
                start = _micro(max(other.start, left) - begun)
                events.append({"ph": "s", **_lane_of(other, rows), "ts": start, **common})
                events.append({"ph": "f", "bp": "e", **here, "ts": whole["ts"], **common})
            before[prompt.item] = prompt
        for moment, count in requests_in_flight(prompts):
            counter = {"ph": "C", "pid": 0, "ts": _micro(moment - begun), "name": "in flight"}
            events.append({**counter, "args": {"requests": count}})
        run = _json({"how": self.how, "error": redacted(self.error)})
        head = f'{{"displayTimeUnit": "ms", "otherData": {run}, "traceEvents": [\n'
        text = head + ",\n".join(map(_json, events)) + "\n]}\n"
        return text.encode("utf-8", "backslashreplace")

    def _drawn(self) -> list[Prompt]:
        """The prompts to draw, in order of time.

        Sets their lanes, and marks their critical steps.
        """
        with self._lock:
            if self.how == "running":
                prompts = [self._until_now(prompt) for prompt in self._prompts.values()]
            else:
                for prompt in self._prompts.values():
                    if prompt.request is not None:
                        self._end(prompt, time.time(), "no answer: the run ended before it")
                prompts = [*self._prompts.values()]
            prompts = [prompt for prompt in prompts if prompt.steps]
            for prompt in prompts:
                # If a prompt failed, its last step is the one that failed.
                prompt.steps[-1].is_failed |= prompt.error is not None
        prompts.sort(key=lambda prompt: prompt.start)
        put_in_lanes(prompts)
        mark_critical(prompts)
        return prompts


def _lane_of(prompt: Prompt, rows: Mapping[str, int]) -> dict[str, int]:
    return {"pid": rows[prompt.place], "tid": prompt.lane}


def _first_words(prompt: Prompt) -> str:
    """The first words of the first user message in a prompt."""
    told = prompt.steps[0].told
    asked = [text for role, text in told.get("messages") or () if role == "user"]
    words = " ".join(asked[0].split()) if asked else ""
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS].rstrip()}..."


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _data(step: Step, begun: float) -> dict[str, Any]:
    heard = {} if step.heard is None else {"heard": round(step.heard, 4)}
    return {
        "kind": step.kind,
        "start": round(step.start - begun, 4),
        "seconds": round(step.seconds, 4),
        "waited": round(step.waited, 4),
        "failed": step.is_failed,
        "critical": step.is_critical,
        "tokens": step.tokens,
        "cached": step.cached,
        "cost": step.cost,
        "most": step.unpriced > 0,
        **heard,
        "told": step.told,
    }


def _micro(seconds: float) -> float:
    return round(seconds * 1_000_000, 1)


def _step(kind: StepKind, event: Event, told: dict[str, Any], is_failed: bool) -> Step:
    # As JSON, a value of any kind is a text, in which its secrets are found.
    text = redacted(_json(shortened(told)))
    seconds = event["duration"] / 1000
    waited = min(seconds, event["waited"] / 1000)
    return Step(kind, event["began"], seconds, waited, json.loads(text), len(text), is_failed)


def _said(name: str, message: str) -> str:
    return f"{name}: {message}" if message else name


# The timeline of the process


FORMS: dict[str, Callable[[Timeline], bytes]] = {
    "SAFT_TIMELINE": Timeline.page,
    "SAFT_CHROME": Timeline.chrome,
}


class _OfProcess:
    """The timeline of this process, with the files to write it to."""

    def __init__(self) -> None:
        self.timeline: Timeline | None = None
        self.paths: dict[str, Callable[[Timeline], bytes]] = {}
        self.has_ended = threading.Event()


# The seconds between two writes of the page; a page that takes long is written less often.
_PAUSE = 1.0
_SHARE = 20

_here = _OfProcess()
_lock = threading.Lock()
# Held while the files are written.
_writing = threading.Lock()


def watch() -> Callable[[Event], None] | None:
    """The function that records the events of this process.

    The result is None if nothing is recorded, or if the parent process draws the run. The runtime
    calls `watch` before each prompt if SAFT_TIMELINE, SAFT_CHROME or SAFT_LIVE is set.
    """
    if _is_child():
        return None
    seeing = [one.see for one in (begin_timeline(), live_file()) if one is not None]
    if len(seeing) < 2:
        return seeing[0] if seeing else None

    def see(event: Event) -> None:
        for one in seeing:
            one(event)

    return see


def begin_timeline() -> Timeline | None:
    """The timeline of this process, which the first call creates.

    The result is None if no environment variable asks for a timeline.

    Raises:
        ConfigError: A file for the timeline cannot be written.
    """
    wanted = {os.environ[name]: form for name, form in FORMS.items() if os.environ.get(name)}
    if not wanted:
        return None
    with _lock:
        if _here.timeline is None:
            for path in wanted:
                check_can_write(path, "the timeline")
            made = _here.timeline = Timeline(current_script())
            made.how = "running"
            _here.paths = wanted
            _here.has_ended = threading.Event()
            for path, form in wanted.items():
                if form is Timeline.page:
                    arguments = made, path, _here.has_ended
                    threading.Thread(target=_grow, args=arguments, daemon=True).start()
        return _here.timeline


def _grow(timeline: Timeline, path: str, has_ended: threading.Event) -> None:
    """Rewrites the page after changes, until the process `has_ended`."""
    written, pause = 0, _PAUSE
    while not has_ended.wait(pause):
        if timeline.changes == written:
            continue
        began, written = time.monotonic(), timeline.changes
        with _writing:
            if has_ended.is_set():
                return
            try:
                replace_file(os.path.realpath(path), timeline.page(), permissions=PRIVATE)
            except (OSError, ValueError):
                return  # the write at the end of the process reports the problem
        pause = max(_PAUSE, _SHARE * (time.monotonic() - began))


def write_timeline(
    how: How = "ok",
    error: str = "",
    overlaps: Callable[[], Mapping[str, str]] | None = None,
) -> None:
    """Writes the timeline with the outcome of the run, and reports files that cannot be written.

    `overlaps` returns a text for each place, which says how its prompts overlap or why they do not.
    """
    with _lock:
        timeline, paths = _here.timeline, _here.paths
        _here.timeline = None
        _here.has_ended.set()
    if timeline is not None:
        with _writing:
            timeline.how, timeline.error = how, error
            timeline.overlaps = {} if overlaps is None else overlaps()
            for path, form in paths.items():
                write_form(timeline, form, path)


def write_form(timeline: Timeline, form: Callable[[Timeline], bytes], path: str) -> bool:
    """Writes the timeline to `path` atomically, as a page or a trace.

    Returns whether the file was written.
    """
    try:
        replace_file(os.path.realpath(path), form(timeline), permissions=PRIVATE)
        if timeline.left_out:
            left = counted(timeline.left_out, "later step is", "later steps are")
            note(f"{path} shows the beginning of the run; {left} left out")
    except (OSError, ValueError) as error:
        note(f"cannot write the timeline {path}: {getattr(error, 'strerror', None) or error}")
        return False
    return True


def _is_child() -> bool:
    """Whether multiprocessing started this process, so that the parent process draws the run."""
    process: Any = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _forget() -> None:
    """Drops the parent process's timeline and files after a fork."""
    global _lock, _writing
    _lock, _writing = threading.Lock(), threading.Lock()
    _here.timeline = None
    for name in (*FORMS, LIVE):
        os.environ.pop(name, None)


@atexit.register
def _write_at_exit() -> None:
    # The uncaught error that Python reported.
    error: BaseException | None = getattr(sys, "last_value", None)
    if error is None:
        write_timeline()
    else:
        how = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        write_timeline(how, "".join(traceback.format_exception_only(error)).strip())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
