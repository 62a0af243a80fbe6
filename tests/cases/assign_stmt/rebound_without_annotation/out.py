# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

x: Any = 1
print(x + 1)
x = "one"
print(x + "!")
x = [1]
print(show([*x, 2]))
