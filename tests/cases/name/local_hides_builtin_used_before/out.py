# Compiled by saftc from in.saft; edit that file instead.


def go(items: list[int]) -> int:
    n = len(items)
    len_ = 3
    return n + len_


print(go([1]))
