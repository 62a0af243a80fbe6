# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support.ops import show

# -*- `coding`: latin-1 -*-
# `fmt`: off
a = [1, 2]  # `fmt`: skip
# `noqa`: the reason; `fmt`: skip
b = {"x": 1}  # see above # `fmt`:off


# `type`: ignore
def go(
    one: int,  # `fmt`: off
    # `yapf`: disable
    two: int,  # the type: any number
) -> int:
    # `pylint`: disable=all
    return one + two


# `fmt`: on
# `fmt`: off
Pair = TypedDict("Pair", {"two words": int})
pair: Pair = {"two words": go(a[0], b["x"])}
print(show(pair))  # `type`: a pair
# type of a pair, and mypy, are only words
