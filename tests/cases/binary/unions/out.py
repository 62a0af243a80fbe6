# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops


def scale(x: int | float, y: int | None) -> Any:
    print(x * 2)
    print(ops.add(y, 1))
    return ops.add(x, y)


scale(1, 2)
