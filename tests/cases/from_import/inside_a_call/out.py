# Compiled by saftc from in.saft; edit that file instead.

# Imports of a call stay in the call, apart from what follows; a long one has a name a line.

from typing import Any

from runtime_support.ops import show


def most_common(words: list[str]) -> tuple[int, Any]:
    from collections import (
        ChainMap,
        Counter,
        OrderedDict,
        UserDict,
        UserList,
        defaultdict,
    )

    made = [ChainMap(), OrderedDict(), UserDict(), UserList(), defaultdict()]
    return (len(made), Counter(words))


def roots(numbers: list[int]) -> tuple[list[float], int | float]:
    import math
    from statistics import mean as average

    # both are used
    return ([math.sqrt(number) for number in numbers], average(numbers))


def area(radius: int | float) -> int | float:
    if radius > 0:
        from math import pi

        def squared(x: int | float) -> int | float:
            return x * x

        return pi * squared(radius)
    return 0


print(show(roots([4, 16])), show(area(1) > 3))
