# Compiled by saftc from in.saft; edit that file instead.

x = 3
if x > 2:
    pass
else:
    print("small")
