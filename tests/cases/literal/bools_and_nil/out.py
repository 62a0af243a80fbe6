# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

print(show(True), show(False), show(None))
flags = [True, False]
nothing: None = None
print(show(flags[0]), show(nothing))
