"""Prompts that do not need each other: how near the time of all comes to that of the longest way.

Each script is compiled with overlap and without, and asks a server that answers late. The critical
path is what the prompts take that need each other. Then the same prompts by the peers, and what
overlap costs where nothing can be asked ahead.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from efforts import Effort
from fake_server import LATENCY
from figures import Figure
from peers import REPOSITORY, Peers
from workers import Worker, fake_server

sys.path.insert(0, str(REPOSITORY))  # ours is what stands here, whatever is installed

from runtime_support import configure
from saftc.driver import compile_source
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.project.scripts import Modules
from saftc.source import Source

GROUP = "overlap"
PEERS = ("openai", "httpx2", "baml-py")
AT_ONCE = 64
TURNS = 3

IN_ORDER = Overlapping(is_on=False)
IN_A_LOOP = Overlapping(is_async=True)
_ASK = "f ask(item: int) -> string:\n    ret $ Describe {item}. $\n\n"
ITEMS = _ASK + "found = [ask(item) for item in range(COUNT)]"
CHAIN = 'story = "Once"\nfor i in range(COUNT):\n    story = $ Go on with {story}. $'
TRIAGE = (REPOSITORY / "examples" / "mailbox_triage.saft").read_text(encoding="utf-8")
RESEARCH = (REPOSITORY / "benchmarks" / "scripts" / "research.saft").read_text(encoding="utf-8")


class _Work(NamedTuple):
    """A script for COUNT items, of whose prompts `chain` need each other, its form and target."""

    name: str
    text: str
    chain: int = 1
    at_most: float = 1.2
    form: Overlapping = DEFAULT


WORKS = (
    _Work("COUNT items, a comprehension", ITEMS, at_most=1.1),
    _Work(
        "COUNT items, a loop that adds to a list",
        _ASK + "found: [string] = []\nfor item in range(COUNT):\n    found += [ask(item)]",
    ),
    _Work(
        "COUNT items, a loop with two prompts an item",
        _ASK + "for item in range(COUNT):\n    one = ask(item)\n    two = $ Sum up {one}. $\n"
        "    print(two)",
        chain=2,
    ),
    _Work("COUNT mails, examples/mailbox_triage.saft", TRIAGE),
    _Work("five side by side", "\n".join(f"x{i} = $ Describe {i}. $" for i in range(5))),
    # 43 prompts: answers, doubts about them, verdicts on these, and so on, each loop by the last.
    _Work("a report as one writes it first", RESEARCH, 6, 1.3),
    _Work("the same in an event loop", RESEARCH, 6, 1.3, IN_A_LOOP),
    _Work("COUNT items, a comprehension in an event loop", ITEMS, 1, 1.3, IN_A_LOOP),
)


# One for all runs, as a service has it: connections stay.
_loop = asyncio.Runner()


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The seconds of each work beside its critical path and the peers', and what overlap costs."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    count = 50 if effort.code_scale == 1 else 3
    try:
        with fake_server() as url, _mailbox(count):
            _ask_at(f"{url}/after-{round(effort.latency * 1000)}", AT_ONCE)
            for work in WORKS:
                yield _late(work, effort.latency, count)
            yield _beside_peers(url, peers, count)
            yield from _costs(url, effort)
    finally:
        configure(provider=None)
        _loop.close()


def _late(work: _Work, latency: float, count: int) -> Figure:
    """What takes the time of one prompt, or of one chain of them."""
    run = _run(work.text, count, work.form)
    found = median(_seconds(run) for _ in range(TURNS))
    beside = {"critical path": work.chain * latency}
    if work is WORKS[0]:
        beside["in order"] = _seconds(_run(work.text, count, IN_ORDER))
    name = work.name.replace("COUNT", str(count))
    return Figure(GROUP, name, "s", found, beside, "critical path", at_most=work.at_most)


def _beside_peers(url: str, peers: Peers, count: int) -> Figure:
    """The same prompts one after the other, as peers ask them, and by hand from as many threads."""
    _ask_at(f"{url}/late", AT_ONCE)
    run = _run(ITEMS, count, DEFAULT)
    found = median(_seconds(run) for _ in range(TURNS))
    beside: dict[str, float] = {}
    for name, peer in peers.among(*PEERS).items():
        worker = Worker(peer, url)
        worker.ask("time", "late", count)
        beside[name] = worker.answer()
        if name == "openai":
            worker.ask("crowd", "late", count, count)
            beside["openai in threads"] = worker.answer()
        worker.close()
    name = f"{count} prompts, {LATENCY * 1000:.0f} ms, as a comprehension"
    against = "openai in threads" if "openai in threads" in beside else ""
    return Figure(GROUP, name, "s", found, beside, against, at_most=1.1 if against else None)


def _costs(url: str, effort: Effort) -> Iterator[Figure]:
    """Prompts without latency, one after the other: what overlap adds to each."""
    calls = effort.calls_a_turn
    for name, text, at_once, count in (
        ("a prompt of 200 that need the one before", CHAIN, AT_ONCE, 200),
        ("a prompt, where one at once is allowed", ITEMS, 1, calls),
    ):
        if effort.code_scale != 1:
            count = calls
        _ask_at(f"{url}/text", at_once)
        runs = _run(text, count, DEFAULT), _run(text, count, IN_ORDER)
        times: tuple[list[float], list[float]] = [], []
        for turn in range(20 if effort.code_scale == 1 else 2):
            # Whoever goes first does so every other time.
            for at in (turn % 2, 1 - turn % 2):
                times[at].append(_seconds(runs[at]) / count * 1_000_000)
        ours, plain = map(median, times)
        beside = {"without overlap": plain}
        yield Figure(GROUP, name, "µs", ours, beside, "without overlap", at_most=1.02)


@contextmanager
def _mailbox(count: int) -> Generator[None]:
    """A folder with so many mails, of which the example is told."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            mail = f"From: user-{number}@example.com\n\nI cannot log in ({number}).\n"
            Path(folder, f"{number:03}.txt").write_text(mail)
        os.environ["MAILBOX"] = folder
        yield
        del os.environ["MAILBOX"]


def _ask_at(url: str, at_once: int) -> None:
    configure(provider="openai", model="fake", base_url=f"{url}/v1", max_in_flight=at_once)


def _run(text: str, count: int, overlapping: Overlapping) -> Callable[[], None]:
    source = Source.from_text("work.saft", text.replace("COUNT", str(count)))
    load = Modules(REPOSITORY).load  # what is known of Python's library
    compiled = compile_source(source, load, overlapping=overlapping)
    assert compiled.text is not None, compiled.checked.diagnostics
    does = re.search(r"\b(overlap|together)(\.aio)?\(", compiled.text) is not None
    assert does == (overlapping.is_on and text is not CHAIN)
    code = compile(compiled.text.replace("print(", "str("), "work.py", "exec")

    def run() -> None:
        names: dict[str, Any] = {"__name__": "work" if overlapping.is_async else "__main__"}
        exec(code, names)
        if overlapping.is_async:
            _loop.run(names["main"]())

    run()  # its connections are there before the time counts
    return run


def _seconds(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
