"""Compiling scripts of 100, 1,000 and 10,000 lines: time by phase, memory, growth.

Each compilation is in a process of its own, which has compiled a short script before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from efforts import Effort
from figures import Figure
from generated import script
from peers import HERE, REPOSITORY, Peers
from processes import Command, milliseconds, run
from workers import environment

GROUP = "compiling"
PHASES = ("parse", "infer", "emit", "black")


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """Lines a second, where the time goes, memory, and a build where nothing has changed."""
    a_line: dict[int, float] = {}
    for lines in effort.lines:
        times = effort.compilations if lines < 10_000 else 1
        runs = [_compilation(lines) for _ in range(times)]
        found = {name: median(run[name] for run in runs) for name in runs[0]}
        seconds = sum(found[phase] for phase in PHASES)
        a_line[lines] = seconds / lines
        yield Figure(GROUP, f"{lines} lines", "lines/s", lines / seconds, at_least=3_000)
        without = lines / (seconds - found["black"])
        yield Figure(GROUP, f"{lines} lines, without black", "lines/s", without, at_least=10_000)
        for phase in PHASES:
            yield Figure(GROUP, f"{lines} lines, of which {phase}", "ms", found[phase] * 1000)
        yield Figure(GROUP, f"{lines} lines, peak memory", "MB", found["peak MB"])
    for fewer, more in zip(effort.lines, effort.lines[1:], strict=False):
        name = f"a line of {more} beside a line of {fewer}"
        mine, before = a_line[more] * 1e6, {f"of {fewer}": a_line[fewer] * 1e6}
        # Linear, but for what grows with the memory that a process uses.
        yield Figure(GROUP, name, "µs", mine, before, f"of {fewer}", at_most=1.25)
    yield _unchanged(effort)


def _compilation(lines: int) -> dict[str, float]:
    command = [sys.executable, str(HERE / "compilation.py"), str(lines)]
    done = subprocess.run(
        command, env=environment(REPOSITORY), check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def _unchanged(effort: Effort) -> Figure:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [f"part{number}.saft" for number in range(effort.unchanged_files)]
        for file in files:
            (folder / file).write_text(script(50), encoding="utf-8")
        settings = {**environment(REPOSITORY), "XDG_CACHE_HOME": str(folder / "cache")}
        build = Command([sys.executable, "-m", "saftc", "build", *files], settings, folder)
        seconds, _ = run(build)
        took = milliseconds({"again": build}, min(effort.process_turns, 5))["again"] / 1000
    what = f"build of {len(files)} unchanged files"
    return Figure(GROUP, what, "s", took, {"the first time": seconds}, at_most=0.5)
