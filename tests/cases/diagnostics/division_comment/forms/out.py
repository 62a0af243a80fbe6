# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def half(n: int) -> int:
    return n  # 2


pages = 95
per = 10
full = pages  # per + 1
rest = pages  # per
note = pages  # not a divisor
rows = len([1, 2])  # 2
items = [
    7,  # 2
]
print(full, rest, note, rows, show(items), half(3))
