"""Replies in pieces: how late the first one is given, and what each of many costs."""

from __future__ import annotations

from collections.abc import Iterator

from efforts import Effort
from fake_server import PIECES
from figures import Figure
from peers import Peers
from workers import Worker, fake_server

GROUP = "streams"
PEERS = ("ours", "openai", "httpx2", "pydantic-ai")
MOST_MILLISECONDS = 5


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """Milliseconds from the sending of the first piece to its use, and microseconds a piece."""
    found = peers.among(*PEERS)
    first: dict[str, float] = {}
    each: dict[str, float] = {}
    with fake_server() as url:
        for name, peer in found.items():
            worker = Worker(peer, url)
            worker.ask("lag", "stream", effort.turns)
            first[name] = worker.answer() * 1000
            worker.ask("time", "pieces", effort.calls_a_turn)
            each[name] = worker.answer() * 1_000_000 / (effort.calls_a_turn * PIECES)
            worker.close()
    mine, a_piece = first.pop("ours"), each.pop("ours")
    name = "first piece, since it was sent"
    yield Figure(GROUP, name, "ms", mine, first, at_most=MOST_MILLISECONDS)
    yield Figure(GROUP, f"a piece of {PIECES:,}", "µs", a_piece, each, "openai")
