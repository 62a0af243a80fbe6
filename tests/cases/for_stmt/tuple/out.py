# Compiled by saftc from in.saft; edit that file instead.

x: int | str
for x in 1, 2:
    print(x + 1)
for x in 1, "two":
    print(x)
