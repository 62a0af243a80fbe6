# Compiled by saftc from in.saft; edit that file instead.

x = 3
if x > 2:
    print("yes")
elif x > 1:
    print("maybe")
else:
    print("no")
