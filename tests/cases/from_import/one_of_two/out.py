# Compiled by saftc from in.saft; edit that file instead.
import os

from runtime_support.ops import show

if os.environ.get("X") == "1":
    from b import ask
else:
    from a import ask
if os.environ.get("X") == "1":
    import b as h
else:
    import a as h
print(show([ask(x) for x in ["a", "b"]]))
print(show([h.ask(x) for x in ["a", "b"]]))
