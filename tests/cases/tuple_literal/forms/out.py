# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

empty = ()
one = (1,)
two = (1, "two")
nested = ((1, 2), (3,))
print(show(empty), show(one), show(two), show(nested))
