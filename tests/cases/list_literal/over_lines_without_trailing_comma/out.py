# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

names = ["a", "b", "c"]
print(show(names))
