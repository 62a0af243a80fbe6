"""A function over the rows of a table: rows a second and memory, in this process and with Dask.

Each run is a process of its own (`implementations/rows.py`), against a server that answers late.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from efforts import Effort
from figures import Figure
from peers import HERE, REPOSITORY, Peers
from workers import environment, fake_server

GROUP = "map"
IN_FLIGHT = 64
WORKERS = {"one process": 0, "two workers": 2}
LEAST_OF_IDEAL = 0.9
MOST_GROWTH = 50
MOST_OF_LOOP = 1.2
LOOP_TURNS = 3
_MAIL = "Hello, my card was charged twice for invoice {0}. Please refund one payment. " * 6


class _Run(NamedTuple):
    """Rows a second, and the peak memory in MB of the process and of its largest worker."""

    rate: float
    memory: float
    of_worker: float


def measure(effort: Effort, _: Peers) -> Iterator[Figure]:
    """Rows a second beside the same by hand, the server's ceiling and the ideal; the memory."""
    few, *_, many = effort.rows
    late, later = effort.row_latencies
    with tempfile.TemporaryDirectory() as folder, fake_server() as url:
        place = Path(folder)
        yield _beside_a_loop(place, _late(url, 0), effort)
        for name, workers in WORKERS.items():
            at_once = IN_FLIGHT * max(1, workers)
            address, ideal = _late(url, late), at_once / late
            server = asyncio.run(_ceiling(address, at_once, effort.bare_rounds))
            by_hand = _run(place, "hand", address, few, workers).rate
            runs = {rows: _run(place, "ours", address, rows, workers) for rows in (few, many)}
            for rows, found in runs.items():
                beside = {"by hand": by_hand} if rows == few else {}
                beside |= {"server": server, "ideal": ideal}
                about = f"{rows:,} rows, {late * 1000:g} ms, {name}"
                yield Figure(GROUP, about, "rows/s", found.rate, beside)
            yield from _memory(name, runs[few], runs[many], few, many)
            if not effort.row_turns:
                continue  # the same again, for longer
            ideal = at_once / later
            # So many turns that the first and the last ones, which are not full, hardly count.
            rows = at_once * effort.row_turns
            found = _run(place, "ours", _late(url, later), rows, workers)
            about = f"{rows:,} rows, {later:g} s, {name}"
            beside = {"ideal": ideal}
            yield Figure(
                GROUP, about, "rows/s", found.rate, beside, "ideal", at_least=LEAST_OF_IDEAL
            )


def _beside_a_loop(place: Path, address: str, effort: Effort) -> Figure:
    """What rows cost where the model takes no time, beside a loop with as many threads."""
    rows = min(1_000, effort.rows[0])
    seconds = {
        kind: min(rows / _run(place, kind, address, rows, 0).rate for _ in range(LOOP_TURNS))
        for kind in ("ours", "loop")
    }
    about, beside = f"{rows:,} rows, 0 ms", {"a loop with a journal": seconds["loop"]}
    ours = seconds["ours"]
    return Figure(GROUP, about, "s", ours, beside, "a loop with a journal", at_most=MOST_OF_LOOP)


def _memory(name: str, one: _Run, other: _Run, few: int, many: int) -> Iterator[Figure]:
    yield Figure(GROUP, f"peak memory, {many:,} rows, {name}", "MB", other.memory)
    if other.of_worker:
        yield Figure(GROUP, "of which a worker beside it", "MB", other.of_worker)
    growth = max(0.0, other.memory - one.memory, other.of_worker - one.of_worker)
    about = f"more of it than for {few:,} rows"
    yield Figure(GROUP, about, "MB", growth, at_most=MOST_GROWTH)


def _late(url: str, seconds: float) -> str:
    return f"{url}/after-{round(seconds * 1000)}/v1"


def _run(place: Path, kind: str, address: str, rows: int, workers: int) -> _Run:
    """One run, over a table that is made for it."""
    table, out = place / f"{rows}.jsonl", tempfile.mkdtemp(dir=place)
    if not table.exists():
        with table.open("w", encoding="utf-8") as file:
            for number in range(rows):
                file.write(json.dumps({"id": number, "mail": _MAIL.format(number)}) + "\n")
    script = HERE / "implementations" / "rows.py"
    words = [kind, address, str(table), f"{out}/parts", str(workers), str(IN_FLIGHT)]
    done = subprocess.run(
        [sys.executable, str(script), *words],
        env={**environment(HERE, REPOSITORY), "OPENAI_API_KEY": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    seconds, own, of_worker = map(float, done.stdout.split())
    return _Run(rows / seconds, own / 1024, of_worker / 1024 if workers else 0.0)


async def _ceiling(address: str, at_once: int, rounds: int) -> float:
    """Requests a second of bare sockets, so many at once, each for so many rounds."""
    place = urlsplit(address)
    body = b'{"response_format": {}, "messages": "' + b"x" * 800 + b'"}'
    head = f"POST {place.path}/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
    request = head.encode() + body

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        for _ in range(rounds):
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(at_once)))
    return at_once * rounds / (time.perf_counter() - started)
