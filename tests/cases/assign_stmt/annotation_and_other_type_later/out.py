# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

limit: Any = 3
print(limit)
limit = "none"
print(limit)
