"""All benchmarks: one table, and the same as JSON.

    python benchmarks/run.py [--quick] [--alone] [--json FILE] [GROUP ...]

See README.md beside this file for what the groups are.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import compiled_code
import compiling
import editing
import journals
import loops
import maps
import memory
import overhead
import overlaps
import programs
import startup
import storms
import streams
from efforts import FULL, QUICK, Effort
from figures import Figure, table
from peers import Peers, installed_peers, ours

Measure = Callable[[Effort, Peers], Iterable[Figure]]
GROUPS: dict[str, Measure] = {
    "overhead": overhead.measure,
    "startup": startup.measure,
    "compiling": compiling.measure,
    "code": compiled_code.measure,
    "programs": programs.measure,
    "memory": memory.measure,
    "overlap": overlaps.measure,
    "storms": storms.measure,
    "streams": streams.measure,
    "loop": loops.measure,
    "journals": journals.measure,
    "map": maps.measure,
    "editing": editing.measure,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints the table, and writes JSON where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all")
    parser.add_argument("--quick", action="store_true", help="only show that everything works")
    parser.add_argument("--alone", action="store_true", help="without peers")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        parser.error(f"no group {', '.join(sorted(unknown))}")
    started = time.perf_counter()
    peers = Peers({"ours": ours()}) if options.alone else installed_peers()
    effort = QUICK if options.quick else FULL
    figures: list[Figure] = []
    for name in options.groups or GROUPS:
        print(f"measuring {name} ...", file=sys.stderr)
        figures += GROUPS[name](effort, peers)
    machine = (
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )
    print(table(figures))
    print(f"\n{machine}; {time.perf_counter() - started:.0f} s")
    for note in peers.notes:
        print(note)
    if options.json is not None:
        data = {"machine": machine, "notes": peers.notes, "figures": [f.data() for f in figures]}
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        options.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
