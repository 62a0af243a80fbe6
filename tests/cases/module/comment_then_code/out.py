# Compiled by saftc from in.saft; edit that file instead.

# a comment at the top
x = 1
