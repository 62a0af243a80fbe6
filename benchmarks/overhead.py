"""What a prompt costs beside the exchange itself, and beside what one would use instead.

    python benchmarks/overhead.py [--json FILE] [--rounds N]

Each peer runs in a process of its own against the same server without latency; their turns
alternate, and the median of the turns counts. Then 50 threads at once with 100 ms of latency, and
peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from peers import Peer, installed_peers
from tables import table

HERE = Path(__file__).parent
CASES = ("text", "object", "tools")
CALLS_A_TURN = 100
THREADS, LATE_CALLS = 50, 500

# Ours divided by the openai package's; the typed object also by baml-py's.
TARGETS = {"text": 0.65, "object": 0.5, "tools": 0.4}


class Worker:
    """A peer's process."""

    def __init__(self, peer: Peer, url: str) -> None:
        paths = [str(HERE), str(HERE.parent), *map(str, peer.paths)]
        self.name = peer.name
        self.process = subprocess.Popen(
            [peer.python, str(HERE / "implementations" / peer.script), url],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.cases = self._line().split()

    def seconds(self, case: str, count: int, threads: int = 1) -> float:
        """How long so many calls take."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{case} {count} {threads}\n")
        self.process.stdin.flush()
        return float(self._line())

    def close(self) -> float:
        """Ends the process; gives its peak memory in MB."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        peak = int(self._line())
        self.process.wait()
        return peak / 1024

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended before its time")
        return line


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints a table, and writes JSON where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each peer (15)")
    options = parser.parse_args(arguments)
    with subprocess.Popen(
        [sys.executable, str(HERE / "fake_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        url = server.stdout.readline().strip()
        found = measured(url, options.rounds)
        server.stdin.close()
    print(report(found))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(url: str, rounds: int) -> dict[str, dict[str, float]]:
    """By peer: microseconds a call for each case, calls a second at once, and peak memory."""
    workers = [Worker(peer, url) for peer in installed_peers()]
    turns: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for case in CASES:
            for worker in workers:
                if case not in worker.cases:
                    continue
                seconds = worker.seconds(case, CALLS_A_TURN)
                if number:  # the first turn warms up
                    microseconds = seconds / CALLS_A_TURN * 1e6
                    turns.setdefault((worker.name, case), []).append(microseconds)
    found: dict[str, dict[str, float]] = {"server": {"text": round_trip(url)}}
    for worker in workers:
        figures = {case: median(turns[worker.name, case]) for case in CASES if case in worker.cases}
        worker.seconds("late", THREADS, THREADS)
        figures["calls a second"] = LATE_CALLS / worker.seconds("late", LATE_CALLS, THREADS)
        figures["peak MB"] = worker.close()
        found[worker.name] = figures
    return found


def round_trip(url: str, count: int = 2000) -> float:
    """Microseconds of one exchange over a bare socket: the server's ceiling."""
    import socket
    import time

    host, port = url.removeprefix("http://").split(":")
    body = json.dumps({"messages": []})
    request = (
        f"POST /text/v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    ).encode()
    with socket.create_connection((host, int(port))) as connection:
        started = time.perf_counter()
        for _ in range(count):
            connection.sendall(request)
            connection.recv(65536)
        return (time.perf_counter() - started) / count * 1e6


def report(found: dict[str, dict[str, float]]) -> str:
    """The figures as a table, then the ratios beside their targets."""
    columns = (*CASES, "calls a second", "peak MB")
    rows = [
        [name, *(f"{figures[c]:.0f}" if c in figures else "" for c in columns)]
        for name, figures in found.items()
    ]
    lines = [table(["µs a call", *columns], rows), ""]
    ours, package = found["ours"], found["openai"]
    for case, target in TARGETS.items():
        ratio = ours[case] / package[case]
        lines.append(f"{case}: ours / openai = {ratio:.2f} (target {target})")
    if "baml-py" in found:
        ratio = ours["object"] / found["baml-py"]["object"]
        lines.append(f"object: ours / baml-py = {ratio:.2f} (target 1.00)")
    lines.append(f"calls a second: {ours['calls a second']:.0f} (target 450, ideal 500)")
    lines.append(f"peak memory: {ours['peak MB']:.0f} MB (target 60)")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
