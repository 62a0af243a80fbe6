"""Compiling scripts of 100, 1,000 and 10,000 lines, and saftc's commands as whole processes.

What is measured by phase is in a process of its own, which has compiled a short script before.
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
PHASES = ("parse", "infer", "plan", "emit", "libcst", "black")
UNCHANGED = HERE / "starts" / "proved.saft"


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """Lines a second, where the time goes, memory, an edit; then builds as processes."""
    a_line: dict[int, float] = {}
    for lines in effort.lines:
        times = effort.compilations if lines < 10_000 else 1
        runs = [_compilation(lines) for _ in range(times)]
        took = {name: median(run[name] for run in runs) for name in runs[0]}
        seconds = sum(took[phase] for phase in PHASES)
        a_line[lines] = seconds / lines
        yield Figure(GROUP, f"{lines} lines", "lines/s", lines / seconds)
        for phase in PHASES:
            yield Figure(GROUP, f"{lines} lines, of which {phase}", "ms", took[phase] * 1000)
        anew, what = {"anew": seconds * 1000}, f"{lines} lines, one of them edited"
        yield Figure(GROUP, what, "ms", took["edit"] * 1000, anew, "anew", at_most=0.5)
        yield Figure(GROUP, f"{lines} lines, peak memory", "MB", took["peak MB"])
    for fewer, more in zip(effort.lines, effort.lines[1:], strict=False):
        name = f"a line of {more} beside a line of {fewer}"
        mine, before = a_line[more] * 1e6, {f"of {fewer}": a_line[fewer] * 1e6}
        # Linear, but for what grows with the memory that a process uses.
        yield Figure(GROUP, name, "µs", mine, before, f"of {fewer}", at_most=1.25)
    yield from _plans(effort)
    with tempfile.TemporaryDirectory() as name:
        yield from _processes(effort, Path(name))


def _plans(effort: Effort) -> Iterator[Figure]:
    """What a line takes to be planned, where the lines are loops that ask, below each other."""
    a_line: dict[int, float] = {}
    for lines in effort.lines_of_loops:
        runs = [_compilation(lines, "loops")["plan"] for _ in range(effort.compilations)]
        a_line[lines] = median(runs) * 1e6 / lines
        yield Figure(GROUP, f"{lines} lines of loops, their plan", "ms", median(runs) * 1000)
    for fewer, more in zip(effort.lines_of_loops, effort.lines_of_loops[1:], strict=False):
        name = f"the plan of a line of {more} beside one of {fewer}"
        before = {f"of {fewer}": a_line[fewer]}
        yield Figure(GROUP, name, "µs", a_line[more], before, f"of {fewer}", at_most=1.25)


def _compilation(lines: int, *words: str) -> dict[str, float]:
    command = [sys.executable, str(HERE / "compilation.py"), *words, str(lines)]
    done = subprocess.run(
        command, env=environment(REPOSITORY), check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def _processes(effort: Effort, folder: Path) -> Iterator[Figure]:
    settings = {**environment(REPOSITORY), "SAFT_CACHE_DIR": str(folder / "cache")}

    def saftc(*words: str) -> Command:
        return Command([sys.executable, "-m", "saftc", *words], settings, folder)

    for lines in effort.lines_of_builds:
        (folder / f"of{lines}.saft").write_text(script(lines), encoding="utf-8")
    commands = {
        "nothing": Command([sys.executable, "-c", "pass"], settings, folder),
        **{
            f"build {lines}": saftc("--no-cache", "build", f"of{lines}.saft", "-o", "-")
            for lines in effort.lines_of_builds
        },
        "run": saftc("run", str(UNCHANGED)),
        "run anew": saftc("--no-cache", "run", str(UNCHANGED)),
    }
    run(commands["run"])
    took = milliseconds(commands, effort.process_turns)
    python, against = {"python -c pass": took["nothing"]}, "python -c pass"
    for lines in effort.lines_of_builds:
        what = f"build of {lines} lines without the cache"
        yield Figure(GROUP, what, "ms", took[f"build {lines}"], python, against)
    anew = {"without the cache": took["run anew"], **python}
    what = "run of an unchanged script"
    yield Figure(GROUP, what, "ms", took["run"], anew, "without the cache", at_most=0.5)
    files = [f"part{number}.saft" for number in range(effort.unchanged_files)]
    for file in files:
        (folder / file).write_text(script(50), encoding="utf-8")
    build = saftc("build", *files)
    seconds = run(build)
    again = milliseconds({"again": build}, min(effort.process_turns, 5))["again"] / 1000
    what = f"build of {len(files)} unchanged files"
    yield Figure(GROUP, what, "s", again, {"the first time": seconds}, at_most=0.5)
