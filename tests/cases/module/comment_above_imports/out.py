# Compiled by saftc from in.saft; edit that file instead.

# What this script shows.

from statistics import median


def middle(numbers: list[int]) -> int | float:
    return median(numbers)


print(middle([1, 2, 3]))
