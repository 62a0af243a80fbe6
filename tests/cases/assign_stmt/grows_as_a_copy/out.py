# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def same(value: list[int]) -> list[int]:
    return value


xs: Any = [1]
ys = xs
xs = [*xs, 2]
rows = [xs]
xs = [*xs, 3]
row = {"xs": xs}
xs = [*xs, 4]
pair = (xs, 1)
xs = [*xs, 5]
held = same(xs)
xs = [*xs, 6]
one = xs if len(xs) > 3 else ys
xs = [*xs, 7]
longest = max(xs, ys, key=len)
xs = [*xs, 8]
first = row.get("a", xs)
xs = [*xs, 9]
print(
    show(xs),
    show(ys),
    show(rows),
    show(row),
    show(pair),
    show(held),
    show(one),
    show(longest),
    show(first),
)

counts: dict[str, int] = {"a": 1}
other = counts
counts = {**counts, "b": 2}
print(show(counts), show(other))
for key in counts:
    counts = {**counts, key + "2": 1}
print(show(counts))
xs = xs + list(zip(xs, [1, 2], strict=False))
print(show(xs))
