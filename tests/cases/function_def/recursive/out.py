# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops, show


def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def countdown(n: Any) -> list[Any]:
    if ops.eq(n, 0):
        return []
    return [n] + countdown(ops.sub(n, 1))


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


print(factorial(5), show(countdown(3)), show(is_even(10)))
