# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

for x in [1]:
    print(x)
print(show([y for y in [1]]))
