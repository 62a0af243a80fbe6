# Compiled by saftc from in.saft; edit that file instead.

x = 1
for a in [
    1,  # one
    2,
]:  # head
    print(a)
while x in [
    # open
    3,
    # four
    4,
]:
    x = 2
if x == 1:
    print(1)
elif x in [
    1,  # one
    2,  # two
]:  # head
    # first
    print(2)
