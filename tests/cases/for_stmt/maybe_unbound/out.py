# Compiled by saftc from in.saft; edit that file instead.

# A list of what is spread may be empty: then the loop does not run.
found: list[int] = []
for n in [*found]:
    last = n
print(last)
for n in [1, *found]:
    least = n
print(least)
