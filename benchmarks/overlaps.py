"""Prompts that do not need each other: how near the time of all comes to that of the longest way.

Each script is compiled with overlap and without, and asks a server that answers late. The critical
path is what the prompts take that need each other.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from efforts import Effort
from figures import Figure
from peers import REPOSITORY, Peers
from workers import fake_server

sys.path.insert(0, str(REPOSITORY))  # ours is what stands here, whatever is installed

from runtime_support import configure
from saftc.driver import compile_source
from saftc.schedule.settings import DEFAULT, Overlapping
from saftc.source import Source

GROUP = "overlap"
AT_ONCE = 64
TURNS = 3

_BEGIN = "f ask(item: int) -> string:\n    ret $ Describe {item}. $\n\n"


@dataclass(frozen=True, slots=True)
class _Work:
    """A script in which `chain` prompts need each other; `at_most` is its target."""

    name: str
    body: str
    chain: int
    at_most: float


WORKS = (
    _Work("a comprehension", "found = [ask(item) for item in range({count})]", 1, 1.1),
    _Work(
        "a loop that adds to a list",
        "found: [string] = []\nfor item in range({count}):\n    found += [ask(item)]",
        1,
        1.2,
    ),
    _Work(
        "a loop with two prompts an item",
        "for item in range({count}):\n    one = ask(item)\n    two = $ Sum up {{one}}. $\n"
        "    print(two)",
        2,
        1.2,
    ),
)
GROUP_OF_FIVE = "\n".join(f"x{i} = $ Describe {i}. $" for i in range(5))
# The same calls in the thread of the caller.
CHEAP = _Work("", "found = [ask(item) for item in range({count})]", 1, 1.05)


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The seconds of each work beside its critical path, and what overlap costs where it waits."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    count = 50 if effort.code_scale == 1 else 3
    try:
        with fake_server() as url:
            yield from _late(url, effort.latency, count)
            yield _cost(url, effort.calls_a_turn)
    finally:
        configure(provider=None)


def _late(url: str, latency: float, count: int) -> Iterator[Figure]:
    """What takes the time of one prompt, or of one chain of them."""
    _ask_at(f"{url}/after-{round(latency * 1000)}", AT_ONCE)
    for work in WORKS:
        found = _seconds(_run(_BEGIN + work.body.format(count=count), DEFAULT), TURNS)
        beside = {"critical path": work.chain * latency}
        if work is WORKS[0]:
            in_order = _run(_BEGIN + work.body.format(count=count), Overlapping(is_on=False))
            beside["in order"] = _seconds(in_order, 1)
        name = f"{count} items, {work.name}"
        yield Figure(GROUP, name, "s", found, beside, "critical path", at_most=work.at_most)
    found = _seconds(_run(GROUP_OF_FIVE, DEFAULT), TURNS)
    beside = {"critical path": latency}
    yield Figure(GROUP, "five side by side", "s", found, beside, "critical path", at_most=1.2)


def _cost(url: str, calls: int) -> Figure:
    """One prompt after the other without latency, with `overlap` around them and without."""
    _ask_at(f"{url}/text", 1)
    text = _BEGIN + CHEAP.body.format(count=calls)
    runs = _run(text, DEFAULT), _run(text, Overlapping(is_on=False))
    times: tuple[list[float], list[float]] = [], []
    for _ in range(20):
        for run, found in zip(runs, times, strict=True):
            found.append(_seconds(run, 1) / calls * 1_000_000)
    ours, plain = map(median, times)
    name = "a prompt that waits for the one before"
    beside = {"without overlap": plain}
    return Figure(GROUP, name, "µs", ours, beside, "without overlap", at_most=CHEAP.at_most)


def _ask_at(url: str, at_once: int) -> None:
    configure(provider="openai", model="fake", base_url=f"{url}/v1", max_in_flight=at_once)


def _run(text: str, overlapping: Overlapping) -> Callable[[], None]:
    compiled = compile_source(Source.from_text("work.saft", text), overlapping=overlapping)
    assert compiled.text is not None, compiled.checked.diagnostics
    assert ("overlap(" in compiled.text or "together(" in compiled.text) == overlapping.is_on
    code = compile(compiled.text.replace("print(", "str("), "work.py", "exec")

    def run() -> None:
        exec(code, {"__name__": "work"})

    run()  # its connections are there before the time counts
    return run


def _seconds(run: Callable[[], None], turns: int) -> float:
    found: list[float] = []
    for _ in range(turns):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return median(found)
