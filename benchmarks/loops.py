"""Prompts that one event loop waits for together: how long all of them take, and the memory."""

from __future__ import annotations

from collections.abc import Iterator

from efforts import Effort
from fake_server import LATENCY
from figures import Figure
from peers import Peers
from workers import Worker, fake_server

GROUP = "loop"
PEERS = ("ours", "openai", "httpx2", "pydantic-ai")
MOST_OF_IDEAL = 1.3
MOST_MEGABYTES = 150


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The seconds of all prompts together, in the ideal the time of one; the process's peak."""
    count = effort.awaited_together
    seconds: dict[str, float] = {}
    megabytes: dict[str, float] = {}
    with fake_server() as url:
        for name, peer in peers.among(*PEERS).items():
            worker = Worker(peer, url)
            worker.ask("gather", "awaited", count)
            seconds[name] = worker.answer()
            megabytes[name] = worker.close()
    mine, peak = seconds.pop("ours"), megabytes.pop("ours")
    name = f"{count:,} prompts of {LATENCY * 1000:.0f} ms"
    found = {**seconds, "ideal": LATENCY}
    yield Figure(GROUP, name, "s", mine, found, "ideal", at_most=MOST_OF_IDEAL)
    yield Figure(GROUP, "their process", "MB", peak, megabytes, at_most=MOST_MEGABYTES)
