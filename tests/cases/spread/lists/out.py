# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import check
from runtime_support.ops import show

xs = [1, 2]
pair = (3, 4)
print(show([*xs, 5]), show([0, *xs, *pair]), show([*range(3), *{"a": 1}]))
wanted: list[float] = check([*xs, 2.0], list[float])
wide: list[int | str] = [*xs, "a"]
deep = [
    *xs,  # first these
    *(xs if len(xs) > 1 else [9]),
]


def longer(rows: list[int], more: list[int]) -> list[int]:
    return [*rows, *more, 1]


print(show(wanted), show(wide), show(deep), show(longer([0], xs)))
