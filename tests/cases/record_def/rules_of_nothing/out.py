# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support.ops import require, show


@dataclass(frozen=True)
class Empty:
    def __post_init__(self) -> None:
        require(1 < 2, "expected 1 < 2")
        # the end


x: Empty = Empty()
print(show(x))
