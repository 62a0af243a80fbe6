# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

empty: list[Any] = []
one = [1]
mixed = [1, "two", True, None]
nested = [[1, 2], [3]]
print(show(empty), show(one), show(mixed), show(nested))
