# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

a = True
b = False
c = True
print(
    show(a and b or c),
    show(a and (b or c)),
    show((a or b) and c),
    show(not a or b),
    show(not (a or b)),
    show(a or b and c),
)
