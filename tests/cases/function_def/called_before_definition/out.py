# Compiled by saftc from in.saft; edit that file instead.


def first() -> int:
    return second() + 1


def second() -> int:
    return 1


print(first())
