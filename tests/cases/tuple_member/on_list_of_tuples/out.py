# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

pairs = [(1, "a"), (2, "b")]
print(show([p[1] for p in pairs]), pairs[0][0])
