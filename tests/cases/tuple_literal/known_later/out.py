# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


# What the inner function returns is known after the first look at the outer one.
def pair(n: int) -> tuple[int, int]:
    def sub(k: int) -> int:
        return n + k

    return (sub(1), n)


print(show(pair(2)))
