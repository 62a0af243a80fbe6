# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def second(pair: Any) -> Any:
    return ops.item(pair, 1)


def typed(pair: tuple[int, str]) -> str:
    return pair[1]


print(show(second((1, 2))), typed((1, "a")))
