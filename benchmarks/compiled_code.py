"""What saftc writes against what one would write by hand, on scripts that need no model.

In `scripts/`, `NAME.saft` has its types, in `NAME_any.saft` nothing is proved, and `NAME.py` is
written by hand. All three give the same for the same argument; they take turns. Some scripts are
written without annotations: their types come from their calls, and there is no other form of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from efforts import Effort
from figures import Figure
from peers import HERE, REPOSITORY, Peers

GROUP = "compiled code"
SCRIPTS = HERE / "scripts"
WORDS = "Bright brown foxes jump over lazy dogs, for no reason, to and fro, e,v,e and a,b,a "

# What `work` gets; chosen so that each takes some milliseconds.
ARGUMENTS: dict[str, Any] = {
    "recursion": 18,
    "loops": 80,
    "text": WORDS * 120,
    "objects": 4000,
    "comprehension": 100,
    "values": 20_000,
}
# The same for the scripts without annotations.
BARE_ARGUMENTS: dict[str, Any] = {
    "distances": 100,
    "report": 2000,
    "words": WORDS * 120,
    "growing": 10_000,
    "tree": 300,
}


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The time of `work`, with types and without."""
    sys.path.insert(0, str(REPOSITORY))  # ours is what stands here, whatever is installed
    for name, argument in ARGUMENTS.items():
        others = {"typed": (f"{name}.saft", 1.05), "untyped": (f"{name}_any.saft", 6.0)}
        yield from _compared(effort, name, argument, others)
    for name, argument in BARE_ARGUMENTS.items():
        others = {"without annotations": (f"{name}.saft", 1.1)}
        yield from _compared(effort, name, argument, others)
    yield _growth(effort, BARE_ARGUMENTS["growing"])


def _growth(effort: Effort, fewer: int) -> Figure:
    """What an item costs where ten times as many are built: growing in place is linear."""
    few = fewer if effort.code_scale == 1 else 10
    work, turns = _compiled(SCRIPTS / "growing.saft"), max(1, effort.code_turns // 4)
    an_item = {
        count: _milliseconds({"ours": work}, count, turns)["ours"] * 1000 / count
        for count in (few, few * 10)
    }
    name = f"growing, an item of {fewer * 10} beside one of {fewer}"
    before = {f"of {fewer}": an_item[few]}
    # Linear, but for what grows with the memory that a process uses.
    return Figure(GROUP, name, "µs", an_item[few * 10], before, f"of {fewer}", at_most=3)


def _compared(
    effort: Effort, name: str, argument: Any, others: Mapping[str, tuple[str, float]]
) -> Iterator[Figure]:
    """A figure for each of the other scripts, with the most that it may take."""
    reduced = argument[: len(WORDS)] if isinstance(argument, str) else 10
    given = argument if effort.code_scale == 1 else reduced
    works = {"by hand": _loaded(SCRIPTS / f"{name}.py")}
    works |= {kind: _compiled(SCRIPTS / file) for kind, (file, _) in others.items()}
    results = {kind: work(given) for kind, work in works.items()}
    assert all(result == results["by hand"] for result in results.values()), (name, results)
    found = _milliseconds(works, given, effort.code_turns)
    by_hand = {"by hand": found["by hand"]}
    for kind, (_, at_most) in others.items():
        what = f"{name}, {kind}"
        yield Figure(GROUP, what, "ms", found[kind], by_hand, "by hand", at_most=at_most)


def _milliseconds(
    works: dict[str, Callable[[Any], Any]], given: Any, turns: int
) -> dict[str, float]:
    """The median of the processor's time for one call of each."""
    times: dict[str, list[float]] = {kind: [] for kind in works}
    for turn in range(turns):
        # Each is as often the first as the last.
        for kind, work in list(works.items())[:: 1 if turn % 2 else -1]:
            started = time.process_time()
            work(given)
            times[kind].append((time.process_time() - started) * 1000)
    return {kind: median(found) for kind, found in times.items()}


def _compiled(path: Path) -> Callable[[Any], Any]:
    from saftc.driver import compile_source
    from saftc.source import Source

    compiled = compile_source(Source.from_bytes(path.name, path.read_bytes()))
    assert compiled.text is not None, compiled.checked.diagnostics
    return _executed(compiled.text, path)


def _loaded(path: Path) -> Callable[[Any], Any]:
    return _executed(path.read_text(encoding="utf-8"), path)


def _executed(text: str, path: Path) -> Callable[[Any], Any]:
    """The function `work` of a module; dataclasses ask for a module of their class's name."""
    name = f"benchmark_{path.name.replace('.', '_')}"
    module = type(sys)(name)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module.work
