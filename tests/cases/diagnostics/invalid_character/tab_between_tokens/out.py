# Compiled by saftc from in.saft; edit that file instead.

x = 1
y = [1, 2]
