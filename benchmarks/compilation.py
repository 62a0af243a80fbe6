"""One compilation in this process, for `compiling.py`: the processor's seconds, and the memory.

    python benchmarks/compilation.py 1000       {"parse": 0.05, "infer": ..., "peak MB": ...}

"emit" is without the time that black takes.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from generated import script

from saftc import driver
from saftc.codegen import layout, module
from saftc.source import Source


def main() -> None:
    """Prints what the compilation of a script of so many lines took, as JSON."""
    lines = int(sys.argv[1])
    text = script(lines)
    assert text.count("\n") == lines
    spent = {"parse": 0.0, "infer": 0.0, "emit": 0.0, "black": 0.0}
    _watch(driver, "parse", spent, "parse")
    _watch(driver, "analyze", spent, "infer")
    _watch(module, "generate", spent, "emit")
    _watch(layout, "formatted", spent, "black")
    _compile(script(80))
    spent.update(dict.fromkeys(spent, 0.0))
    _compile(text)
    spent["emit"] -= spent["black"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**spent, "peak MB": peak}))


def _compile(text: str) -> None:
    compiled = driver.compile_source(Source.from_text("generated.saft", text))
    found = compiled.checked.diagnostics
    assert compiled.text is not None and not found, found[:3]


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
