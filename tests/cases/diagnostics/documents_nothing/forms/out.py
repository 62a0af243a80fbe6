# Compiled by saftc from in.saft; edit that file instead.
"""What it does."""

import math
from dataclasses import dataclass
from typing import Annotated

from runtime_support.ops import show


# y
@dataclass(frozen=True)
class P:
    x: int
    y: str | None
    z: Annotated[int, "about P"]


def go() -> int:  # about go
    """Goes."""
    return math.floor(1.5)


# A number.
# Two lines.
x = go()  # beside

# a ruler ////
print(show(P(x, "y", 1)))
# at the end
