"""Each pair of parts is tried, or there is a reason why it is not."""

from __future__ import annotations

from itertools import combinations

from tests.meet import test_environment, test_hosts, test_nested, test_pairs
from tests.meet.table import EXCUSED, MOST_EXCUSES, PARTS, TRIED, pair

# These have filled the table.
assert test_environment and test_hosts and test_nested and test_pairs


def test_each_pair_is_tried_or_excused() -> None:
    pairs = {pair(*two) for two in combinations(PARTS, 2)}
    excused = {pair(*two.split(" x ")) for two in EXCUSED}
    assert len(pairs) == 153
    assert pairs == TRIED.keys() | excused
    assert not TRIED.keys() & excused
    assert len(excused) == len(EXCUSED) <= MOST_EXCUSES
    assert all(len(reason.split()) > 3 for reason in EXCUSED.values())
