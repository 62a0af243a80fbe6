# Compiled by saftc from in.saft; edit that file instead.
# numbers
import math
import string

# for pi
print(math.pi, string.digits)
