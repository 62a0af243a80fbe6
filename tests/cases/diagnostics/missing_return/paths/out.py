# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import check


def go(x: int) -> str:
    if x > 1:
        return "big"
    return check(None, str)


def loop(x: int) -> int:
    for y in [x]:
        return y
    return check(None, int)


print(go(1), loop(1))
