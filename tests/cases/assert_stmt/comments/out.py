# Compiled by saftc from in.saft; edit that file instead.

x = 3
# it must be three
if x != 3:  # yes
    raise AssertionError
