"""A large CSV file through the builtins of tables, beside plain polars: time and peak memory.

    python benchmarks/large_csv.py            makes a file of 200 MB in a temporary folder
    python benchmarks/large_csv.py FILE       reads a file that is there

Reading, the figures of a column, and the summary that a prompt would have. Each run is a process of
its own, the turns alternate, and the median counts.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = 5
MEGABYTES = 200
CITIES = ("Oslo", "Rome", "Cairo", "Lima", "Kyoto")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--worker", choices=("plain", "ours"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker, arguments.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or make(Path(folder) / "large.csv")
        compare(file)


def compare(file: Path) -> None:
    """Prints the medians of both, and their ratios."""
    runs = {"plain": [], "ours": []}
    for _ in range(TURNS):
        for who, found in runs.items():
            command = [sys.executable, __file__, str(file), "--worker", who]
            found.append(json.loads(subprocess.check_output(command)))
    print(f"{file.stat().st_size / 1e6:.0f} MB, median of {TURNS} runs")
    print(f"{'':8} {'plain':>9} {'ours':>9} {'ratio':>6}")
    for what in runs["plain"][0]:
        plain, ours = (statistics.median(run[what] for run in runs[who]) for who in runs)
        print(f"{what:8} {plain:9.2f} {ours:9.2f} {ours / plain:6.2f}")


def work(who: str, file: Path) -> None:
    """One run: seconds and megabytes as JSON."""
    started = time.perf_counter()
    if who == "plain":
        import polars as pl

        table = pl.read_csv(file)
        read = time.perf_counter()
        table["price"].mean(), table["price"].max(), table["count"].sum(), table.head(8).rows()
    else:
        from runtime_support import ops
        from runtime_support.ops import to_json

        table = ops.read(str(file))
        read = time.perf_counter()
        ops.mean(table, "price"), ops.max(table, "price"), ops.sum(table, "count")
        assert len(to_json(table)) < 10_000
    done = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"read s": read - started, "all s": done - started, "peak MB": memory}))


def make(file: Path) -> Path:
    """A file of that many megabytes: integers, floats, texts, and some values that are empty."""
    random.seed(0)
    rows = [
        f"{n},{random.choice(CITIES)},{random.random() * 100:.4f},{random.randrange(1000)},"
        f"{'' if n % 50 == 0 else random.randrange(10)},2024-05-{n % 28 + 1:02},note number {n}\n"
        for n in range(20_000)
    ]
    block = "".join(rows)
    with file.open("w") as out:
        out.write("id,city,price,count,rating,day,note\n")
        for _ in range(MEGABYTES * 1_000_000 // len(block)):
            out.write(block)
    return file


if __name__ == "__main__":
    main()
