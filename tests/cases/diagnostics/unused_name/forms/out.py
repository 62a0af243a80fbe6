# Compiled by saftc from in.saft; edit that file instead.


def go(used: int, unused: int) -> int:
    local = used + 1
    return used


print(go(1, 2))
