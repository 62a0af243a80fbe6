"""How much is measured: all of it, or as little as shows that everything works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """`turns` alternate between the peers; latencies are in seconds."""

    turns: int
    calls_a_turn: int
    threads: int
    calls_at_once: int
    process_turns: int
    lines: tuple[int, ...]
    lines_of_loops: tuple[int, ...]
    lines_of_builds: tuple[int, ...]
    compilations: int
    unchanged_files: int
    code_turns: int
    code_scale: float
    calls_of_programs: tuple[int, ...]
    latency: float
    results_held: int
    storm: tuple[int, int]
    awaited_together: int
    journal_entries: int
    lines_of_edits: int
    edits: int
    rows: tuple[int, int]
    row_latencies: tuple[float, float]
    row_turns: int
    bare_rounds: int


FULL = Effort(
    turns=50,
    calls_a_turn=30,
    threads=50,
    calls_at_once=2000,
    process_turns=11,
    lines=(100, 1_000, 10_000),
    lines_of_loops=(500, 1_000, 4_000),
    lines_of_builds=(10, 100, 1_000),
    compilations=3,
    unchanged_files=200,
    code_turns=40,
    code_scale=1.0,
    calls_of_programs=(1, 4, 16),
    latency=0.2,
    results_held=10_000,
    storm=(1000, 100),
    awaited_together=1000,
    journal_entries=200_000,
    lines_of_edits=1_000,
    edits=20,
    rows=(20_000, 100_000),
    row_latencies=(0.1, 1.0),
    row_turns=30,
    bare_rounds=30,
)
QUICK = Effort(
    turns=1,
    calls_a_turn=2,
    threads=2,
    calls_at_once=2,
    process_turns=0,
    lines=(100,),
    lines_of_loops=(100, 200),
    lines_of_builds=(10,),
    compilations=1,
    unchanged_files=2,
    code_turns=1,
    code_scale=0.1,
    calls_of_programs=(2,),
    latency=0.002,
    results_held=10,
    storm=(4, 2),
    awaited_together=4,
    journal_entries=20,
    lines_of_edits=150,
    edits=1,
    rows=(20, 20),
    row_latencies=(0.002, 0.004),
    row_turns=0,
    bare_rounds=1,
)
