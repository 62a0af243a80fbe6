# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def check_all(x: str | None, y: Any, z: None) -> None:
    print(
        show(x is None),
        show(x is not None),
        show(x is None),
        show(y is None),
        show(z is None),
    )
    if x is not None:
        print(x + "!")


check_all("a", 1, None)
