# Compiled by saftc from in.saft; edit that file instead.
from string import ascii_letters
from string import digits as all_digits

from runtime_support import ops

print(ops.len(all_digits) + ops.len(ascii_letters))
