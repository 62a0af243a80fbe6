# Compiled by saftc from in.saft; edit that file instead.

x = 1


def a() -> int:
    return 1


def b() -> int:
    return 2


y = 2

z = 3
for i in [1]:
    print(i)
w = 4
