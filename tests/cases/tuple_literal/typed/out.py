# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

pair: tuple[float, str | None] = (1.0, None)
other: tuple[int, tuple[int, int]] = (1, (2, 3))
print(show(pair), show(other))
