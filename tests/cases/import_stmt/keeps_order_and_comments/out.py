# Compiled by saftc from in.saft; edit that file instead.
import math
import string

from runtime_support import show

# numbers
# for pi
print(show(math.pi), show(string.digits))
