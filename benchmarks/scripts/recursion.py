"""Recursion: calls, comparisons and additions of integers."""


def fibonacci(n: int) -> int:
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def moves(discs: int, source: str, target: str, other: str) -> int:
    if discs == 0:
        return 0
    above = moves(discs - 1, source, other, target)
    below = moves(discs - 1, other, target, source)
    return above + 1 + below


def work(size: int) -> int:
    return fibonacci(size) + moves(size - 8, "a", "b", "c")
