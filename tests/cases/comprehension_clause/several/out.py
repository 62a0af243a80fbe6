# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

xs = [1, 2]
print(show([x + y for x in xs if x > 1 for y in xs if y > 1 if x > y]))
rows = [[1], [2, 3]]
print(show([x for row in rows for x in row]))
