# Compiled by saftc from in.saft; edit that file instead.
from statistics import median

# What this script shows.


def middle(numbers: list[int]) -> int | float:
    return median(numbers)


print(middle([1, 2, 3]))
