"""Random scripts print, write, fail and ask the same with overlap and without."""

from __future__ import annotations

import os

import pytest

from tests.overlap.comparing import Unsuitable, checked, compare
from tests.overlap.scripts import counting_script, script

pytestmark = pytest.mark.heavy

# `make oracle` compares many more.
COUNT = int(os.environ.get("SAFT_OVERLAP_SCRIPTS", "200"))
# Those of them that another run has compared.
BEFORE = int(os.environ.get("SAFT_OVERLAP_BEFORE", "0"))
_CHUNK = 25


@pytest.mark.parametrize("failing", [0, 8], ids=["all answered", "some failing"])
@pytest.mark.parametrize("start", range(BEFORE // 2, COUNT // 2, _CHUNK))
def test_scripts_do_the_same(start: int, failing: int) -> None:
    overlapped = 0
    for seed in range(start, start + _CHUNK):
        try:
            overlapped += compare(checked(script(seed + 10_000 * bool(failing))), seed, failing)
        except Unsuitable:
            continue
    assert overlapped > _CHUNK // 4


@pytest.mark.parametrize("failing", [0, 4], ids=["all answered", "some failing"])
def test_scripts_that_count_do_the_same(failing: int) -> None:
    overlapped = 0
    for seed in range(BEFORE // 4, max(COUNT // 4, 25)):
        overlapped += compare(checked(counting_script(seed)), seed, failing)
    assert overlapped > 10
