# Compiled by saftc from in.saft; edit that file instead.


def square(x: int | float) -> int | float:
    return x * x


def half(x: int | float) -> float:
    return x / 2


def next_even(n: int) -> int:
    if n % 2 == 0:
        return n + 2
    return n + 1


print(square(3), half(3), next_even(3))
