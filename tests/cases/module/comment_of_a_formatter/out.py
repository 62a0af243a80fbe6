# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import show

# fmt : off
xs = [1, 2, 3]
ys = [1, 2]  # fmt : skip


# yapf : disable
def go(
    a: int,  # kept; fmt : skip
    b: int,
) -> int:
    return a + b  # see # fmt :off


# fmt :   off is only words, and so is fmt off
print(show(xs), show(ys), go(1, 2))
