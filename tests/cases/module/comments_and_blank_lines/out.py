# Compiled by saftc from in.saft; edit that file instead.

# at the top, after blank lines


x = 1


y = 2
# directly above

# a paragraph of its own

z = 3

# at the end
