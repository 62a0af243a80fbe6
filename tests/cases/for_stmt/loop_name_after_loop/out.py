# Compiled by saftc from in.saft; edit that file instead.

last = 0
for last in [1, 2, 3]:
    pass
print(last)
