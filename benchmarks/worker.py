"""One peer in a process of its own, which does what it is told.

A peer gives its cases, functions that make one call each, and serves; those that are gathered are
async:

    serve({"text": ask_for_text, "object": ask_for_object})

It reads lines and answers each with one number:

    time CASE COUNT             the seconds that so many calls take, one after the other
    crowd CASE COUNT THREADS    the same, from so many threads at once, each with its part
    storm CASE COUNT THREADS    how many of these calls fail, from so many threads at once
    lasted CASE                 the seconds of the last storm
    gather CASE COUNT           the seconds that so many calls take which one event loop awaits
    lag CASE COUNT              the median of the seconds that so many calls give
    hold CASE COUNT             the process's memory in kB, with the results of so many calls kept

At the end of the input it prints its peak memory in kB.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median
from typing import Literal

Case = Callable[[], object]


def _nothing(case: str) -> None:
    """Most peers need not be told of what comes next."""


def serve(cases: Mapping[str, Case], prepare: Callable[[str], None] = _nothing) -> None:
    """Does what standard input says; `prepare` is called with the name of a case before it."""
    print(" ".join(cases), flush=True)
    for line in sys.stdin:
        what, name, *numbers = line.split()
        prepare(name)
        print(_COMMANDS[what](cases[name], *map(int, numbers)), flush=True)
    print(own_memory("VmHWM"), flush=True)


def own_memory(what: Literal["VmRSS", "VmHWM"]) -> int:
    """The memory in kB that this process has, or the most that it has had.

    Elsewhere than on Linux it is what `getrusage` says. There, that is no less than the most that
    the process has had which started this one.
    """
    try:
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith(what))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(line.split()[1])


def _time(case: Case, count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        case()
    return time.perf_counter() - started


def crowd(case: Case, count: int, threads: int) -> float:
    """The seconds of so many calls from so many threads, each with its part."""
    begin, end = threading.Barrier(threads + 1), threading.Barrier(threads + 1)

    def ask() -> None:
        case()  # its connection is there before the time counts
        begin.wait()
        for _ in range(count // threads):
            case()
        end.wait()

    asking = [threading.Thread(target=ask, daemon=True) for _ in range(threads)]
    for thread in asking:
        thread.start()
    begin.wait()
    started = time.perf_counter()
    end.wait()
    return time.perf_counter() - started


def _gather(case: Callable[[], Awaitable[object]], count: int) -> float:
    async def main() -> float:
        await case()  # what is imported and made once is there before the time counts
        started = time.perf_counter()
        await asyncio.gather(*(case() for _ in range(count)))
        return time.perf_counter() - started

    return asyncio.run(main())


_lasted = 0.0


def _storm(case: Case, count: int, threads: int) -> int:
    global _lasted
    failed: list[Exception] = []

    def ask() -> None:
        for _ in range(count // threads):
            try:
                case()
            except Exception as error:
                failed.append(error)

    started = time.perf_counter()
    asking = [threading.Thread(target=ask, daemon=True) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    _lasted = time.perf_counter() - started
    return len(failed)


def _lag(case: Case, count: int) -> float:
    return median(float(str(case())) for _ in range(count))


def _last(_: Case) -> float:
    return _lasted


def _hold(case: Case, count: int) -> int:
    held = [case() for _ in range(count)]
    gc.collect()
    kilobytes = own_memory("VmRSS")
    assert len(held) == count
    return kilobytes


_COMMANDS: dict[str, Callable[..., float]] = {"time": _time, "crowd": crowd, "hold": _hold}
_COMMANDS |= {"lag": _lag, "gather": _gather, "storm": _storm, "lasted": _last}
