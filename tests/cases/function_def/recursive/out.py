# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def countdown(n: int) -> list[int]:
    if n == 0:
        return []
    return [n, *countdown(n - 1)]


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


print(factorial(5), show(countdown(3)), show(is_even(10)))
