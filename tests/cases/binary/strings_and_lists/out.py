# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

name = "Ada"
xs = [1, 2]
print("Hello " + name + "!", show([*xs, 3]), show([] + xs))
