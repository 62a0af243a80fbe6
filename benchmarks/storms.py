"""More than a server takes: how many prompts fail, and how long the others take."""

from __future__ import annotations

from collections.abc import Iterator

from efforts import Effort
from fake_server import A_SECOND
from figures import Figure
from peers import Peers
from workers import Worker, fake_server

GROUP = "storms"
PEERS = ("ours", "openai")
NAMES = {"busy": "no word of when", "telling": "Retry-After: 1"}
MOST_OF_IDEAL = 1.3


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """Prompts that fail, and the seconds of all, against a server that takes 100 a second."""
    count, threads = effort.storm
    found = peers.among(*PEERS)
    for case, said in NAMES.items():
        failed: dict[str, float] = {}
        seconds: dict[str, float] = {}
        for name, peer in found.items():
            with fake_server() as url:
                worker = Worker(peer, url)
                worker.ask("storm", case, count, threads)
                failed[name] = worker.answer()
                worker.ask("lasted", case)
                seconds[name] = worker.answer()
                worker.close()
        mine, took = failed.pop("ours"), seconds.pop("ours")
        about = f"{count} prompts, {threads} threads, {said}"
        yield Figure(GROUP, f"{about}: failed", "", mine, failed, at_most=0)
        beside = {**seconds, "ideal": count / A_SECOND}
        yield Figure(GROUP, f"{about}: time", "s", took, beside, "ideal", at_most=MOST_OF_IDEAL)
