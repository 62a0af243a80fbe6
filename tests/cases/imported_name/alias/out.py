# Compiled by saftc from in.saft; edit that file instead.
from string import ascii_letters
from string import digits as all_digits

print(len(all_digits) + len(ascii_letters))
