"""Scripts never send more requests than their bounds say, and those without branches just as many.

The servers answer wrongly until the last repair and use every round and call, or do anything.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from tests.bounds.asking import MOST, Server, bound_of, checked, is_known, run, value_of
from tests.bounds.scripts import script
from tests.overlap import comparing
from tests.overlap.scripts import script as overlapping_script

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

# `make oracle` compares many more.
COUNT = int(os.environ.get("SAFT_BOUNDS_SCRIPTS", "60"))
_CHUNK = 20
_XS = ["a", "b"]


def differences(seed: int, *, plain: bool, turning: bool = False) -> tuple[int, list[str]]:
    """How many runs of a script were compared, and in which it asked otherwise than its bound."""
    text = script(seed, plain=plain, turning=turning)
    known = checked(text)
    bound, number = bound_of(known), seed % 3
    if bound.reasons:
        # A model says how long a list is that a function goes over, or a counter does not count.
        is_expected = (
            "is known only when" in one.words or "`while`" in one.words for one in bound.reasons
        )
        assert all(is_expected), text
        return 0, []
    most = value_of(bound, len(_XS), number)
    if value_of(bound, len(_XS), number, longest=6) > MOST:
        return 0, []
    found: list[str] = []
    servers = [Server(), Server(Random(seed))]
    for server in servers:
        asked = run(known, server, _XS, number, is_async=seed % 3 == 0)
        if asked > most:
            found.append(f"{asked} requests, and the bound {bound.text} is {most}\n{text}")
        is_tight = plain and server.random is None and is_known(bound)
        if is_tight and asked < most:
            found.append(f"{asked} requests only, and {bound.text} is {most}\n{text}")
    return len(servers), found


@pytest.mark.parametrize("plain", [True, False], ids=["without branches", "all kinds"])
@pytest.mark.parametrize("start", range(0, COUNT // 2, _CHUNK))
def test_bounds_hold(start: int, plain: bool) -> None:
    compared = 0
    for seed in range(start, start + _CHUNK):
        count, found = differences(seed, plain=plain)
        assert not found, found[0]
        compared += count
    assert compared > _CHUNK // 2


@pytest.mark.parametrize("plain", [True, False], ids=["without branches", "all kinds"])
@pytest.mark.parametrize("start", range(0, COUNT // 2, _CHUNK))
def test_bounds_of_while_hold(start: int, plain: bool) -> None:
    compared = 0
    for seed in range(start, start + _CHUNK):
        count, found = differences(seed, plain=plain, turning=True)
        assert not found, found[0]
        compared += count
    # Many counters are not written as docs/cost.md says.
    assert compared > _CHUNK // 4


@pytest.mark.parametrize("start", range(0, COUNT // 2, _CHUNK))
def test_scripts_that_overlap_and_fail(start: int) -> None:
    """What runs ahead, and again where a file was read too early, is in the bound as well."""
    compared = 0
    for seed in range(start, start + _CHUNK):
        try:
            known = comparing.checked(overlapping_script(seed))
            bound = ProgramBounds(
                known.main.facts, known.main.source, project_limits()
            ).program.bound
            if bound.reasons:
                continue
            ran = comparing.run_overlapped(known, seed, 8 * (seed % 2), 3)
        except comparing.Unsuitable:
            continue
        compared += 1
        assert ran.asked.total() <= value_of(bound, 0, 0), known.main.source.text
    assert compared
