# Compiled by saftc from in.saft; edit that file instead.

x = 1
# this documents nothing
y = 2


def go() -> None:
    # nor does this
    print(1)


def before(n: int) -> int:
    return n
    # of the block above, by its indentation


def behind(n: int) -> int:
    return before(n)


print(behind(1))
