# Compiled by saftc from in.saft; edit that file instead.

pair = (1, "one")
nested = (1, (2, (3, "deep")))
print(pair[0], pair[1], nested[1][0], nested[1][1][1])
print(pair[0] + 1, pair[1] + "!")
