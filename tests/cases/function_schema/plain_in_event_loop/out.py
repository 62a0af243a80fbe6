# Compiled by saftc from in.saft; edit that file instead. This is the async form.
from collections.abc import Callable


# Nothing asks here, so that functions are plain functions in the async form, too.
def twice(change: Callable[[int], int], start: int) -> int:
    return change(change(start))


def add(n: int) -> int:
    return n + 1


def adder() -> Callable[[int], int]:
    return add


print(twice(add, 1), twice(adder(), 2))
