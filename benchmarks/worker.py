"""One peer in a process of its own, which runs what it is told.

A peer gives its cases, functions that make one call each, and serves:

    serve({"text": ask_for_text, "object": ask_for_object})

It reads lines `CASE COUNT THREADS` and answers each with the seconds that took; at the end of the
input it prints its peak memory.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor


def serve(cases: Mapping[str, Callable[[], object]]) -> None:
    """Runs cases as standard input says."""
    print(" ".join(cases), flush=True)
    for line in sys.stdin:
        name, count, threads = line.split()
        print(_seconds(cases[name], int(count), int(threads)), flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)


def _seconds(case: Callable[[], object], count: int, threads: int) -> float:
    if threads == 1:
        started = time.perf_counter()
        for _ in range(count):
            case()
        return time.perf_counter() - started
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        for done in [pool.submit(case) for _ in range(count)]:
            done.result()
        return time.perf_counter() - started
