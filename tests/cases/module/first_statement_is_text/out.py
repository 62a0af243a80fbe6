# Compiled by saftc from in.saft; edit that file instead.

pass


def go() -> int:
    pass
    return 1


print(go())
