# Compiled by saftc from in.saft; edit that file instead.


def go(x: int) -> int:
    return x
    print("never")


for x in [1]:
    break
    print("never")


def both(x: int) -> int:
    if x > 1:
        return 1
    else:
        return 2
    return 3


print(go(1), both(1))
