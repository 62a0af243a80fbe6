# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support import check, ops, show

# -*- `coding`: latin-1 -*-
# `fmt`: off
a = [1, 2]  # `fmt`: skip
# `noqa`: the reason; `fmt`: skip
b = {"x": 1}  # see above # `fmt`:off


# `type`: ignore
def go(
    one: Any,  # `fmt`: off
    # `yapf`: disable
    two: Any,  # the type: any number
) -> Any:
    # `pylint`: disable=all
    return ops.add(one, two)


# `fmt`: on
# `fmt`: off
Pair = TypedDict("Pair", {"two words": int})
pair: Pair = {"two words": check(go(a[0], b["x"]), int)}
print(show(pair))  # `type`: a pair
# type of a pair, and mypy, are only words
