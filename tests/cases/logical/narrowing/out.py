# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def go(x: str | None, y: int | None) -> str | None:
    if x is not None and len(x) > 2:
        print(x + "!")
    if x is None or y is None:
        return None
    return x + str(y + 1)


print(show(go("abc", 1)))
