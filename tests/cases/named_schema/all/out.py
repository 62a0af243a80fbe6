# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

a: int = 1
b: float = 1.5
c: str = "c"
d: bool = True
e: None = None
g: Any = 1


def all(a: int, b: float, c: str, d: bool, e: None, g: Any) -> Any:
    return [a, b, c, d, e, g]


print(show(all(a, b, c, d, e, g)))
