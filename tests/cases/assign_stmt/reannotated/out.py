# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

x: Any = 1
print(x + 1)
x = "one"
print(x + "!")
