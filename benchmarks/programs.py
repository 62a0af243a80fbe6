"""A program beside a loop of tool calls: how often the model is asked, and how long it takes.

A chain needs each result for the next call; a fan needs all of them. A call takes 200 ms, and so
does each reply of the model. In the loop, the model makes the calls of a fan in one reply.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from efforts import Effort
from figures import Figure
from peers import REPOSITORY, Peers

sys.path.insert(0, str(REPOSITORY))  # ours is what stands here, whatever is installed

from runtime_support import configure, program, prompt
from runtime_support._core.messages import Reply, Request, ToolRequest

GROUP = "programs"
OPTIONS = {"max_tool_rounds": 40, "max_tool_calls": 40}


@dataclass
class Model:
    """Answers each request late with what `reply` makes of the results so far."""

    latency: float
    reply: Callable[[list[int]], Reply]
    rounds: int = field(default=0)

    def complete(self, request: Request) -> Reply:
        """The next reply."""
        self.rounds += 1
        time.sleep(self.latency)
        results = [int(m["content"]) for m in request.messages if m["role"] == "tool"]
        return self.reply(results)


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """Rounds and seconds of chains and fans."""
    try:
        for shape in (_chain, _fan):
            for calls in effort.calls_of_programs:
                yield from _compared(shape, calls, effort.latency)
    finally:
        configure(provider=None)


@dataclass(frozen=True)
class Shape:
    """What the model says in the loop and as a program, and what comes of it."""

    name: str
    reply: Callable[[list[int]], Reply]
    program: Any
    value: Any
    type: Any


def _chain(calls: int) -> Shape:
    def reply(results: list[int]) -> Reply:
        if len(results) == calls:
            return Reply(str(results[-1]))
        return _calling(results[-1] if results else 0)

    nested: Any = 0
    for _ in range(calls):
        nested = {"step": {"n": nested}}
    return Shape(f"chain of {calls}", reply, nested, calls, int)


def _fan(calls: int) -> Shape:
    def reply(results: list[int]) -> Reply:
        return Reply(str(results)) if results else _calling(*range(calls))

    steps = [{"step": {"n": n}} for n in range(calls)]
    return Shape(f"fan of {calls}", reply, steps, [n + 1 for n in range(calls)], list[int])


def _compared(make: Callable[[int], Shape], calls: int, latency: float) -> Iterator[Figure]:
    def step(n: int) -> int:
        """One more."""
        time.sleep(latency)
        return n + 1

    shape = make(calls)
    text = json.dumps(shape.program)
    looping, writing = Model(latency, shape.reply), Model(latency, lambda _: Reply(text))
    template = "Go on with {step}."
    loop = _seconds(
        looping,
        lambda: prompt(template, step=step, returns=shape.type, options=OPTIONS).value,
        shape.value,
    )
    one_go = _seconds(
        writing,
        # What saftc finds of a script's function that has no effects: calls of it run together.
        lambda: (
            program(template, step=step, returns=shape.type, options=OPTIONS, pure=[step]).value
        ),
        shape.value,
    )
    yield Figure(GROUP, shape.name, "s", one_go, {"tool loop": loop}, "tool loop")
    rounds = {"tool loop": float(looping.rounds)}
    yield Figure(GROUP, f"{shape.name}, rounds", "", writing.rounds, rounds, "tool loop")


def _seconds(model: Model, ask: Callable[[], Any], expected: Any) -> float:
    configure(provider=model)
    started = time.perf_counter()
    value = ask()
    seconds = time.perf_counter() - started
    assert value == expected, value
    return seconds


def _calling(*numbers: int) -> Reply:
    calls = tuple(ToolRequest("step", json.dumps({"n": number})) for number in numbers)
    return Reply("", calls, "tool_calls")
