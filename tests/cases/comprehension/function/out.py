# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def square(x: int | float) -> int | float:
    return x * x


print(show([square(x) for x in range(3)]), sum(square(x) for x in range(3)))
