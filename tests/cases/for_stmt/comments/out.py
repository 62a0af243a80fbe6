# Compiled by saftc from in.saft; edit that file instead.

# about the loop
for x in [1, 2]:  # each
    # inside, first

    print(x)  # show it

    # end of the block
# after the loop
print("done")
