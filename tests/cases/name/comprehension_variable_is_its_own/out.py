# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

x = "outer"
xs = [x * 2 for x in [1, 2]]
print(x, show(xs))
