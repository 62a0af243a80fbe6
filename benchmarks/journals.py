"""A long journal: the time to open it, and the memory of the process that has it open."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from efforts import Effort
from figures import Figure
from peers import HERE, REPOSITORY, Peers
from workers import environment

from runtime_support._core.scopes import PromptKey
from runtime_support._journal.journal import Journal, RowKind

GROUP = "journals"
MOST_SECONDS = 1.0
MOST_MEGABYTES = 100

_OPEN = """
import sys, time
from worker import own_memory
from runtime_support import prompt, configure
configure(provider="mock")
prompt("what is loaded by a prompt does not count")
from runtime_support._journal.journal import Journal
started = time.process_time()
journal = Journal(sys.argv[1])
print(time.process_time() - started, own_memory("VmHWM") / 1024)
print(journal.kept)
"""


def measure(effort: Effort, _: Peers) -> Iterator[Figure]:
    """The seconds and the megabytes of the whole process."""
    count = effort.journal_entries
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.journal"
        _write(path, count)
        done = subprocess.run(
            [sys.executable, "-c", _OPEN, str(path)],
            env=environment(HERE, REPOSITORY),
            capture_output=True,
            text=True,
            check=True,
        )
    seconds, megabytes, kept = map(float, done.stdout.split())
    assert kept == count
    yield Figure(GROUP, f"open {count:,} entries", "s", seconds, at_most=MOST_SECONDS)
    yield Figure(GROUP, "the process then", "MB", megabytes, at_most=MOST_MEGABYTES)


def _write(path: Path, count: int) -> None:
    journal = Journal(str(path))

    def put(number: int) -> None:
        journal.put(PromptKey("", f"{number:016x}", "1:0"), RowKind.EXCHANGE, 0, _entry(number))

    with ThreadPoolExecutor(64) as pool:  # they share transactions
        for _ in pool.map(put, range(count)):
            pass
    journal.close("failed")


def _entry(number: int) -> dict[str, object]:
    return {
        "used": ["gpt-4o-mini", 120, 80],
        "hash": f"{number:016x}",
        "who": "openai gpt-4o-mini",
        "place": "triage.saft:12:5",
        "time": 1795317109.8,
        "ms": 812.0,
        "from": 0,
        "request": {"messages": [{"role": "user", "content": "a mail " * 50}]},
        "reply": {"text": "an answer " * 20, "tool_calls": [], "finish": "stop"},
    }
