# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def is_text(x: Any) -> bool:
    isinstance_ = 3
    return isinstance(x, str) and isinstance_ > 2


print(show(is_text("a")))
