"""The memory of a process that holds many results: the typed object, with all that came with it."""

from __future__ import annotations

from collections.abc import Iterator

from efforts import Effort
from figures import Figure
from peers import Peers
from workers import Worker, fake_server

GROUP = "memory"
PEERS = ("ours", "openai", "httpx2", "baml-py")


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The memory of each process, and what one result adds to it."""
    count = effort.results_held
    with fake_server() as url:
        workers = [Worker(peer, url) for peer in peers.among(*PEERS).values()]
        few = {worker.name: _held(worker, 1) for worker in workers}
        for worker in workers:
            worker.ask("hold", "result", count)  # all at the same time: no time is measured
        many = {worker.name: worker.answer() for worker in workers}
        for worker in workers:
            worker.close()
    totals = {name: kilobytes / 1024 for name, kilobytes in many.items()}
    each = {name: (many[name] - few[name]) / count for name in many}
    yield _figure(f"a process with {count} results", "MB", totals)
    yield _figure("of which one result", "kB", each)


def _held(worker: Worker, count: int) -> float:
    worker.ask("hold", "result", count)
    return worker.answer()


def _figure(name: str, unit: str, found: dict[str, float]) -> Figure:
    peers = {peer: value for peer, value in found.items() if peer != "ours"}
    return Figure(GROUP, name, unit, found["ours"], peers, "openai")
