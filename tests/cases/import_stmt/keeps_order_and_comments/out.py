# Compiled by saftc from in.saft; edit that file instead.
import math
import string

# numbers
# for pi
print(math.pi, string.digits)
