# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

pair = (1, "one")
number, word = pair  # both
a, b = 2, 3
a, b = b, a
_, _, last = 1, "x", True
first, second = [4, 5]
print(number + a, word + "!", b, show(last), first + second)
