"""The parts of saftc that a user may put together, and which pairs of them are tried by what.

    @meet("map", "journal")
    def test_a_job_that_was_killed_goes_on(home): ...

A test of three parts tries all three pairs of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeVar

PARTS = (
    *("map", "journal", "overlap", "try", "replay", "serve", "approve", "notebook", "import"),
    *("package", "async", "budget", "stream", "mcp", "program", "after", "pydantic", "fork"),
)
Pair = frozenset[str]
Test = TypeVar("Test", bound=Callable[..., Any])

# The tests that try a pair, by their names.
TRIED: dict[Pair, list[str]] = {}

# The pairs that nobody can put together, or that add nothing to what other tests try, and why.
EXCUSED = {
    "map x serve": "a server offers functions of a script, and only Python can start a job",
    "serve x notebook": "a server loads the file of a script; cells are in no file",
}
MOST_EXCUSES = 50


def pair(one: str, other: str) -> Pair:
    """A pair of two parts that there are."""
    made = frozenset((one, other))
    assert len(made) == 2 and made <= set(PARTS), (one, other)
    return made


def meet(*parts: str) -> Callable[[Test], Test]:
    """Says that a test tries each pair of these parts."""

    def note(test: Test) -> Test:
        for one, other in combinations(parts, 2):
            TRIED.setdefault(pair(one, other), []).append(f"{test.__module__}::{test.__name__}")
        return test

    return note
