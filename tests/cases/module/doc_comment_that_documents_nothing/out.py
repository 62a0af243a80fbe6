# Compiled by saftc from in.saft; edit that file instead.

x = 1
# this documents nothing
y = 2


def go() -> None:
    # nor does this
    print(1)
