# Compiled by saftc from in.saft; edit that file instead.

x = 3
# about x
if x > 5:  # big?
    print("big")
    # end of big
# above elif
elif x > 2:  # middle?
    # first in middle
    print("middle")
# above else
else:  # otherwise
    print("small")
    # end of small

# after all
print("done")
