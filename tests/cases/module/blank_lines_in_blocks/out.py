# Compiled by saftc from in.saft; edit that file instead.


def go(x: int) -> int:
    y = x

    if y > 1:
        y = y + 1

        y = y + 2

    return y


print(go(1))
