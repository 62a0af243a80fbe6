# Compiled by saftc from in.saft; edit that file instead.

1 + 2
pass
x = 3
x
x == 4
[1, 2]
print(x)
