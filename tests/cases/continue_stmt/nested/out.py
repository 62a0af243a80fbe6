# Compiled by saftc from in.saft; edit that file instead.

for x in [1, 2, 3]:
    while True:
        break
    if x == 2:
        # skip two
        continue
    print(x)
