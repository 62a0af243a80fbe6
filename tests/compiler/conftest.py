"""The modules that all scripts of the project compile to, made once."""

import gc
from collections.abc import Mapping
from functools import cache

import pytest

from saftc.driver import Compiled
from tests.compiler.support import (
    GOLDENS,
    compile_file,
    compiled_cases,
    examples,
    supported_goldens,
)


@cache
def _modules() -> dict[str, Compiled]:
    found = {f"cases/{case.name}": case.compile() for case in compiled_cases()}
    for case in compiled_cases():
        for sibling in case.siblings():
            found[f"cases/{case.name}/{sibling.stem}"] = compile_file(sibling, case.overlapping)
    for name in supported_goldens():
        found[f"goldens/{name}"] = compile_file(GOLDENS / f"{name}.saft")
    for path in examples():
        found[f"examples/{path.stem}"] = compile_file(path)
    # They stay until the end: no collection need go through their trees.
    gc.freeze()
    return found


@pytest.fixture(scope="session")
def modules() -> Mapping[str, Compiled]:
    """Every script that compiles, by its name: cases, goldens, examples."""
    return _modules()
