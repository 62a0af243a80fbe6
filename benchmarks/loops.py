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
        for name, peer in peers.found.items():
            if name in PEERS:
                worker = Worker(peer, url)
                worker.ask("gather", "awaited", count)
                seconds[name] = worker.answer()
                megabytes[name] = worker.close()
    for name, unit, found, most in (
        (f"{count:,} prompts of {LATENCY * 1000:.0f} ms", "s", seconds, MOST_OF_IDEAL * LATENCY),
        ("their process", "MB", megabytes, MOST_MEGABYTES),
    ):
        mine = found.pop("ours")
        yield Figure(GROUP, name, unit, mine, found, "openai", at_most=most)
