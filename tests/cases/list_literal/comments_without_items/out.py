# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import show

# to do
nothing: list[Any] = []
print(show(nothing))
