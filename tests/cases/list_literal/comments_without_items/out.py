# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

# to do
nothing: list[Any] = []
print(show(nothing))
