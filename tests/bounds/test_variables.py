"""Whatever is assigned to variables, scripts never send more requests than their bounds say."""

from __future__ import annotations

import pytest

from saftc.cost.bound import Measure
from tests.bounds.asking import MOST, Server, bound_of, checked, run, value_with
from tests.bounds.variables import script

pytestmark = pytest.mark.one_python

_COUNT = 40
_ARGUMENTS: list[tuple[list[str], int]] = [(["a", "b"], 2), ([], 0), (["a"] * 3, -1)]


def test_bounds_of_variables_hold() -> None:
    compared = 0
    for seed in range(_COUNT):
        known = checked(script(seed))
        bound = bound_of(known)
        if bound.reasons:
            continue
        for xs, number in _ARGUMENTS:

            def value(measure: Measure, xs: list[str] = xs, number: int = number) -> int:
                is_argument = bool(measure.symbols) and measure.text in ("len(xs)", "n")
                return MOST if not is_argument else len(xs) if measure.kind == "len" else number

            most = value_with(bound, value)
            if most < MOST:
                asked = run(known, Server(), xs, number, is_async=False)
                assert asked <= most, f"{asked} > {bound.text} = {most}\n{script(seed)}"
                compared += 1
    assert compared > _COUNT
