"""Servers that have as many requests sent to them as can be, and scripts run with them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
import re
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from math import prod
from random import Random
from typing import Any, NamedTuple

from runtime_support import Reply, Request, SaftError, ToolRequest, configure
from runtime_support.testing import tool_request
from saftc.cost.bound import Bound, Measure
from saftc.cost.requests import ProgramBounds
from saftc.cost.rules import Limits
from saftc.driver import Checked, check, compile_checked
from saftc.overlap.settings import Overlapping
from saftc.source import Source
from saftc.syntax import nodes as n
from tests.bounds.scripts import MADE
from tests.compiler.support import without_black

LIMITS = Limits(max_repairs=1, max_tool_rounds=2, max_tool_calls=2, program_calls=256)
_MARK = re.compile(r"\[r(\d) R(\d) C(\d)\]( do\b)?")
_MADE = re.compile(r"len\((ms\d+)\)")
# More than this is not asked for: it takes too long.
MOST = 400
# A list of which no more is known is not longer than this.
_LONGEST = 60


class Unsuitable(Exception):
    """The script asks for too much."""


class _Seen(NamedTuple):
    """What was said in a conversation since its prompt."""

    repairs: int
    rounds: int
    calls: int
    is_do: bool
    tool_rounds: int
    handed_rounds: int
    tool_calls: int
    texts: int
    arrived: frozenset[str]


class Server:
    """Answers wrongly until the last repair, and uses every round; with `random`, at random."""

    def __init__(self, random: Random | None = None) -> None:
        self.random = random
        self.asked = 0
        self.new = itertools.count()
        self.lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        with self.lock:
            self.asked += 1
            if self.asked > 20 * MOST:
                raise Unsuitable
            seen = _seen(request)
            if "Answer with one program" in str(request.messages[request.begins]["content"]):
                return self._program(request, seen)
            tools = [one["function"] for one in request.tools]
            handed = [one for one in tools if one["name"].startswith("__saft_return_")]
            ordinary = [one for one in tools if one not in handed]
            if self.random is not None and self.random.random() < 0.5:
                return self._any(self.random, request, ordinary, handed)
            if handed:
                return self._fields(seen, ordinary, handed)
            if ordinary and seen.tool_rounds < _rounds_with_calls(seen) and not request.must_answer:
                return _calls(self._rounds_calls(seen, ordinary))
            if seen.texts < seen.repairs:
                return Reply("")
            return Reply(self._answer(request.schema))

    def _rounds_calls(self, seen: _Seen, tools: list[dict[str, Any]]) -> list[ToolRequest]:
        """All calls that there may be, spread over the rounds that there may be, of the dearest
        tool."""
        name = max(one["name"] for one in tools)
        rounds = _rounds_with_calls(seen)
        count = 1 if seen.tool_rounds else seen.calls - (rounds - 1)
        return [tool_request(name, a=f"c{next(self.new)}") for _ in range(count)]

    def _fields(
        self, seen: _Seen, ordinary: list[dict[str, Any]], handed: list[dict[str, Any]]
    ) -> Reply:
        if seen.texts < seen.repairs:
            return Reply("no")
        if ordinary and seen.tool_rounds < _rounds_with_calls(seen):
            return _calls(self._rounds_calls(seen, ordinary))
        first, *others = handed
        is_open = any("null" in json.dumps(one["parameters"]) for one in others)
        total = seen.tool_rounds + seen.handed_rounds
        if is_open and total < seen.rounds:
            return _calls([self._hand(first)])  # the other may stay away
        if is_open:
            return Reply("that is all")
        left = [one for one in handed if one["name"] not in seen.arrived]
        if seen.is_do or total >= seen.rounds:
            return _calls(list(map(self._hand, left)))
        return _calls([self._hand(left[0])])

    def _hand(self, tool: dict[str, Any]) -> ToolRequest:
        values = tool["parameters"]["properties"]
        return tool_request(tool["name"], value=self._value(values["value"]))

    def _program(self, request: Request, seen: _Seen) -> Reply:
        if seen.texts < seen.rounds:
            return Reply(json.dumps({f"unknown{next(self.new)}": {"a": "b"}}))
        name = re.findall(r"tool_\w+", str(request.messages[request.begins]["content"]))[0]
        return Reply(json.dumps([{name: {"a": f"p{next(self.new)}"}} for _ in range(seen.calls)]))

    def _any(
        self,
        random: Random,
        request: Request,
        ordinary: list[dict[str, Any]],
        handed: list[dict[str, Any]],
    ) -> Reply:
        ways = [Reply(""), Reply("no"), Reply(self._answer(request.schema))]
        ways.append(_calls([tool_request("unknown")]))
        for one in ordinary:
            ways.append(_calls([tool_request(one["name"], a="b")] * random.randint(1, 2)))
        for one in handed:
            ways.append(_calls([self._hand(one)]))
        if ordinary and handed:
            ways.append(_calls([self._hand(handed[0]), tool_request(ordinary[0]["name"], a="b")]))
        return random.choice(ways)

    def _answer(self, schema: dict[str, Any] | None) -> str:
        return f"w{next(self.new)}" if schema is None else json.dumps(self._value(schema))

    def _value(self, schema: dict[str, Any]) -> Any:
        kind = schema.get("type")
        if kind is None:
            return self._value(next(iter(schema.get("anyOf", [{"type": "integer"}]))))
        if kind == "array":
            return [self._value(schema["items"]) for _ in range(MADE)]
        if kind == "boolean":
            return next(self.new) % 2 == 0
        return next(self.new) if "integer" in kind else f"w{next(self.new)}"


def _calls(calls: list[ToolRequest]) -> Reply:
    return Reply("", tool_calls=tuple(calls), finish="tool_calls")


def _seen(request: Request) -> _Seen:
    first, *others = request.messages[request.begins :]
    mark = _MARK.search(str(first["content"]))
    repairs, rounds, calls = map(int, mark.groups()[:3]) if mark else (1, 2, 2)
    said = [one for one in others if one["role"] == "assistant"]
    tool_rounds = handed_rounds = tool_calls = 0
    arrived = set[str]()
    for one in said:
        names = [call["function"]["name"] for call in one.get("tool_calls", ())]
        handed = {name for name in names if name.startswith("__saft_return_")}
        arrived |= handed
        tool_calls += len(names) - len(handed)
        tool_rounds += len(names) > len(handed)
        handed_rounds += 0 < len(names) == len(handed)
    texts = sum("tool_calls" not in one for one in said)
    is_do = mark is not None and mark[4] is not None
    return _Seen(
        *(repairs, rounds, calls, is_do),
        *(tool_rounds, handed_rounds, tool_calls, texts, frozenset(arrived)),
    )


def _rounds_with_calls(seen: _Seen) -> int:
    return min(1 if seen.is_do else seen.rounds, seen.calls)


# Scripts


def checked(text: str) -> Checked:
    """What is known of a script that has no errors."""
    found = check(Source.from_text("bounded.saft", text))
    assert not found.has_errors, found.diagnostics
    return found


def bound_of(script: Checked, name: str = "begin") -> Bound:
    """The bound of one of its functions."""
    bounds = ProgramBounds(script.facts, script.source, LIMITS)
    functions = (one for one in script.module.statements if isinstance(one, n.FunctionDef))
    return bounds.of_function(next(one for one in functions if one.name.text == name)).bound


def value_of(most: Bound, xs: int, number: int, *, longest: int = _LONGEST) -> int:
    """The number that a formula is for these arguments."""

    def value(measure: Measure) -> int:
        if measure.text in ("len(xs)", "n"):
            return xs if measure.kind == "len" else number
        return MADE if _MADE.fullmatch(measure.text) else longest

    return value_with(most, value)


def value_with(most: Bound, values: Callable[[Measure], int]) -> int:
    """The number that a formula is where its measures have these values."""
    return sum(times * prod(max(0, values(one)) for one in term) for term, times in most.terms)


def is_known(most: Bound) -> bool:
    """Whether all that a formula is made of is known exactly."""
    measures = [one.text for term, _ in most.terms for one in term]
    return all(one in ("len(xs)", "n") or _MADE.fullmatch(one) for one in measures)


def run(script: Checked, server: Server, xs: list[str], number: int, *, is_async: bool) -> int:
    """How many requests a call of `begin` sends."""
    with without_black():
        compiled = compile_checked(script, Overlapping(not is_async, is_async=is_async))
    assert compiled.text is not None
    names: dict[str, Any] = {"__name__": "bounded"}
    limits = {name: getattr(LIMITS, name) for name in LIMITS._fields[:3]}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        configure(provider=server, max_in_flight=4, **limits),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        exec(compile(compiled.text, "bounded.py", "exec"), names)
        begin = partial(names["begin"], xs, number)
        with contextlib.suppress(SaftError):
            asyncio.run(begin()) if is_async and asyncio.iscoroutinefunction(
                names["begin"]
            ) else begin()
    return server.asked
