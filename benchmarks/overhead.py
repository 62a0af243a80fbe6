"""What a prompt costs beside the exchange itself, and beside what one would use instead.

Each peer runs in a process of its own against the same server without latency; their turns
alternate, and the median of the turns counts. Then many threads at once with 100 ms of latency, and
the peak memory of all that. `server` is a bare socket: what no client can be faster than.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from statistics import median

from efforts import Effort
from fake_server import LATENCY
from figures import Figure
from peers import Peers
from worker import crowd
from workers import Worker, fake_server

GROUP = "overhead of a prompt"
PEERS = ("ours", "openai", "httpx2", "baml-py")
NAMES = {"text": "text prompt", "object": "typed object", "tools": "one round of tools"}
TARGETS = {"text": 0.65, "object": 0.5, "tools": 0.4}


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The time of a call for each kind, calls a second at once, and peak memory."""
    with fake_server() as url:
        workers = [Worker(peer, url) for peer in peers.among(*PEERS).values()]
        yield from _one_after_the_other(effort, workers, url)
        yield _at_once(effort, workers, url)
        peaks = {worker.name: worker.close() for worker in workers}
    yield Figure(GROUP, "peak memory after all that", "MB", peaks.pop("ours"), peaks, at_most=60)


def _one_after_the_other(effort: Effort, workers: list[Worker], url: str) -> Iterator[Figure]:
    server: list[float] = []
    turns: dict[str, dict[str, list[float]]] = {case: {} for case in NAMES}
    for number in range(effort.turns + 1):
        server.append(_round_trip(url, effort.calls_a_turn))
        for case, by_worker in turns.items():
            for worker in workers:
                if case not in worker.cases:
                    continue
                worker.ask("time", case, effort.calls_a_turn)
                microseconds = worker.answer() / effort.calls_a_turn * 1e6
                if number:  # the first turn warms up
                    by_worker.setdefault(worker.name, []).append(microseconds)
    for case, by_worker in turns.items():
        medians = {name: median(found) for name, found in by_worker.items()}
        mine = medians.pop("ours")
        # A round of tools is two requests.
        floor = median(server) * (2 if case == "tools" else 1)
        others = {**medians, "server": floor}
        yield Figure(GROUP, NAMES[case], "µs", mine, others, "openai", at_most=TARGETS[case])
        if case == "object":
            name = f"{NAMES[case]}, beside baml-py"
            yield Figure(GROUP, name, "µs", mine, others, "baml-py", at_most=1)


def _at_once(effort: Effort, workers: list[Worker], url: str) -> Figure:
    threads, calls = effort.threads, effort.calls_at_once
    rates: dict[str, float] = {}
    for worker in workers:
        worker.ask("crowd", "late", calls, threads)
        rates[worker.name] = calls / worker.answer()
    mine = rates.pop("ours")
    ceiling = calls / _crowd_of_sockets(url, calls, threads)
    name = f"calls a second, {threads} threads, {LATENCY * 1000:.0f} ms"
    ideal = threads / LATENCY
    others = {**rates, "server": ceiling, "ideal": ideal}
    return Figure(GROUP, name, "1/s", mine, others, at_least=0.9 * ideal)


def _round_trip(url: str, count: int) -> float:
    """Microseconds of one exchange over a bare socket."""
    with _Socket(url, "text") as bare:
        started = time.perf_counter()
        for _ in range(count):
            bare.exchange()
        return (time.perf_counter() - started) / count * 1e6


def _crowd_of_sockets(url: str, count: int, threads: int) -> float:
    """Seconds that bare sockets take for what the peers do at once."""
    mine = threading.local()

    def exchange() -> None:
        if not hasattr(mine, "socket"):
            mine.socket = _Socket(url, "late")
        mine.socket.exchange()

    return crowd(exchange, count, threads)


class _Socket:
    """A connection that asks the same again and again."""

    def __init__(self, url: str, case: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        body = '{"messages":[]}'
        head = f"POST /{case}/v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
        self.request = (head + body).encode()
        self.connection = socket.create_connection((host, int(port)))

    def exchange(self) -> None:
        self.connection.sendall(self.request)
        self.connection.recv(65536)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> _Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
