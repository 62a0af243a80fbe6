# Compiled by saftc from in.saft; edit that file instead.

x: int | str
x = 0
for word in ["a", "b"]:
    print(x)
    x = word
print(x)
