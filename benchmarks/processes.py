"""Whole processes: how long they take from outside."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and in which surroundings."""

    words: Sequence[str]
    environment: Mapping[str, str]
    folder: Path


def milliseconds(commands: Mapping[str, Command], turns: int) -> dict[str, float]:
    """The median time of each command; they take turns, after one that warms up.

    Without turns, the warming up itself is what is timed.
    """
    found: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(turns + 1):
        for name, command in commands.items():
            seconds = run(command)
            if turn or not turns:
                found[name].append(seconds * 1000)
    return {name: median(times) for name, times in found.items()}


def run(command: Command) -> float:
    """The seconds of one run; it has to succeed."""
    started = time.perf_counter()
    done = subprocess.run(
        list(command.words),
        env=dict(command.environment),
        cwd=command.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command.words)} ended with {done.returncode}")
    return seconds
