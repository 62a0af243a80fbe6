# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

a: int | None = None
b: list[int | None] | None
b = [None]
c: int | str | None
c = 1
d: str | None = None


def go(x: int | None) -> int:
    if x is not None:
        return x + 1
    return 0


print(show(a), show(b), c, show(d), go(None), go(0))
