# Compiled by saftc from in.saft; edit that file instead.

for x in []:
    print(x)
