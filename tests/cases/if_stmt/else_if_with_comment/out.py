# Compiled by saftc from in.saft; edit that file instead.

x = 3
if x > 5:
    print("big")
# it may be in the middle
elif x > 2:
    print("middle")
else:
    print("small")
