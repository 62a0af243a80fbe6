# Compiled by saftc from in.saft; edit that file instead.

n = 0
while True:
    n = n + 1
    if n > 3:
        break
print(n)
