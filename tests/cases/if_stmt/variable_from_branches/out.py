# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check


def pick(flag: bool) -> int | str:
    if flag:
        x: Any = 1
    else:
        x = "one"
    return check(x, int | str)


def guard(flag: bool) -> int:
    if flag:
        n = 1
    else:
        return 0
    return n + 1


print(pick(True), guard(True))
