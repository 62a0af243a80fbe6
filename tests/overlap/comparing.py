"""One script run in order and overlapped, in threads and in an event loop, with answers and delays
that are made of its requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import pytest

from runtime_support import Reply, Request, SaftError, configure
from runtime_support._core.messages import (
    ReceivedChunks,
    ReplyStream,
    StreamingProvider,
    ToolRequest,
)
from runtime_support._core.tasks import queue as tasks
from runtime_support._core.tasks.turns import current_task
from runtime_support._core.tasks.waits import Wait
from runtime_support.errors import ContractError, FileError, ProviderError
from runtime_support.testing import tool_request
from saftc.check.imports import Loaded, Loader, SaftModule
from saftc.codegen.module import Generated, generate
from saftc.codegen.positions import Mapping, locate
from saftc.driver import Checked, check
from saftc.overlap.plan import Plan, plan
from saftc.overlap.settings import Overlapping
from saftc.project.scripts import Modules
from saftc.source import Source
from tests.compiler.support import without_black
from tests.overlap.scripts import Script

_FILE = "overlapped.py"
# Python's modules, from the folder that imports begin with.
_PYTHON = Modules(Path(__file__).parents[2])
MOST_REQUESTS = 100
# Of the processor, in order; some hundredths are usual.
_MOST_SECONDS = 20
_SECONDS = 0.0015
# Of so many scripts, one is run in the async form without overlap, too.
_IN_ORDER_EVERY = 4
# How many requests there may be at once; each script is run with some.
_WIDTHS = ((1, 16), (2,), (3, 16))


class Difference(Exception):
    """The two runs are not the same."""


class Unsuitable(BaseException):
    """The script has errors, or asks too much."""


@dataclass(frozen=True)
class Ran:
    """What came of a run.

    `failed` is whether a request or a file failed, or a class refused a value, caught or not;
    `behind` how many requests at most were begun for calls that stand behind one that had failed:
    those under way just then.
    """

    output: str
    files: dict[str, str]
    error: str | None
    line: int | None
    failed: bool
    asked: Counter[str]
    most: int
    behind: int
    made_anew: int


class Scripts(NamedTuple):
    """A script, and the one that it imports, if it does."""

    main: Checked
    helpers: Checked | None

    @property
    def known(self) -> list[Checked]:
        """The scripts that there are."""
        return [one for one in self if one is not None]


class _Model(StreamingProvider):
    """Answers by a hash of the request; some fail, some call the tool that they are offered."""

    def __init__(self, seed: int, failing: int, seconds: float) -> None:
        self.delays = random.Random(seed)
        self.failing = failing
        self.seconds = seconds
        self.asked: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self.has_failed = False
        self.lock = threading.Lock()
        # The calls that have failed ahead of their turn, and requests made for those behind them.
        self.failures: list[tasks.Task] = []
        self.behind: Counter[tasks.Task] = Counter()

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        asked = [(one["role"], one.get("content")) for one in request.messages]
        # What a tool says of a file has the folder, which is another in each run.
        text = repr(asked).replace(os.getcwd(), "")
        number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
        is_failing = bool(self.failing) and number % self.failing == 0
        with self.lock:
            self.asked[text] += 1
            if self.asked.total() > MOST_REQUESTS:
                raise Unsuitable("it asks too much")
            here = current_task()
            self.behind.update(one for one in self.failures if _stands_behind(one, here))
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            # Those that fail do so at once, before what stands above them.
            delay = 0 if is_failing else self.delays.random() * self.seconds
        try:
            yield Wait(partial(time.sleep, delay), partial(asyncio.sleep, delay))
        finally:
            with self.lock:
                self.in_flight -= 1
                self.has_failed |= is_failing
        if is_failing:
            raise ProviderError(f"failed: {text}")
        offered = [tool["function"] for tool in request.tools]
        returns = [tool for tool in offered if tool["name"].startswith("__saft_return_")]
        if returns:
            return Reply("", tool_calls=tuple(_returned(tool, number) for tool in returns))
        if offered and len(request.messages) == 1:
            called = tool_request(offered[0]["name"], a=f"c{number % 3}")
            return Reply("", tool_calls=(called,))
        reply = Reply(_answer(request.schema, number))
        if chunks is not None:
            chunks.append(reply.text)
            yield reply.text
        return reply


def _answer(schema: dict[str, Any] | None, number: int) -> str:
    if schema is None:
        return f"w{number % 4}"
    return json.dumps(_value(schema, number))


def _value(schema: dict[str, Any], number: int) -> Any:
    if schema["type"] == "object":
        return {name: _value(one, number) for name, one in schema["properties"].items()}
    if schema["type"] == "array":
        return [_value(schema["items"], number)] * (number % 3)
    return {"integer": number % 5, "string": f"w{number % 4}"}[schema["type"]]


def _returned(tool: dict[str, Any], number: int) -> ToolRequest:
    """A value of a destructuring."""
    return tool_request(tool["name"], **_value(tool["parameters"], number))


def _stands_behind(failed: tasks.Task, task: tasks.Task | None) -> bool:
    while task is not None:
        if task.queue is failed.queue and task.number > failed.number:
            return not failed.is_dropped
        task = task.parent
    return False


@contextlib.contextmanager
def _watching(model: _Model, anew: list[tasks.Task]) -> Generator[None]:
    """Notes which calls fail, and which are made anew."""
    end, rerun = tasks.Task.end, tasks.Task.rerun
    make_error = SaftError.__init__

    def failed(error: SaftError, *given: Any, **named: Any) -> None:
        # Caught or not.
        model.has_failed |= isinstance(error, FileError | ContractError)
        make_error(error, *given, **named)

    def watched(task: tasks.Task, value: Any, error: BaseException | None) -> None:
        end(task, value, error)
        if task.error is not None and not task.is_cancelled():
            with model.lock:
                model.failures.append(task)

    def counted(task: tasks.Task) -> tasks.Task:
        anew.append(task)
        return rerun(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SaftError, "__init__", failed)
        patch.setattr(tasks.Task, "end", watched)
        patch.setattr(tasks.Task, "rerun", counted)
        yield


class _Runnable:
    """A compiled script, and the one that it imports."""

    def __init__(self, scripts: Scripts, plans: Sequence[Plan]) -> None:
        self.checked = scripts.main
        self.main, *self.helpers = map(_generated, scripts.known, plans)

    def run(self) -> None:
        """Runs the script, with a module of its own of what it imports."""
        *helpers, main = self.codes
        with pytest.MonkeyPatch.context() as patch:
            for code in helpers:
                module = ModuleType("helpers")
                patch.setitem(sys.modules, "helpers", module)
                exec(code, module.__dict__)
            exec(main, {"__name__": "__main__"})

    @cached_property
    def codes(self) -> list[CodeType]:
        """What is run, what is imported first."""
        helpers = [compile(one.text, "helpers.py", "exec") for one in self.helpers]
        return [*helpers, compile(self.main.text, _FILE, "exec")]

    @cached_property
    def places(self) -> list[Mapping]:
        """Where the places of the module come from in the script."""
        return self.main.origins.map(self.main.text)


def _generated(script: Checked, plan: Plan) -> Generated:
    return generate(script.source, script.module, script.facts, plan)


def run(script: _Runnable, seed: int, failing: int, at_once: int) -> Ran:
    """Runs a compiled script in an empty folder."""
    model = _Model(seed, failing, _SECONDS if at_once > 1 else 0)
    printed = io.StringIO()
    failure: Exception | None = None
    anew: list[tasks.Task] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _watching(model, anew):
        try:
            set_here = configure(provider=model, max_in_flight=at_once)
            with set_here, contextlib.redirect_stdout(printed):
                script.run()
        except Exception as raised:
            failure = raised
        # What is in flight when something has failed is counted, too.
        while model.in_flight:
            time.sleep(0.0005)
        files = {path.name: path.read_text() for path in Path().glob("*.txt")}
        here = os.getcwd()
    return Ran(
        printed.getvalue().replace(here, ""),
        files,
        None if failure is None else _words(failure).replace(here, ""),
        None if failure is None else _line(script, failure),
        model.has_failed,
        model.asked,
        model.most,
        max(model.behind.values(), default=0),
        len(anew),
    )


def _words(failure: Exception) -> str:
    said = str(failure) if isinstance(failure, SaftError) else repr(failure)
    return f"{type(failure).__name__}: {said}"


def _line(script: _Runnable, failure: Exception) -> int | None:
    found, trace = None, failure.__traceback__
    while trace is not None:
        found = trace if trace.tb_frame.f_code.co_filename == _FILE else found
        trace = trace.tb_next
    if found is None:
        return None
    positions = list(found.tb_frame.f_code.co_positions())
    line, end_line, column, end_column = positions[found.tb_lasti // 2]
    stretch = line or found.tb_lineno, column, end_line or found.tb_lineno, end_column
    span = locate(script.places, *stretch)
    return None if span is None else script.checked.source.line_of(span.start)


def checked(script: Script) -> Scripts:
    """What is known of a script that has no errors."""
    helpers = None
    if script.helpers is not None:
        helpers = _checked(Source.from_text("helpers.saft", script.helpers), _PYTHON.load)

    def load(name: str) -> Loaded:
        if helpers is None or name != "helpers":
            return _PYTHON.load(name)
        return SaftModule(helpers.facts, helpers.source, name)

    return Scripts(_checked(Source.from_text("overlapped.saft", script.text), load), helpers)


def _checked(source: Source, load: Loader) -> Checked:
    found = check(source, load)
    if found.has_errors:
        raise Unsuitable(found.diagnostics[0].message)
    return found


@contextlib.contextmanager
def _bounded() -> Generator[None]:
    """Gives up a script whose lists double in loops in each other: it would never end."""

    def give_up(*_: object) -> None:
        raise Unsuitable("it computes too much")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def decisions(scripts: Scripts) -> list[object]:
    """What is to run at the same time, in both scripts."""
    return _decided([plan(one.facts) for one in scripts.known])


def _decided(plans: Sequence[Plan]) -> list[object]:
    return [part for one in plans for part in (one.loops, one.maps, one.groups)]


def run_overlapped(script: Scripts, seed: int, failing: int, at_once: int) -> Ran:
    """Runs a script as it is compiled."""
    with without_black():
        overlapped = _Runnable(script, [plan(one.facts) for one in script.known])
    with _bounded():
        return run(overlapped, seed, failing, at_once)


def compare(
    script: Scripts,
    seed: int,
    failing: int,
    widths: Sequence[int] = (),
    forms: Sequence[str] = (),
) -> bool:
    """Runs a script in all ways, Difference when they differ; whether something overlapped.

    `widths` are the numbers of requests at once; some, by the seed, when there are none. `forms`
    are "threads" and "loop", or one of them.
    """
    plans = [plan(one.facts) for one in script.known]
    if not any(_decided(plans)):
        return False
    with without_black():
        plain = _Runnable(script, [Plan(one.effects) for one in plans])
        overlapped = _Runnable(script, plans)
        plans = [plan(one.facts, Overlapping(is_async=True)) for one in script.known]
        awaited = _Runnable(script, plans)
        plans = [plan(one.facts, Overlapping(is_on=False, is_async=True)) for one in script.known]
        awaited_in_order = _Runnable(script, plans) if seed % _IN_ORDER_EVERY == 0 else None
    with _bounded():
        expected = run(plain, seed, failing, 1)
    if awaited_in_order is not None:
        _judge(expected, run(awaited_in_order, seed, failing, 1), 1)
    for at_once in widths or _WIDTHS[seed % len(_WIDTHS)]:
        for form in forms or ("threads", "loop"):
            runs = overlapped if form == "threads" else awaited
            actual = run(runs, seed + at_once, failing, at_once)
            _judge(expected, actual, at_once, form)
    return True


def _judge(expected: Ran, actual: Ran, at_once: int, form: str = "in order") -> None:
    for part in ("error", "output", "files", "line"):
        wanted, found = getattr(expected, part), getattr(actual, part)
        if wanted != found:
            raise Difference(f"{part} of {form} at {at_once}: expected {wanted!r}, got {found!r}")
    if actual.most > at_once:
        raise Difference(f"{actual.most} requests at once instead of {at_once}, {form}")
    if actual.behind > at_once:
        raise Difference(f"{actual.behind} requests behind a failure, at {at_once}, {form}")
    missing, more = expected.asked - actual.asked, actual.asked - expected.asked
    # What had read a file too early was asked again.
    allowed = expected.failed or actual.made_anew
    if missing or (more and not allowed):
        raise Difference(f"requests of {form} at {at_once}: {missing} missing, {more} in vain")
