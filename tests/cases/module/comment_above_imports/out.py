# Compiled by saftc from in.saft; edit that file instead.
from statistics import median
from typing import Any

from runtime_support import show

# What this script shows.


def middle(numbers: list[int]) -> Any:
    return median(numbers)


print(show(middle([1, 2, 3])))
