# Compiled by saftc from in.saft; edit that file instead.

n = 3
while n > 0:
    print(n)
    n = n - 1
print("lift-off")
