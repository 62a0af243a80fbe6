# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

rows: list[list[float]] = [[1.0, 2.0], [3.5]]
mixed: list[int | str] = [1, "two"]
maybe: list[int | None] = [1, None]
anything: list[Any] = [1, "two"]
rows.append([4.0])
print(show(rows), show(mixed), show(maybe), show(anything))
