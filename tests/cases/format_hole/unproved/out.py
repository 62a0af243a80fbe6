# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops


def show_all(x: Any, y: int | float, z: int | str, w: Any) -> Any:
    print(
        f"{ops.format(x, ',')} {y:.2f} {z:>5} {ops.format(z, 'd')} {ops.format(w, '>8')}"
    )
    return x


show_all(1000, 2, 3, "a")
