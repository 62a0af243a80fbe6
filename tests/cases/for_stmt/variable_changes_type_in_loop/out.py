# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

x: Any = 0
for word in ["a", "b"]:
    print(x)
    x = word
print(x)
