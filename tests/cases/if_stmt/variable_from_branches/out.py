# Compiled by saftc from in.saft; edit that file instead.


def pick(flag: bool) -> int | str:
    if flag:
        x: int | str
        x = 1
    else:
        x = "one"
    return x


def guard(flag: bool) -> int:
    if flag:
        n = 1
    else:
        return 0
    return n + 1


print(pick(True), guard(True))
