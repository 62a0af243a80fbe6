# Compiled by saftc from in.saft; edit that file instead.

n = 2
# countdown
while n > 0:  # still going
    n = n - 1
    # end
# after
print(n)
