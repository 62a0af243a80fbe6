# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

count = 3
big = 1_000_000
rate = 0.25
tiny = 1e-3
name = "Ada"
ready = True
done = False
nothing = None
print(count, big, rate, tiny, name, show(ready), show(done), show(nothing))
