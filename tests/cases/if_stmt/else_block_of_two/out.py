# Compiled by saftc from in.saft; edit that file instead.

x = 3
if x > 5:
    print("big")
else:
    if x > 2:
        print("middle")
    print("not big")
