# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check, ops


def area(width: float, names: list[str], extra: Any) -> float:
    return width


def go(data: Any) -> float:
    return area(
        check(ops.member(data, "width"), float),
        check(ops.member(data, "names"), list[str]),
        data,
    )


n = 2
print(area(1.0, [], None), area(float(n), ["a"], n))
