# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any

from runtime_support import ops
from runtime_support.ops import require, show


@dataclass(frozen=True)
class Pair:
    left: Any
    right: int | str | None

    def __post_init__(self) -> None:
        require(ops.truthy(self.left), "expected left")
        require(ops.lt(self.left, self.right), show(self.left))
        require(self.right is not None, "expected right != nil")
        require(self.right is not None, show(self.right))


def same(value: Any) -> Any:
    return value


print(show(Pair(same(1), 2)))
