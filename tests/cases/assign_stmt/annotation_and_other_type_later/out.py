# Compiled by saftc from in.saft; edit that file instead.

limit = 3
print(limit)
limit = "none"
print(limit)
