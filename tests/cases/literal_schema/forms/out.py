# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal

from runtime_support.ops import show

a: Literal["low", "high"] = "low"
b: Literal[1, 2] = 1
c: Literal[True] = True
d: Literal["only"] = "only"
e: Literal["x", 3] | None = None
g: Literal[-1, 1] = -1


def level(name: Literal["a", "b"], n: Literal[1, 2] = 2) -> Literal["yes", "no"]:
    return "yes" if name == "a" else "no"


print(a, b, show(c), d, show(e), g, level("b"), level("a", 1))
