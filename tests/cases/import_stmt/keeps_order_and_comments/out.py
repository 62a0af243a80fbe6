# Compiled by saftc from in.saft; edit that file instead.
import math
import string

from runtime_support import show

# numbers
print(show(math.pi), show(string.digits))
