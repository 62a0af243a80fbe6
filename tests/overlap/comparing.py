"""One script run in order and overlapped, with answers and delays that are made of its requests."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

import saftc.codegen.layout as layout
from runtime_support import Reply, Request, SaftError, ToolRequest, configure
from runtime_support import _tasks as tasks
from runtime_support._turns import current
from runtime_support.errors import FileError, ProviderError
from runtime_support.testing import tool_request
from saftc.codegen.positions import locate
from saftc.driver import Checked, Compiled, check, compile_checked
from saftc.schedule.settings import Overlapping
from saftc.source import Source

_FILE = "overlapped.py"
MOST_REQUESTS = 100
_SECONDS = 0.0015


class Difference(Exception):
    """The two runs are not the same."""


class Unsuitable(BaseException):
    """The script has errors, or asks too much."""


@dataclass(frozen=True)
class Ran:
    """What came of a run.

    `failed` is whether a request or a file failed, caught or not, `behind` how many requests were
    begun for calls that stand behind one that had failed.
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


class _Model:
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
        self.behind = 0

    def complete(self, request: Request) -> Reply:
        text = repr([(one["role"], one.get("content")) for one in request.messages])
        number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
        is_failing = bool(self.failing) and number % self.failing == 0
        with self.lock:
            self.asked[text] += 1
            if self.asked.total() > MOST_REQUESTS:
                raise Unsuitable("it asks too much")
            self.behind += any(_stands_behind(one, current.get()) for one in self.failures)
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            delay = self.delays.random() * self.seconds
        # Those that fail do so at once, before what stands above them.
        time.sleep(0 if is_failing else delay)
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
        return Reply(_answer(request.schema, number))


def _answer(schema: dict[str, Any] | None, number: int) -> str:
    if schema is None:
        return f"w{number % 4}"
    return json.dumps(_value(schema, number))


def _value(schema: dict[str, Any], number: int) -> Any:
    if schema["type"] == "object":
        return {name: _value(one, number) for name, one in schema["properties"].items()}
    return {"integer": number % 5, "string": f"w{number % 4}"}[schema["type"]]


def _returned(tool: dict[str, Any], number: int) -> ToolRequest:
    """A value of a destructuring."""
    return tool_request(tool["name"], **_value(tool["parameters"], number))


def _stands_behind(failed: tasks.Task, task: tasks.Task | None) -> bool:
    while task is not None:
        if task.line is failed.line and task.number > failed.number:
            return not failed.is_dropped
        task = task.parent
    return False


@contextlib.contextmanager
def _watching(model: _Model, anew: list[tasks.Task]) -> Generator[None]:
    """Notes which calls fail, and which are made anew."""
    run_task, make_anew = tasks.Task.run, tasks.Task.make_anew

    def watched(task: tasks.Task) -> None:
        run_task(task)
        if task.error is not None and not task.is_unwanted():
            with model.lock:
                model.failures.append(task)

    def counted(task: tasks.Task) -> tasks.Task:
        anew.append(task)
        return make_anew(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks.Task, "run", watched)
        patch.setattr(tasks.Task, "make_anew", counted)
        yield


def run(compiled: Compiled, seed: int, failing: int, at_once: int) -> Ran:
    """Runs a compiled script in an empty folder."""
    assert compiled.text is not None and compiled.module is not None
    model = _Model(seed, failing, _SECONDS if at_once > 1 else 0)
    printed = io.StringIO()
    failure: Exception | None = None
    anew: list[tasks.Task] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _watching(model, anew):
        try:
            set_here = configure(provider=model, max_in_flight=at_once)
            with set_here, contextlib.redirect_stdout(printed):
                namespace: dict[str, Any] = {"__name__": "__main__"}
                exec(compile(compiled.text, _FILE, "exec"), namespace)
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
        None if failure is None else _line(compiled, failure),
        model.has_failed or isinstance(failure, FileError) or "cannot read" in printed.getvalue(),
        model.asked,
        model.most,
        model.behind,
        len(anew),
    )


def _words(failure: Exception) -> str:
    said = str(failure) if isinstance(failure, SaftError) else repr(failure)
    return f"{type(failure).__name__}: {said}"


def _line(compiled: Compiled, failure: Exception) -> int | None:
    assert compiled.text is not None and compiled.module is not None
    found, trace = None, failure.__traceback__
    while trace is not None:
        found = trace if trace.tb_frame.f_code.co_filename == _FILE else found
        trace = trace.tb_next
    if found is None:
        return None
    positions = list(found.tb_frame.f_code.co_positions())
    line, end_line, column, end_column = positions[found.tb_lasti // 2]
    stretch = line or found.tb_lineno, column, end_line or found.tb_lineno, end_column
    span = locate(compiled.module.origins.map(compiled.text), *stretch)
    return None if span is None else compiled.checked.source.line_of(span.start)


def _as_it_is(module: cst.Module) -> str:
    return module.code


def checked(text: str) -> Checked:
    """What is known of a script that has no errors."""
    found = check(Source.from_text("overlapped.saft", text))
    if found.has_errors:
        raise Unsuitable(found.diagnostics[0].message)
    return found


def compare(script: Checked, seed: int, failing: int = 0) -> bool:
    """Runs a script in both ways, Difference when they differ; whether something overlapped."""
    with pytest.MonkeyPatch.context() as patch:
        # How the text is laid out changes nothing here, and takes most of the time.
        patch.setattr(layout, "formatted", _as_it_is)
        plain = compile_checked(script, Overlapping(is_on=False))
        overlapped = compile_checked(script)
    if plain.text == overlapped.text:
        return False
    expected = run(plain, seed, failing, 1)
    for at_once in (1, 2, (3, 16)[seed % 2]):
        actual = run(overlapped, seed + at_once, failing, at_once)
        _judge(expected, actual, at_once)
    return True


def _judge(expected: Ran, actual: Ran, at_once: int) -> None:
    for part in ("error", "output", "files", "line"):
        wanted, found = getattr(expected, part), getattr(actual, part)
        if wanted != found:
            raise Difference(f"{part} at {at_once}: expected {wanted!r}, got {found!r}")
    if actual.most > at_once:
        raise Difference(f"{actual.most} requests at once instead of {at_once}")
    if actual.behind > at_once:
        raise Difference(f"{actual.behind} requests behind a failure, at {at_once}")
    missing, more = expected.asked - actual.asked, actual.asked - expected.asked
    # What had read a file too early was asked again.
    allowed = expected.failed or actual.made_anew
    if missing or (more and not allowed):
        raise Difference(f"requests at {at_once}: {missing} missing, {more} in vain")
