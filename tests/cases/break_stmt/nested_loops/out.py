# Compiled by saftc from in.saft; edit that file instead.

for x in [1, 2]:
    for y in [1, 2]:
        if y > x:
            break  # only the inner loop
        print(x, y)
