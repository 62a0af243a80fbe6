# Compiled by saftc from in.saft; edit that file instead.

for a, (b, c) in [(1, (2, 3))]:
    print(a + b + c)
for a, b in [(1, 2)]:
    print(a + b)
for a, b in [(1, 2)]:
    print(a, b)
xs = [a + c for a, (b, c) in [(1, (2, 3))]]
for a, b in [(1, 2)]:
    print(a, b)
