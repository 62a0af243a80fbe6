# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

print(show(None is None), show(None is not None))
