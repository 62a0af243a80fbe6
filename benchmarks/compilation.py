"""One compilation in this process, for `compiling.py`: the processor's seconds, and the memory.

    python benchmarks/compilation.py 1000       {"parse": 0.05, ..., "edit": 0.2, "peak MB": ...}
    python benchmarks/compilation.py loops 1000     {"plan": 0.2}

"plan" finds what overlaps, "emit" makes the nodes of libcst, "libcst" their text, and "black" lays
it out, with nothing remembered. "edit" is the whole compilation of the same script with another
number in one line, in the process that has compiled it before, as `saftc build --watch` does it.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from generated import LOOPS, script
from worker import own_memory

from saftc import driver
from saftc.codegen import layout, module
from saftc.overlap import plan
from saftc.source import Source

PHASES = ("parse", "infer", "plan", "emit", "libcst", "black")


def main() -> None:
    """Prints what the compilation of a script of so many lines took, as JSON."""
    lines = int(sys.argv[-1])
    if sys.argv[1] == "loops":
        _loops(lines)
        return
    text = script(lines)
    assert text.count("\n") == lines
    spent = dict.fromkeys(PHASES, 0.0)
    forget = layout._black.cache_clear
    _watch(driver, "parse_with_tokens", spent, "parse")
    _watch(driver, "analyze", spent, "infer")
    _watch(plan, "plan", spent, "plan")
    _watch(module, "generate", spent, "emit")
    _watch(layout, "formatted", spent, "libcst")
    _watch(layout, "_black", spent, "black")
    _compile(script(80))
    forget()
    spent.update(dict.fromkeys(spent, 0.0))
    _compile(text)
    # Each holds the next.
    phases = {**spent, "emit": spent["emit"] - spent["libcst"]}
    phases["libcst"] -= spent["black"]
    peak = own_memory("VmHWM") / 1024
    started = time.process_time()
    _compile(_edited(text))
    edit = time.process_time() - started
    print(json.dumps({**phases, "edit": edit, "peak MB": peak}))


def _loops(lines: int) -> None:
    """Prints what the plan of a script of so many lines took, which is all loops that ask."""
    checked = driver.check(Source.from_text("loops.saft", script(lines, LOOPS)))
    assert not checked.diagnostics, checked.diagnostics[:3]
    started = time.process_time()
    found = plan.plan(checked.facts)
    seconds = time.process_time() - started
    assert len(found.loops) > lines // 12
    print(json.dumps({"plan": seconds}))


def _edited(text: str) -> str:
    """The script with another number in a line near its middle."""
    line = re.compile(r"^(    seen = 0|    sum_so_far = 0)$", re.MULTILINE)
    places = [match.end() - 1 for match in line.finditer(text)]
    place = places[len(places) // 2]
    return f"{text[:place]}1{text[place + 1 :]}"


def _compile(text: str) -> None:
    compiled = driver.compile_source(Source.from_text("generated.saft", text))
    wrong = compiled.checked.diagnostics
    assert compiled.text is not None and not wrong, wrong[:3]


def _watch(home: ModuleType, name: str, spent: dict[str, float], phase: str) -> None:
    """Has the time that a function takes added to a phase."""
    function: Callable[..., Any] = getattr(home, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[phase] += time.process_time() - started

    setattr(home, name, watched)


if __name__ == "__main__":
    main()
