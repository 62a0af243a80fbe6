# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal, TypedDict

from runtime_support.ops import show


class J(TypedDict):
    id: int


def every(
    a: int,
    b: float,
    c: str,
    d: bool,
    e: None,
    g: Any,
    h: list[int],
    i: tuple[int, str],
    j: J,
    k: int | str,
    n: str | None,
    m: Literal["x", "y"],
) -> None:
    print(a, b, c, show(d), show(e), show(g), show(h), show(i), show(j), k, show(n), m)


every(1, 2.0, "c", True, None, 3, [4], (5, "i"), {"id": 6}, "k", None, "x")
