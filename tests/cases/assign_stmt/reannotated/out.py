# Compiled by saftc from in.saft; edit that file instead.

x: int | str
x = 1
print(x + 1)
x = "one"
print(x + "!")
