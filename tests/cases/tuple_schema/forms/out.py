# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

a: tuple[int, str] = (1, "a")
b: tuple[int] = (1,)
c: tuple[tuple[int, int], list[str]] = ((1, 2), ["a"])
d: tuple[float, str | None] = (1.0, None)
print(a[0], b[0], c[0][1], show(d[1]))
