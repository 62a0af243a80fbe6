# Compiled by saftc from in.saft; edit that file instead.

# a function that takes one item after another needs no list, where nobody can tell

from runtime_support.ops import show


def told(n: int) -> bool:
    print("looking at", n)
    return n > 1


def third(xs: list[int]) -> int:
    return xs[2]


xs = [1, 2, 3]
print(sum(x * 2 for x in xs))
print(show(sorted(third(xs) - x for x in xs)), "-".join(str(x) for x in xs))
# these would leave out the rest
print(show(any([told(x) for x in xs])), show(all([xs[x - 1] > 5 for x in xs])))
# a sum of these may fail before an item does
print(
    sum(x / 2 if x > 1 else x for x in xs),
    sum([xs[x - 1] / 2 if x > 1 else x for x in xs]),
)
